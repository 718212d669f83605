#!/usr/bin/env python3
"""The built server with --remote-protocol auto: endpoints that do not say whether they speak REST or gRPC.

Usage: trying_test.py PATH-OF-agones-alloc-server [WORD-OF-A-CASE]
Prints one line a case and a summary, and exits with 1 when a case failed. Needs Python and the openssl program.
"""
import pathlib
import sys

sys.dont_write_bytecode = True  # nothing is written into the source tree
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "server"))

import json  # noqa: E402
import shutil  # noqa: E402
import socket  # noqa: E402
import threading  # noqa: E402
import time  # noqa: E402

import clusters_world  # noqa: E402
import grpc_world  # noqa: E402
import http2  # noqa: E402
import kit  # noqa: E402
from clusters_world import MANY, certificates, dead_port, near, policy, states  # noqa: E402
from grpc_world import endpoint_of, wait_until  # noqa: E402
from kit import case, expect  # noqa: E402


class Both(http2.Peer):
    """One port with both protocols, as Agones' chart has it. Counts the calls that came by each, and connections without any."""

    def __init__(self, place, protocols, over_grpc):
        self.protocols, self.rest_calls, self.searches, self.lock = protocols, 0, 0, threading.Lock()
        super().__init__(place, over_grpc)
        self.context.set_alpn_protocols(protocols)

    def one(self, plain):
        try:
            with self.context.wrap_socket(plain, server_side=True) as link:
                if link.selected_alpn_protocol() == "h2":
                    self.http2(link)
                else:
                    self.http1(link)
        except (OSError, EOFError):
            pass

    def http2(self, link):
        if not (first := link.recv(1)):
            return self.searched()
        expect(first + http2.read_exactly(link, len(http2.PREFACE) - 1) == http2.PREFACE, "it begins as HTTP/2 does")
        self.connections += 1
        link.sendall(http2.frame(http2.SETTINGS, 0, 0))
        self.frames(link)

    def http1(self, link):
        asked = False
        while clusters_world.read_request(link):
            asked = True
            self.rest_calls += 1
            link.sendall(clusters_world.answer(200, json.dumps({"gameServerName": "by-rest"})))
        if not asked:
            self.searched()

    def searched(self):
        with self.lock:
            self.searches += 1


class WebPeer(Both):
    """HTTP/2 that is no gRPC: nothing is found there, the health service included."""

    def say_health(self, link, stream):
        not_found(self, link, stream)


def not_found(peer, link, stream):
    link.sendall(http2.frame(http2.HEADERS, http2.END_HEADERS | http2.END_STREAM, stream, b"\x8d" + http2.fields(("content-type", "text/html"))))


def by_grpc(peer, link, stream):
    http2.answer(link, stream, b"\x12\x07by-grpc")


class World(grpc_world.World):
    def both(self, protocols=("h2", "http/1.1"), over_grpc=by_grpc, kind=Both):
        made = kind(self.place, list(protocols), over_grpc)
        self.started.append(made.close)
        return made

    def auto(self, name, endpoints, *options):
        return self.server(name, 0, "--remote-protocol", "auto", *options, policies=[policy("far", 1, endpoints)])


def had_by(here):
    status, got = here.allocate()
    expect(status == 201, got)
    return got["status"]["gameServerName"]


@case
def each_of_our_ports_is_called_as_it_speaks(w):
    west = w.remote("west", 9)
    for name, port, protocol in (("rest", west.port, "rest"), ("grpc", west.grpc_port, "grpc")):
        here = w.auto(name, [near(port)])
        expect(states(here.allocate() for _ in range(3)) == ["Allocated"] * 3, "it is called")
        link = endpoint_of(here, "far")["connections"]
        expect([(one["protocol"], one["handshakes"]) for one in link] == [(protocol, 1)], link)
        expect(here.text().count("protocol was found out") == 1, here.text())
        here.stop()
        w.started.pop()


@case
def a_scheme_goes_before_what_would_be_found_out(w):
    west, both = w.remote("west", 9), w.both()
    here = w.auto("here", ["https://" + near(both.port)])
    expect(had_by(here) == "by-rest", "https:// is REST, also where HTTP/2 would be chosen")
    expect(both.searches == 0, "nothing is to be found out")
    there = w.auto("there", [grpc_world.over_grpc(west.grpc_port)])
    expect(states([there.allocate()]) == ["Allocated"], "grpc:// is gRPC")
    expect("found out" not in here.text() + there.text(), "nothing is to be found out")


@case
def where_both_are_on_one_port_grpc_wins_by_one_handshake_for_all_calls(w):
    both = w.both()
    here = w.auto("here", [near(both.port)])
    got = []
    callers = [threading.Thread(target=lambda: got.append(had_by(here))) for _ in range(16)]
    for one in callers:
        one.start()
    for one in callers:
        one.join()
    expect(got == ["by-grpc"] * 16, got)
    wait_until(lambda: both.searches == 1, "there is one handshake without a request")
    expect((both.rest_calls, both.connections) == (0, 1), (both.rest_calls, both.connections))


@case
def http2_that_is_no_grpc_is_called_over_rest_by_the_same_call(w):
    web = w.both(over_grpc=not_found, kind=WebPeer)
    here = w.auto("here", [near(web.port)])
    expect([had_by(here) for _ in range(3)] == ["by-rest"] * 3, "it is called over REST")
    expect((web.calls, web.rest_calls) == (1, 3), (web.calls, web.rest_calls))


@case
def silence_garbage_and_nobody_are_passed_over(w):
    west = w.remote("west", 5)
    silent = socket.create_server(("127.0.0.1", 0))  # accepts, and never answers
    babbling = socket.create_server(("127.0.0.1", 0))

    def babble():
        while True:
            try:
                link, _ = babbling.accept()
            except OSError:
                return
            with link:
                link.sendall(b"\xff" * 4096)
                link.recv(4096)

    threading.Thread(target=babble, daemon=True).start()
    ports = [silent.getsockname()[1], babbling.getsockname()[1], dead_port(), west.grpc_port]
    here = w.auto("here", [near(port) for port in ports], "--remote-connect-timeout", "3s")
    status, got = here.allocate()
    expect(status == 201 and got["status"]["source"] == near(west.grpc_port), got)
    silent.close(), babbling.close()


@case
def finding_out_counts_against_the_callers_deadline(w):
    silent = socket.create_server(("127.0.0.1", 0))
    here = w.auto("here", [near(silent.getsockname()[1])], "--remote-connect-timeout", "5m", "--remote-allocation-timeout", "1h")
    started = time.monotonic()
    status, got = here.allocate(query="?timeout=1s")
    expect(time.monotonic() - started < kit.PATIENCE / 2, "it ends with the deadline, not with the connection's time")
    expect(status in (503, 504) and "fate is not known" not in got["message"], got)
    silent.close()


@case
def an_endpoint_that_changes_its_protocol_is_found_out_again(w):
    west = w.remote("west", 5)
    here = w.auto("here", [near(west.grpc_port)])
    expect(states([here.allocate()]) == ["Allocated"], "it is called over gRPC")
    west.process.kill()
    west.process.wait()
    rest = clusters_world.Endpoint(w.place, lambda link: link.sendall(clusters_world.answer(200, json.dumps({"gameServerName": "by-rest"}))) or True,
                                   port=west.grpc_port)
    w.started.append(rest.close)

    def found():
        got = here.allocate()[1]
        return got.get("status", {}).get("gameServerName") == "by-rest"

    wait_until(found, "it is called over REST")
    expect('"protocol":"rest"' in here.text(), here.text())


@case
def other_credentials_are_tried_anew(w):
    certificates(w.place, "--client", "client", "--client", "guest")
    both = w.both()
    here = w.auto("here", [near(both.port)])
    had_by(here)
    wait_until(lambda: both.searches == 1, "found out")
    for name in ("tls.crt", "tls.key"):
        shutil.copyfile(w.place / "certs/clients/guest" / name, w.place / "certs/clients/client" / name)
    wait_until(lambda: had_by(here) == "by-grpc" and (both.searches, both.connections) == (2, 2), "found out again, and one channel for each version")
    expect(both.rest_calls == 0, "it is the same protocol")


@case
def an_answer_that_is_lost_is_not_asked_for_by_the_other_protocol(w):
    both = w.both(over_grpc=lambda peer, link, stream: False)
    here = w.auto("here", [near(both.port)])
    status, got = here.allocate(body=MANY)
    expect(status == 504 and "fate is not known" in got["message"], got)
    expect((both.calls, both.rest_calls) == (1, 0), (both.calls, both.rest_calls))


if __name__ == "__main__":
    sys.exit(kit.run_cases(World))
