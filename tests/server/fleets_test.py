#!/usr/bin/env python3
"""Fleet information of the built server: pages, streams, queries, and other clusters that are killed and come back.

Usage: fleets_test.py PATH-OF-agones-alloc-server [WORD-OF-A-CASE]
Prints one line a case and a summary, and exits with 1 when a case failed. Needs Python and the openssl program.
"""
import sys

sys.dont_write_bytecode = True  # nothing is written into the source tree

import contextlib  # noqa: E402
import http.client  # noqa: E402
import json  # noqa: E402
import pathlib  # noqa: E402
import queue  # noqa: E402
import signal  # noqa: E402
import socket  # noqa: E402
import threading  # noqa: E402
import time  # noqa: E402

import kit  # noqa: E402
from kit import PATIENCE, WithFleets, case, expect, manifest, policy, write_policies  # noqa: E402

KUBERNETES = "/apis/allocation.agones.dev/v1/namespaces/{}/gameserverallocations"


def fleet(name, replicas, namespace="default", tier="plain"):
    return manifest(name, replicas, {"tier": tier}, namespace)


class Server(WithFleets):
    """One that is ready."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.until(lambda: self.ask("GET", "/ready")[0] == 200, "is not ready")

    def until(self, done, text):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            with contextlib.suppress(OSError):
                if done():
                    return
            time.sleep(0.02)
        raise AssertionError(f"{text}\n{self.text()[-2000:]}")

    def page(self, query="", client="client"):
        status, text = self.ask("GET", "/v1/fleets" + query, client=client)
        expect(status == 200, f"{status} {text}")
        return json.loads(text)

    def rows(self, query="", client="client"):
        return {(row["clusterName"], row["namespace"], row["fleetName"]): row for row in self.page(query, client)["fleets"]}

    def cluster(self, name):
        return next((one for one in self.page()["clusters"] if one["clusterName"] == name), None)

    def number(self, name):
        """Of a metric without labels."""
        return float(next(line.split()[1] for line in self.ask("GET", "/metrics")[1].splitlines() if line.startswith(name + " ")))

    def allocate(self, namespace="default", selector=None):
        status, text = self.ask("POST", KUBERNETES.format(namespace), {"spec": {"selectors": [selector or {}]}})
        return json.loads(text)["status"]

    def ready(self, name, count, cluster="local", namespace="default"):
        self.until(lambda: self.rows().get((cluster, namespace, name), {"recount": {"readyGameservers": -1}})
                   ["recount"]["readyGameservers"] == count, f"{name} has not {count} ready servers")


class Stream:
    """Events of a stream, read on a thread of its own."""

    def __init__(self, server, query="", headers=None, client="client"):
        self.link = server.connection(client)
        self.link.request("GET", "/v1/fleets" + query, headers={"Accept": "text/event-stream", **(headers or {})})
        self.answer = self.link.getresponse()
        expect(self.answer.status == 200, self.answer.status)
        expect(self.answer.getheader("Content-Type") == "text/event-stream", "the type")
        self.events = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        fields = {}
        with contextlib.suppress(OSError, ValueError, http.client.HTTPException, AttributeError):
            while line := self.answer.readline().decode():
                line = line.rstrip("\n")
                if line:
                    name, _, value = line.partition(": ")
                    fields[name] = value
                elif "event" in fields:
                    self.events.put((fields["event"], json.loads(fields["data"]), fields.get("id")))
                    fields = {}
                else:
                    fields = {}
        self.events.put(("END", None, None))

    def until(self, what, holds=lambda data: True):
        """All events up to one that is meant."""
        seen = []
        while True:
            event = self.events.get(timeout=PATIENCE)
            seen.append(event)
            if event[0] == what and holds(event[1]):
                return seen
            expect(event[0] != "END", f"the stream ended before {what}: {[one[0] for one in seen]}")

    def close(self):
        self.link.close()


@case
def numbers_move_with_an_allocation(w):
    one = w.server("one", fleet("arena", 5, tier="gold") + fleet("lobby", 2))
    one.ready("arena", 5)
    one.until(lambda: one.rows()["local", "default", "arena"].get("readyGameservers") == 5, "the Fleet's own status")
    row = one.rows()["local", "default", "arena"]
    expect(row["desiredGameservers"] == 5 and row["labels"]["tier"] == "gold" and not row["stale"], row)
    expect(one.allocate(selector={"matchLabels": {"agones.dev/fleet": "arena"}})["state"] == "Allocated", "an allocation")
    row = one.rows()["local", "default", "arena"]
    expect(row["recount"]["allocatedGameservers"] == 1 and row["recount"]["readyGameservers"] == 4, row)
    one.until(lambda: one.rows()["local", "default", "arena"]["allocatedGameservers"] == 1, "the Fleet's status follows")
    nodes = one.rows("?include=nodes,annotations")["local", "default", "arena"]
    expect(sum(n["totalGameservers"] for n in nodes["recount"]["nodes"].values()) == 5, nodes)
    expect("agones-alloc.dev/start-up" in nodes["annotations"], nodes)
    names = [g["metadata"]["name"] for g in json.loads(one.ask("GET", "/v1/gameservers?namespace=default&fleet=arena")[1])["gameServers"]]
    expect(len(names) == 5 and names == sorted(names), names)


@case
def a_stream_is_told_at_once_beside_a_loop_of_allocations(w):
    one = w.server("one", fleet("arena", 30), "--fleet-interval", "50ms")
    one.ready("arena", 30)
    stream = Stream(one)
    first = stream.until("SYNCED")
    expect([e[0] for e in first[:2]] == ["CLUSTER_STATUS", "SNAPSHOT_ITEM"], first)
    for _ in range(20):
        expect(one.allocate()["state"] == "Allocated", "an allocation")
    seen = stream.until("MODIFIED", lambda data: data["fleet"]["recount"]["allocatedGameservers"] == 20)
    counts = [e[1]["fleet"]["recount"]["allocatedGameservers"] for e in seen if e[0] == "MODIFIED"]
    expect(counts == sorted(counts), counts)
    token = [e[2] for e in seen if e[2]][-1]
    stream.close()
    expect(one.allocate()["state"] == "Allocated", "an allocation")
    again = Stream(one, headers={"Last-Event-ID": token})
    events = again.until("MODIFIED", lambda data: data["fleet"]["recount"]["allocatedGameservers"] == 21)
    expect(all(e[0] not in ("SNAPSHOT_ITEM", "RESET") for e in events), events)
    again.until("HEARTBEAT")
    again.close()
    page = one.page()
    after = Stream(one, f"?resume={page['token']}")
    expect(one.allocate()["state"] == "Allocated", "an allocation")
    events = after.until("MODIFIED", lambda data: data["fleet"]["recount"]["allocatedGameservers"] == 22)
    expect(all(e[0] != "SNAPSHOT_ITEM" for e in events), events)
    one.process.send_signal(signal.SIGTERM)
    after.until("END")
    expect(one.process.wait(timeout=PATIENCE) == 0, "streams do not keep a server from stopping")


@case
def selectors_pages_and_tags(w):
    one = w.server("one", "".join(fleet(f"f{i}", 1, tier="gold" if i % 2 else "plain") for i in range(6)))
    one.ready("f5", 1)
    one.until(lambda: all("tier" in row["labels"] for row in one.rows().values()), "the Fleets are known")
    gold = one.rows("?labelSelector=tier+in+(gold,silver),!nosuch")
    expect(sorted(key[2] for key in gold) == ["f1", "f3", "f5"], gold)
    names, query = [], "?limit=4"
    while True:
        page = one.page(query)
        names += [row["fleetName"] for row in page["fleets"]]
        if "continue" not in page:
            break
        query = "?limit=4&continue=" + page["continue"]
    expect(names == [f"f{i}" for i in range(6)], names)
    one.ask("GET", "/v1/fleets")
    tag = one.headers["ETag"]
    expect(one.ask("GET", "/v1/fleets", headers={"If-None-Match": tag}) == (304, ""), "nothing has changed")
    expect(one.allocate()["state"] == "Allocated", "an allocation")
    expect(one.ask("GET", "/v1/fleets", headers={"If-None-Match": tag})[0] == 200, "something has changed")
    status, text = one.ask("GET", "/v1/fleets?labelSelektor=x")
    expect(status == 400 and "labelSelektor" in json.loads(text)["message"], text)
    status, text = one.ask("GET", "/v1/fleets?limit=many")
    expect(status == 400 and json.loads(text)["message"].startswith("limit: "), text)


@case
def a_query_counts_and_takes_nothing(w):
    one = w.server("one", fleet("arena", 3))
    one.ready("arena", 3)
    for body in ({"metadata": {"namespace": "default"}, "spec": {"selectors": [{"matchLabels": {"agones.dev/fleet": "arena"}}]}},
                 {"namespace": "default", "gameServerSelectors": [{"matchLabels": {"agones.dev/fleet": "arena"}}]}):
        status, text = one.ask("POST", "/v1/query", body)
        room = json.loads(text)
        expect(status == 200 and room["fits"] == 3 and room["exact"] and len(room["gameServers"]) == 3, text)
    first = room["gameServers"][0]
    expect(one.allocate()["gameServerName"] == first, "the first that was named goes first")
    for _ in range(2):
        one.allocate()
    room = json.loads(one.ask("POST", "/v1/query?namespace=default", {})[1])
    expect(room["fits"] == 0 and room["result"] == "UnAllocated" and room["selectors"][0]["clauses"], room)


@case
def metrics_and_the_switch(w):
    one = w.server("one", fleet("arena", 2), "--max-streams", "1", "--cluster-name", "here")
    one.ready("arena", 2, "here")
    stream = Stream(one)
    stream.until("SYNCED")
    expect(one.ask("GET", "/v1/fleets", headers={"Accept": "text/event-stream"})[0] == 503, "one stream too many")
    text = one.ask("GET", "/metrics")[1]
    for line in ("agones_alloc_directory_streams 1", "agones_alloc_directory_streams_refused_total 1",
                 "agones_alloc_directory_fleets 1", "agones_alloc_directory_gameservers 2"):
        expect(line in text, line)
    stream.close()
    off = w.server("off", fleet("arena", 2), "--no-fleet-directory")
    expect(off.ask("GET", "/v1/fleets")[0] == 404, "no directory, no path")
    expect(off.ask("POST", "/v1/query", {})[0] == 404, "the same")


@case
def pages_of_other_hosts_read_nothing_unless_they_may(w):
    one = w.server("one", fleet("arena", 2), "--cors-origin", "https://play.example")
    good, evil = {"Origin": "https://play.example"}, {"Origin": "https://evil.example"}
    expect(one.ask("OPTIONS", "/v1/fleets", headers=good)[0] == 204, "the question in advance")
    expect(one.headers["Access-Control-Allow-Origin"] == "https://play.example", one.headers)
    one.ask("GET", "/v1/fleets", headers=evil)
    expect("Access-Control-Allow-Origin" not in one.headers, one.headers)
    expect(one.ask("POST", "/v1/query", {"namespace": "default"}, good)[0] == 200, "a page that may")
    expect(one.ask("POST", "/v1/query", {"namespace": "default"}, evil)[0] == 403, "a page that may not")
    off = w.server("off", fleet("arena", 2))
    expect(off.ask("OPTIONS", "/v1/fleets", headers=good)[0] == 405, "off unless asked for")
    expect("Access-Control-Allow-Origin" not in off.headers, off.headers)


@case
def callers_see_the_namespaces_where_they_may_allocate(w):
    w.certificates("--client", "client", "--client", "guest")
    one = w.server("one", fleet("arena", 2) + fleet("lobby", 2, "lobby"), "--allow-client", "CN:client=default,lobby",
                   "--allow-client", "CN:guest=lobby", tls=True)
    one.ready("arena", 2)
    one.ready("lobby", 2, namespace="lobby")
    expect({key[2] for key in one.rows(client="guest")} == {"lobby"}, "others are left out")
    expect(one.ask("GET", "/v1/fleets?namespace=default", client="guest")[0] == 403, "a foreign namespace")
    expect(one.ask("GET", "/v1/gameservers?namespace=default", client="guest")[0] == 403, "the same")
    expect(one.ask("POST", "/v1/query", {"namespace": "default"}, client="guest")[0] == 403, "the same")
    expect(one.ask("GET", "/v1/fleets", client=None)[0] == 401, "nobody")
    stream = Stream(one, client="guest")
    seen = stream.until("SYNCED")
    expect([e[1]["fleet"]["fleetName"] for e in seen if e[0] == "SNAPSHOT_ITEM"] == ["lobby"], seen)
    stream.close()


@case
def other_clusters_are_heard_and_a_killed_one_turns_stale_and_catches_up(w):
    w.certificates()
    east = w.server("east", fleet("arena", 4), tls=True)
    west = w.server("west", fleet("arena", 3), tls=True)
    here = w.server("here", fleet("arena", 2), policies=[policy("here", []), policy("east", [f"127.0.0.1:{east.port}"]),
                                                          policy("west", [f"127.0.0.1:{west.port}"])])
    for name, count in (("here", 2), ("east", 4), ("west", 3)):
        here.ready("arena", count, name)
    expect(set(key[0] for key in here.rows("?multiCluster=false")) == {"here"}, "only this cluster")
    expect(set(key[0] for key in here.rows("?cluster=east")) == {"east"}, "only that one")
    stream = Stream(here)
    stream.until("SYNCED")
    expect(east.allocate()["state"] == "Allocated", "an allocation elsewhere")
    stream.until("MODIFIED", lambda data: data["fleet"]["clusterName"] == "east" and data["fleet"]["recount"]["allocatedGameservers"] == 1)
    port = east.port
    east.stop(signal.SIGKILL)
    stream.until("CLUSTER_STATUS", lambda data: data["cluster"]["clusterName"] == "east" and data["cluster"]["stale"])
    rows = here.rows()
    expect(rows["east", "default", "arena"]["stale"] and rows["east", "default", "arena"]["recount"]["allocatedGameservers"] == 1, rows)
    expect(not rows["west", "default", "arena"]["stale"] and here.cluster("east")["code"] == 14, here.page())
    expect(west.allocate()["state"] == "Allocated", "the rest goes on")
    stream.until("MODIFIED", lambda data: data["fleet"]["clusterName"] == "west" and data["fleet"]["recount"]["allocatedGameservers"] == 1)
    w.server("east", fleet("arena", 6) + fleet("second", 1), tls=True, port=port)
    here.until(lambda: not here.cluster("east")["stale"], "the cluster that came back is not heard")
    here.ready("arena", 6, "east")
    here.ready("second", 1, "east")
    stream.close()


@case
def what_was_forwarded_is_told_of_this_cluster_only(w):
    w.certificates()
    east = w.server("east", fleet("arena", 4), tls=True)
    here = w.server("here", fleet("arena", 2), policies=[policy("here", []), policy("east", [f"127.0.0.1:{east.port}"])])
    here.ready("arena", 4, "east")
    for query in ("", "?multiCluster=true"):
        status, text = here.ask("GET", "/v1/fleets" + query, headers={"Agones-Alloc-Hops": "1"})
        told = json.loads(text)
        expect(status == 200 and [row["clusterName"] for row in told["fleets"]] == ["here"], text)
        expect([one["clusterName"] for one in told["clusters"]] == ["here"], text)
        stream = Stream(here, query, {"Agones-Alloc-Hops": "1"})
        seen = stream.until("SYNCED")
        expect([data["fleet"]["clusterName"] for what, data, _ in seen if what == "SNAPSHOT_ITEM"] == ["here"], seen)
        stream.close()
    expect(here.ask("GET", "/v1/fleets", headers={"Agones-Alloc-Hops": "5"})[0] == 508, "more often than --max-hops")


@case
def two_servers_that_name_each_other_tell_everything_once(w):
    w.certificates()
    east = w.server("east", fleet("arena", 4), "--cluster-name", "east", tls=True, policies=[])
    west = w.server("west", fleet("arena", 3), "--cluster-name", "west", tls=True, policies=[policy("east", [f"127.0.0.1:{east.port}"])])
    write_policies(w.place / "east-policies.json", [policy("west", [f"127.0.0.1:{west.port}"])])
    east.process.send_signal(signal.SIGHUP)
    for one in (east, west):
        one.ready("arena", 4, "east")
        one.ready("arena", 3, "west")
    for taken, (one, other, name) in enumerate(((east, west, "east"), (west, east, "west"), (east, west, "east"))):
        expect(one.allocate()["state"] == "Allocated", "an allocation")
        wanted = taken // 2 + 1
        for told in (one, other):
            told.until(lambda told=told, name=name, wanted=wanted: told.rows()[name, "default", "arena"]["recount"]["allocatedGameservers"]
                       == wanted, f"{name}'s allocation is not told")
    for one in (east, west):
        expect(sorted(one.rows()) == [("east", "default", "arena"), ("west", "default", "arena")], one.page())
        expect(sorted(c["clusterName"] for c in one.page()["clusters"]) == ["east", "west"], one.page())
        expect(one.number("agones_alloc_directory_streams") == 1, "one listens to the other, and nobody to themselves")
        expect(one.number("agones_alloc_directory_streams_opened_total") == 1, "nothing was asked in a circle")
    for one in (east, west):
        expect(one.process.poll() is None, "it runs")
        one.process.send_signal(signal.SIGTERM)
    for one in (east, west):
        expect(one.process.wait(PATIENCE) == 0, "streams to each other do not keep servers from stopping")


@case
def streams_of_one_client_are_bounded(w):
    w.certificates("--client", "client", "--client", "guest")
    one = w.server("one", fleet("arena", 2), "--max-streams-per-client", "2", "--allow-client", "*=default", tls=True)
    one.ready("arena", 2)
    streams = [Stream(one), Stream(one)]
    for stream in streams:
        stream.until("SYNCED")
    expect(one.ask("GET", "/v1/fleets", headers={"Accept": "text/event-stream"})[0] == 503, "a third stream")
    expect(one.headers["Retry-After"], one.headers)
    expect(one.ask("GET", "/v1/fleets")[0] == 200, "what is no stream is answered")
    other = Stream(one, client="guest")
    other.until("SYNCED")
    expect(one.number("agones_alloc_directory_streams") == 3, "three are open")
    streams[0].close()

    def gets_in():
        with contextlib.suppress(AssertionError):
            streams.append(Stream(one))
            return True
        return False

    one.until(gets_in, "a stream that has ended keeps its place")
    for stream in streams[1:] + [other]:
        stream.close()


@case
def a_consumer_that_reads_nothing_holds_nobody_and_is_cut(w):
    # More than all buffers on the way hold: 8 MiB.
    wide = json.loads(fleet("wide-000", 0).split("\n")[0])
    wide["metadata"]["annotations"]["long"] = "x" * 40_000
    texts = []
    for i in range(200):
        wide["metadata"]["name"] = f"wide-{i:03}"
        texts.append(json.dumps(wide) + "\n---\n")
    one = w.server("one", "".join(texts) + fleet("arena", 200), "--write-timeout", "3s", "--fleet-interval", "10ms", "--nodes", "20")
    one.ready("arena", 200)
    one.until(lambda: len(one.rows("?limit=1000")) == 201, "the fleets are known")
    with socket.socket() as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.connect(("127.0.0.1", one.port))
        deaf.sendall(b"GET /v1/fleets?include=annotations HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n")
        one.until(lambda: one.number("agones_alloc_directory_streams") == 1, "it does not get in")
        listening = Stream(one)
        listening.until("SYNCED")
        memory = pathlib.Path(f"/proc/{one.process.pid}/statm")
        pages = int(memory.read_text().split()[1])
        for taken in range(1, 101):
            expect(one.allocate(selector={"matchLabels": {"agones.dev/fleet": "arena"}})["state"] == "Allocated", "an allocation")
            listening.until("MODIFIED", lambda data, taken=taken: data["fleet"]["recount"]["allocatedGameservers"] >= taken)
        # What is kept for it is a piece of the state, however much happens.
        grown = (int(memory.read_text().split()[1]) - pages) * 4096
        expect(grown < 32 << 20, f"{grown >> 20} MiB more")
        one.until(lambda: one.number("agones_alloc_directory_streams") == 1, "who reads nothing is not cut")
        expect(one.allocate(selector={"matchLabels": {"agones.dev/fleet": "arena"}})["state"] == "Allocated", "an allocation")
        listening.until("MODIFIED", lambda data: data["fleet"]["recount"]["allocatedGameservers"] == 101)
        listening.close()


@case
def an_older_remote_never_fails_the_query(w):
    w.certificates()
    old = w.server("old", fleet("arena", 4), "--no-fleet-directory", tls=True)
    here = w.server("here", fleet("arena", 2), policies=[policy("old", [f"127.0.0.1:{old.port}"]),
                                                         policy("dead", ["127.0.0.1:1"])])
    here.ready("arena", 2)
    here.until(lambda: here.cluster("old") and here.cluster("old")["code"] == 12, "an older one is unimplemented")
    here.until(lambda: here.cluster("dead") and here.cluster("dead")["code"] == 14, "a dead one is unavailable")
    expect([key[0] for key in here.rows()] == ["local"], here.page())


class World:
    def __init__(self, place):
        self.place, self.running = pathlib.Path(place), contextlib.ExitStack()

    def certificates(self, *options):
        kit.certificates(self.place, *options)

    def server(self, *arguments, **options):
        return self.running.enter_context(Server(self.place, *arguments, **options))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.running.close()


if __name__ == "__main__":
    sys.exit(kit.run_cases(World))
