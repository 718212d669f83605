#!/usr/bin/env python3
"""Fleets of other clusters that are reached over gRPC only: told on, stale when their server is killed, caught up with afterwards.

Usage: remote_fleets_test.py PATH-OF-agones-alloc-server [WORD-OF-A-CASE]
Prints one line a case and a summary, and exits with 1 when a case failed. Needs Python and the openssl program.
"""
import pathlib
import sys

sys.dont_write_bytecode = True  # nothing is written into the source tree
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "server"))

import contextlib  # noqa: E402
import json  # noqa: E402
import re  # noqa: E402
import signal  # noqa: E402
import socket  # noqa: E402

import http2  # noqa: E402
import kit  # noqa: E402
from kit import case, expect, manifest, policy, until  # noqa: E402

SNAPSHOT_ITEM, SYNCED, MODIFIED = 1, 2, 4


class Server(kit.WithFleets):
    """One that is ready; `grpc_port` where it listens for gRPC."""

    def __init__(self, place, name, fleets, *options, grpc=None, **named):
        given = ["--grpc-listen", f"127.0.0.1:{grpc}"] if grpc is not None else []
        super().__init__(place, name, fleets, *given, *options, **named)
        self.until(lambda: self.ask("GET", "/ready")[0] == 200, "is not ready")
        if grpc is not None:
            line = self.until(lambda: next((line for line in self.lines if "listening for gRPC" in line), None), "listens for gRPC")
            self.grpc_port = int(re.search(r"127\.0\.0\.1:(\d+)", line)[1])

    def until(self, holds, words):
        def tried():
            with contextlib.suppress(OSError):
                return holds()

        return until(tried, lambda: f"{words}\n{self.page()}\n{self.text()[-2000:]}")

    def page(self, query=""):
        status, text = self.ask("GET", "/v1/fleets" + query)
        expect(status == 200, f"{status} {text}")
        return json.loads(text)

    def row(self, cluster, query="", name="arena"):
        return next((one for one in self.page(query)["fleets"] if (one["clusterName"], one["fleetName"]) == (cluster, name)), None)

    def cluster(self, name):
        return next((one for one in self.page()["clusters"] if one["clusterName"] == name), None)

    def ready(self, cluster, count, name="arena"):
        self.until(lambda: (row := self.row(cluster, name=name)) and row["recount"]["readyGameservers"] == count,
                   f"{cluster} has not {count} ready servers of {name}")

    def allocate(self):
        return json.loads(self.ask("POST", kit.KUBERNETES, {"spec": {}})[1])["status"]["state"]


class World:
    def __init__(self, place):
        self.place, self.running = pathlib.Path(place), contextlib.ExitStack()
        kit.certificates(self.place)

    def server(self, *arguments, **options):
        return self.running.enter_context(Server(self.place, *arguments, **options))

    def remote(self, name, fleets, *options, grpc=0, **named):
        return self.server(name, fleets, *options, grpc=grpc, tls=True, **named)

    def peer(self, answer):
        made = http2.Peer(self.place, answer)
        self.running.callback(made.close)
        return made

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.running.close()


def over_grpc(port):
    return f"grpc://127.0.0.1:{port}"


def field(number, value):
    """Of a protobuf message: a number, or bytes; each shorter than 128."""
    if isinstance(value, int):
        return key(number, 0) + bytes([value])
    return key(number, 2) + bytes([len(value)]) + value


def key(number, kind):
    whole = number << 3 | kind
    return bytes([whole]) if whole < 128 else bytes([whole & 127 | 128, whole >> 7])


def event(kind, token=b"", name=None, ready=0):
    """An InformEvent; `name`: of its fleet."""
    fleet = b"" if name is None else field(2, field(2, name) + field(6, b"default") + field(20, field(2, ready)))
    return http2.message(field(1, kind) + fleet + field(4, token))


def without_times(row):
    return {key: value for key, value in row.items() if key not in ("observedTime", "clusterName")}


@case
def a_cluster_over_grpc_is_heard_turns_stale_when_it_is_killed_and_catches_up(w):
    east = w.remote("east", manifest("arena", 4, {"tier": "gold"}))
    west = w.remote("west", manifest("arena", 3))
    here = w.server("here", manifest("arena", 2), policies=[policy("here", []), policy("east", [over_grpc(east.grpc_port)]),
                                                            policy("west", [over_grpc(west.grpc_port)])])
    for name, count in (("here", 2), ("east", 4), ("west", 3)):
        here.ready(name, count)
    expect(here.cluster("east")["endpoint"] == over_grpc(east.grpc_port) and here.cluster("east")["synced"], here.cluster("east"))
    expect(east.allocate() == "Allocated", "an allocation elsewhere")
    here.until(lambda: here.row("east")["recount"]["allocatedGameservers"] == 1, "it is told")
    east.stop(signal.SIGKILL)
    here.until(lambda: here.cluster("east")["stale"], "its loss is told")
    row = here.row("east")
    expect(row["stale"] and row["recount"]["allocatedGameservers"] == 1 and here.cluster("east")["code"] == 14, here.page())
    expect(not here.row("west")["stale"], "the rest goes on")
    expect(west.allocate() == "Allocated", "the rest goes on")
    here.until(lambda: here.row("west")["recount"]["allocatedGameservers"] == 1, "and is told")
    w.remote("back", manifest("arena", 6) + manifest("second", 1), grpc=east.grpc_port)
    here.until(lambda: not here.cluster("east")["stale"], "the cluster that came back is heard")
    here.ready("east", 6)
    here.ready("east", 1, "second")
    expect("labels" not in here.row("east") or here.row("east")["labels"] == {}, "nothing of what was before is left")


@case
def the_same_is_told_over_grpc_as_over_http(w):
    counters = {"counters": {"rooms": {"count": 1, "capacity": 10}}, "lists": {"who": {"capacity": 5, "values": ["x"]}}}
    far = w.remote("far", manifest("arena", 5, {"tier": "gold"}, **counters))
    here = w.server("here", manifest("arena", 1), policies=[policy("rest", [f"https://127.0.0.1:{far.port}"]),
                                                            policy("grpc", [over_grpc(far.grpc_port)])])
    far.allocate()
    query = "?include=nodes,annotations"

    def same():
        rest, grpc = here.row("rest", query), here.row("grpc", query)
        settled = rest and grpc and rest["recount"]["allocatedGameservers"] == 1 and rest.get("allocatedGameservers") == 1
        return settled and without_times(rest) == without_times(grpc)

    here.until(same, "the rows are equal")
    recount = here.row("grpc", query)["recount"]
    expect(recount["nodes"] and recount["states"] == {"Allocated": 1, "Ready": 4} and recount["counters"]["rooms"]["free"] == 45, recount)


@case
def a_remote_tells_of_itself_only_and_nothing_goes_round(w):
    east = w.remote("east", manifest("arena", 4))
    # Each is a remote of the other.
    middle = w.remote("middle", manifest("arena", 3), policies=[policy("here", []), policy("east", [over_grpc(east.grpc_port)])])
    middle.ready("east", 4)
    here = w.server("front", manifest("arena", 2), policies=[policy("here", []), policy("middle", [over_grpc(middle.grpc_port)])])
    here.ready("middle", 3)
    expect({one["clusterName"] for one in here.page()["fleets"]} == {"here", "middle"}, here.page())


@case
def a_dead_older_or_strange_remote_never_fails_the_query(w):
    old = w.remote("old", manifest("arena", 4), "--no-fleet-directory")
    silent = socket.create_server(("127.0.0.1", 0))
    w.running.callback(silent.close)
    with socket.create_server(("127.0.0.1", 0)) as one:
        dead = one.getsockname()[1]

    def nameless(peer, link, stream):
        http2.begin(link, stream)
        link.sendall(http2.frame(http2.DATA, 0, stream, event(SNAPSHOT_ITEM, name=b"")))

    strange = w.peer(nameless)
    here = w.server("here", manifest("arena", 2), "--remote-connect-timeout", "1s",
                    policies=[policy(name, [over_grpc(port)]) for name, port in
                              (("old", old.grpc_port), ("dead", dead), ("silent", silent.getsockname()[1]), ("strange", strange.port))])
    for name, code in (("old", 12), ("dead", 14), ("silent", 14)):
        here.until(lambda: here.cluster(name) and here.cluster(name)["code"] == code and "not heard yet" not in here.cluster(name)["message"],
                   f"{name} is {code}")
        expect(here.cluster(name)["stale"], "and stale")
    here.until(lambda: "the fleets of another cluster are not heard" in here.text() and '"cluster":"strange"' in here.text(), "said")
    expect([one["clusterName"] for one in here.page()["fleets"]] == ["local"], here.page())


@case
def a_stream_that_falls_silent_is_opened_again_from_where_it_was(w):
    told = []

    def once(peer, link, stream):
        told.append(peer.calls)
        http2.begin(link, stream)
        if len(told) == 1:
            link.sendall(http2.frame(http2.DATA, 0, stream, event(SNAPSHOT_ITEM, name=b"arena", ready=7)))
            link.sendall(http2.frame(http2.DATA, 0, stream, event(SYNCED, b"one-1")))
        else:
            link.sendall(http2.frame(http2.DATA, 0, stream, event(MODIFIED, b"one-2", b"arena", 8)))

    # Its first call of a connection is taken for the health service, which a feed does not ask.
    class Quiet(http2.Peer):
        def say_health(self, link, stream):
            self.calls += 1
            self.allocate(self, link, stream)

    far = Quiet(w.place, once)
    w.running.callback(far.close)
    here = w.server("here", manifest("arena", 2), policies=[policy("far", [over_grpc(far.port)])])
    here.ready("far", 7)
    here.until(lambda: here.cluster("far")["stale"], "three heartbeats of silence")
    here.ready("far", 8)
    # The second stream never says that its state is complete: it need not, where one goes on.
    here.until(lambda: here.cluster("far")["code"] == 0, "it goes on from the token")


@case
def with_auto_each_protocol_has_its_turn(w):
    west, east = w.remote("west", manifest("arena", 3)), w.remote("east", manifest("arena", 4))
    here = w.server("here", manifest("arena", 2), "--remote-protocol", "auto",
                    policies=[policy("west", [f"127.0.0.1:{west.grpc_port}"]), policy("east", [f"127.0.0.1:{east.port}"])])
    here.ready("west", 3)
    here.ready("east", 4)


if __name__ == "__main__":
    sys.exit(kit.run_cases(World))
