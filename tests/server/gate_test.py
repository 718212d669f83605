#!/usr/bin/env python3
"""The readiness gate as a matchmaker meets it: over HTTP, against the built server on embedded fleets whose games start slowly or not at all.

Usage: gate_test.py PATH-OF-agones-alloc-server [WORD-OF-A-CASE]
Prints one line a case and a summary, and exits with 1 when a case failed. Needs nothing but Python.
"""
import contextlib
import http.client
import json
import re
import signal
import socket
import sys
import threading
import time

sys.dont_write_bytecode = True  # nothing is written into the source tree

import kit  # noqa: E402
from game_server_api import GameServerApi  # noqa: E402
from kit import KUBERNETES, PATIENCE, REST, Running, case, expect, fleet_file, run  # noqa: E402


def allocate(server, spec=None, metadata=None, path=KUBERNETES, **fields):
    """(status, body, answer) of an allocation; fields are header fields."""
    headers = {"Content-Type": "application/json", **{name.replace("_", "-"): value for name, value in fields.items()}}
    body = {"namespace": "default"} if path == REST else {"metadata": metadata or {}, "spec": spec or {}}
    status, text, answer = server.ask("POST", path, json.dumps(body), headers)
    return status, json.loads(text), answer


def claim(server, method, path, **fields):
    headers = {name.replace("_", "-"): value for name, value in fields.items()}
    status, text, _ = server.ask(method, "/v1/claims/" + path, None, headers)
    return status, json.loads(text)


def states(server):
    return json.loads(server.ask("GET", "/v1/fleets")[1])["fleets"][0]["recount"]


def metric(server, name):
    found = re.search(rf"^{re.escape(name)} (\S+)", server.ask("GET", "/metrics")[1], re.M)
    return float(found.group(1)) if found else 0.0


def times_to_ready(server):
    """The histogram of the fleet `simple`: its count, its sum, and how many took so many seconds or less."""
    out = {"count": 0.0, "sum": 0.0, "within": {}}
    for name, labels, number in re.findall(r"^agones_alloc_gate_ready_seconds_(\w+)\{([^}]*)\} (\S+)", server.ask("GET", "/metrics")[1], re.M):
        expect('fleet_name="simple"' in labels, labels)
        if name == "bucket":
            out["within"][float(re.search(r'le="([^"]+)"', labels).group(1))] = float(number)
        else:
            out[name] = float(number)
    return out


def token_of(server):
    """Of the only server: what its game calls back with."""
    listed = json.loads(server.ask("GET", "/v1/gameservers?namespace=default&fleet=simple")[1])["gameServers"]
    return listed[0]["metadata"].get("annotations", {}).get("agones-alloc.dev/gate-token")


def becomes(read, wanted, what):
    give_up = time.monotonic() + PATIENCE
    while (found := read()) != wanted:
        expect(time.monotonic() < give_up, f"{what}: {found}, not {wanted}")
        time.sleep(0.02)


def embedded(folder, replicas, *options):
    return Running("--fleets", fleet_file(folder, replicas), "--session-length", "never", *options)


def beside(folder, port):
    """One game server on this machine, whose game is whoever listens on that port."""
    return embedded(folder, 1, "--session-start", "never", "--nodes", "1", "--max-nodes", "1", "--node-address", "127.0.0.1",
                    "--ports", f"{port}-{port}")


@case
def a_server_is_handed_over_when_its_game_has_started(folder):
    with embedded(folder, 3, "--gate", "watch", "--session-start", "700ms") as server:
        server.wait_ready(3)
        begun = time.monotonic()
        status, body, answer = allocate(server)
        took = time.monotonic() - begun
        expect((status, body["status"]["state"]) == (201, "Allocated"), f"{status} {body}")
        expect(took >= 0.6, f"it was answered after {took} s")
        expect(answer.getheader("Agones-Alloc-Claim"), "the answer names the claim")
        status, body, _ = allocate(server, path=REST)
        expect(status == 200 and body["gameServerName"], f"{status} {body}")
        status, body, _ = allocate(server, Agones_Alloc_Gate="off")
        expect((status, body["status"]["state"]) == (201, "Allocated"), "a request can do without")
        expect(metric(server, 'agones_alloc_gate_ended_total{end="ready",fleet_name="simple"}') == 2, "both are counted")
        ready = times_to_ready(server)
        expect(ready["count"] == 2 and ready["sum"] >= 1.2, f"with the time that they took: {ready}")
        expect(ready["within"][0.5] == 0 and ready["within"][float("inf")] == 2, ready)


@case
def times_are_of_games_that_got_ready_and_of_no_others(folder):
    with embedded(folder, 2, "--session-start", "never") as server:
        server.wait_ready(2)
        allocate(server, Agones_Alloc_Gate="watch; timeout=100ms; on-timeout=ReturnToReady; servers=2")
        expect(metric(server, 'agones_alloc_gate_ended_total{end="timed_out",fleet_name="simple"}') == 2, "none got ready")
        expect(times_to_ready(server)["count"] == 0, "so there is no time")


@case
def while_it_starts_the_fleet_shows_it_as_allocating(folder):
    with embedded(folder, 2, "--gate", "watch", "--session-start", "never") as server:
        server.wait_ready(2)
        status, body, answer = allocate(server, Prefer="respond-async")
        expect((status, body["reason"], body["code"]) == (202, "Pending", 202), f"{status} {body}")
        expect(answer.getheader("Preference-Applied") == "respond-async", "it says so")
        expect(answer.getheader("Location") == f"/v1/claims/{body['id']}?namespace=default", answer.getheader("Location"))
        becomes(lambda: states(server).get("allocatingGameservers"), 1, "one is allocating")
        expect(states(server)["reservedGameservers"] == 0, states(server))
        becomes(lambda: metric(server, "agones_alloc_gate_pending"), 1, "one is pending")
        status, told = claim(server, "GET", body["id"] + "?namespace=default")
        expect((status, told["pending"], told["state"]) == (200, True, "Reserved"), told)
        expect(told["gameServerName"] == body["gameServerName"], told)


@case
def an_asynchronous_allocation_is_told_its_end(folder):
    with embedded(folder, 2, "--session-start", "500ms") as server:
        server.wait_ready(2)
        status, body, _ = allocate(server, Prefer="respond-async", Agones_Alloc_Gate="watch")
        expect(status == 202, body)
        status, told = claim(server, "GET", body["id"] + "?namespace=default", Prefer="wait=30")
        expect((status, told["state"]) == (200, "Allocated") and "pending" not in told, told)
        status, told = claim(server, "POST", body["id"] + ":release?namespace=default")
        expect((status, told["state"]) == (200, "Ready"), told)


@case
def a_game_that_never_starts_is_ended_and_the_end_is_told(folder):
    with embedded(folder, 1, "--session-start", "never") as server:
        server.wait_ready(1)
        gate = "watch; timeout=300ms; on-timeout=ReturnToReady"
        status, body, _ = allocate(server, Prefer="respond-async", Agones_Alloc_Gate=gate)
        expect(status == 202, body)
        status, told = claim(server, "GET", body["id"] + "?namespace=default", Prefer="wait=30")
        expect((status, told.get("ended"), told["state"]) == (200, "timed_out", "Ready"), told)
        status, body, _ = allocate(server, Agones_Alloc_Gate=gate + "; servers=2")
        expect((status, body["status"]["state"]) == (201, "UnAllocated"), f"{status} {body}")
        server.wait_ready(1)  # again


@case
def games_that_fail_are_replaced_until_one_starts(folder):
    with embedded(folder, 40, "--session-start", "10ms", "--session-start-failure", "0.5", "--seed", "3") as server:
        server.wait_ready(40)
        for _ in range(8):
            status, body, _ = allocate(server, metadata={"annotations": {"agones-alloc.dev/gate": "watch; servers=20"}})
            expect((status, body["status"]["state"]) == (201, "Allocated"), f"{status} {body}")
        expect(metric(server, 'agones_alloc_gate_ended_total{end="failed",fleet_name="simple"}') >= 1, "some failed")
        expect(metric(server, 'agones_alloc_gate_ended_total{end="ready",fleet_name="simple"}') == 8, "eight did not")


@case
def a_client_that_leaves_gives_the_server_up_unless_it_has_an_id(folder):
    with embedded(folder, 2, "--gate", "watch; on-timeout=ReturnToReady; timeout=20s", "--session-start", "never") as server:
        server.wait_ready(2)
        for headers, left in (({}, 2), ({"Idempotency-Key": "match-1"}, 1)):
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
            connection.request("POST", KUBERNETES, json.dumps({"spec": {}}), {"Content-Type": "application/json", **headers})
            becomes(lambda: metric(server, "agones_alloc_gate_pending"), 1, "it is pending")
            connection.close()
            becomes(server.ready_servers, left, "ready servers")
        status, told = claim(server, "GET", "match-1?namespace=default")
        expect((status, told["pending"]) == (200, True), told)
        status, told = claim(server, "POST", "match-1:release?namespace=default&to=ready")
        expect((status, told["state"]) == (200, "Ready"), told)
        becomes(server.ready_servers, 2, "ready servers")


@case
def a_confirmation_of_a_pending_server_waits_as_long_as_it_is_asked_to(folder):
    with embedded(folder, 1, "--gate", "watch; timeout=50s", "--session-start", "never", "--request-timeout", "2s", "--max-wait", "40s") as server:
        server.wait_ready(1)
        status, body, _ = allocate(server, Prefer="respond-async", Idempotency_Key="match-1", Agones_Alloc_Claim_TTL="1h")
        expect(status == 202, body)
        deadline = claim(server, "GET", "match-1?namespace=default")[1]["deadline"]
        wanted = {"code": 409, "id": "match-1", "namespace": "default", "gameServerName": body["gameServerName"], "state": "Reserved",
                  "pending": True, "deadline": deadline}
        for fields, least in (({"Prefer": "wait=0"}, 0), ({"Prefer": "respond-async, wait=1"}, 1), ({"Prefer": "wait=3"}, 3), ({}, 2)):
            started = time.monotonic()
            status, text, answer = server.ask("POST", "/v1/claims/match-1:confirm?namespace=default", None, fields)
            took = time.monotonic() - started
            told = json.loads(text)
            expect(status == 409 and "not ready for players yet" in told.pop("message") and told == wanted, f"{fields}: {status} {text}")
            expect(answer.getheader("Retry-After") == "1", f"{fields}: it says when to come back")
            expect(least - 0.1 <= took < 20, f"{fields}: after {took} s")
        for fields in ({"Prefer": "wait=soon"}, {"Prefer": "wait"}):
            status, told = claim(server, "POST", "match-1:confirm?namespace=default", **fields)
            expect(status == 400 and told["message"].startswith("Prefer: wait: "), f"{fields}: {status} {told}")
        got = []
        thread = threading.Thread(target=lambda: got.append(claim(server, "POST", "match-1:confirm?namespace=default", Prefer="wait=40")))
        thread.start()
        expect(claim(server, "POST", "match-1:release?namespace=default")[0] == 200, "released")
        thread.join(PATIENCE)
        expect(got and got[0][0] == 404, f"there is nothing left to confirm: {got}")


@case
def a_confirmation_that_waits_is_told_when_the_game_is_ready(folder):
    with embedded(folder, 1, "--gate", "watch", "--session-start", "700ms") as server:
        server.wait_ready(1)
        status, body, _ = allocate(server, Prefer="respond-async", Idempotency_Key="match-1", Agones_Alloc_Claim_TTL="1h")
        expect(status == 202, body)
        status, told = claim(server, "POST", "match-1:confirm?namespace=default", Prefer="wait=40")
        expect((status, told.get("confirmed"), told.get("state")) == (200, True, "Allocated") and "expires" not in told, f"{status} {told}")
        status, told = claim(server, "POST", "match-1:confirm?namespace=default", Prefer="wait=0")
        expect((status, told.get("confirmed")) == (200, True), f"there is nothing to wait for: {status} {told}")


@case
def who_waits_for_a_claim_that_somebody_releases_is_told_so(folder):
    with embedded(folder, 1, "--gate", "watch; timeout=50s", "--session-start", "never") as server:
        server.wait_ready(1)
        for path in (KUBERNETES, REST):
            got = []
            thread = threading.Thread(target=lambda: got.append(allocate(server, path=path, Idempotency_Key="match-1")))
            thread.start()
            becomes(lambda: metric(server, "agones_alloc_gate_pending"), 1, "pending")
            expect(claim(server, "POST", "match-1:release?namespace=default")[0] == 200, "released")
            thread.join(PATIENCE)
            status, told, _ = got[0]
            expect((status, told["message"]) == (499, "the claim was released before its game server was ready for players"), f"{path}: {got}")
            server.wait_ready(1)  # and no other one was tried


@case
def three_at_once_with_one_id_get_one_server(folder):
    with embedded(folder, 5, "--gate", "watch", "--session-start", "400ms") as server:
        server.wait_ready(5)
        names = []
        threads = [threading.Thread(target=lambda: names.append(allocate(server, Idempotency_Key="m")[1]["status"]["gameServerName"]))
                   for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        expect(len(names) == 3 and len(set(names)) == 1, names)
        expect(server.ready_servers() == 4, "one was taken")


@case
def who_waits_for_a_server_waits_for_its_game_too(folder):
    with embedded(folder, 1, "--gate", "watch; timeout=50s", "--session-start", "500ms") as server:
        server.wait_ready(1)
        status, body, _ = allocate(server, Idempotency_Key="held")
        expect((status, body["status"]["state"]) == (201, "Allocated"), f"{status} {body}")
        got = []
        thread = threading.Thread(target=lambda: got.append((allocate(server, Prefer="wait=50"), time.monotonic())))
        thread.start()
        becomes(lambda: metric(server, "agones_alloc_requests_waiting"), 1, "requests that wait")
        released = time.monotonic()
        expect(claim(server, "POST", "held:release?namespace=default")[0] == 200, "released")
        thread.join(PATIENCE)
        (status, body, answer), ended = got[0]
        expect((status, body["status"]["state"]) == (201, "Allocated"), f"{status} {body}")
        expect(answer.getheader("Preference-Applied") == "wait=50", "and says that it would have waited")
        expect(ended - released >= 0.4, f"it was answered after {ended - released} s")
        expect(times_to_ready(server)["count"] == 2, "both games had to start")


@case
def a_server_that_does_not_get_ready_sends_who_may_wait_behind_those_who_wait_already(folder):
    with embedded(folder, 1, "--session-start", "never") as server:
        server.wait_ready(1)
        got, threads = [], []

        def ask(name, **fields):
            thread = threading.Thread(target=lambda: got.append((name, allocate(server, Idempotency_Key=name, Prefer="wait=50", **fields))))
            thread.start()
            threads.append(thread)

        ask("first", Agones_Alloc_Gate="watch; timeout=8s; on-timeout=Shutdown; servers=2")
        becomes(lambda: metric(server, "agones_alloc_gate_pending"), 1, "pending")
        ask("second", Agones_Alloc_Gate="off")
        becomes(lambda: metric(server, "agones_alloc_requests_waiting"), 1, "requests that wait")
        # The next server is the second one's, which waited before; when it is given back, it is the first one's.
        becomes(lambda: len(got), 1, "answers")
        expect(got[0][0] == "second" and got[0][1][1]["status"]["state"] == "Allocated", got)
        becomes(lambda: metric(server, "agones_alloc_requests_waiting"), 1, "requests that wait anew")
        expect(claim(server, "POST", "second:release?namespace=default")[0] == 200, "released")
        becomes(lambda: metric(server, "agones_alloc_gate_pending"), 1, "pending again")
        listed = json.loads(server.ask("GET", "/v1/gameservers?namespace=default&fleet=simple")[1])["gameServers"]
        expect(any("agones-alloc.dev/pending" in one["metadata"].get("annotations", {}) for one in listed), listed)
        expect(claim(server, "POST", "first:release?namespace=default")[0] == 200, "and given up")
        for thread in threads:
            thread.join(PATIENCE)
        expect(len(got) == 2 and got[1][0] == "first", got)


@case
def other_sources_and_carriers_work_on_simulated_games(folder):
    with embedded(folder, 6, "--session-start", "100ms") as server:
        server.wait_ready(6)
        for gate in ("counter; key=rooms-open; at-least=2", "watch; carrier=Allocated", "watch; carrier=Allocating", "tcp"):
            status, body, _ = allocate(server, Agones_Alloc_Gate=gate)
            expect((status, body["status"]["state"]) == (201, "Allocated"), f"{gate}: {status} {body}")
            expect(metric(server, "agones_alloc_gate_pending") == 0, gate)


class StreamingGame:
    """A game that says in a stream of events how far it is: on each connection but the first two, which it cuts."""

    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port, self.asked, self.ready = self.socket.getsockname()[1], [], threading.Event()
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                link, _ = self.socket.accept()
                with link, contextlib.suppress(OSError):
                    self.asked.append(link.recv(4096))
                    if len(self.asked) < 3:
                        continue
                    link.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nevent: loading\ndata: 10 %\n\n")
                    self.ready.wait(PATIENCE)
                    link.sendall(b"event: ready\ndata: true\n\n")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.ready.set()
        self.socket.close()


@case
def a_game_says_in_a_stream_of_events_that_it_is_ready(folder):
    with StreamingGame() as game:
        with beside(folder, game.port) as server:
            server.wait_ready(1)
            status, body, _ = allocate(server, Prefer="respond-async", Agones_Alloc_Gate="sse; path=/events; period=50ms; timeout=5m")
            expect(status == 202, body)
            becomes(lambda: len(game.asked), 3, "streams")
            expect(game.asked[2].startswith(b"GET /events HTTP/1.0\r\n"), game.asked)
            status, told = claim(server, "GET", body["id"] + "?namespace=default")
            expect((status, told["pending"]) == (200, True), told)
            game.ready.set()
            status, told = claim(server, "GET", body["id"] + "?namespace=default", Prefer="wait=30")
            expect((status, told["state"]) == (200, "Allocated"), told)


class ClaimStream:
    """The events of a claim: (kind, data)."""

    def __init__(self, server, path):
        self.link = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
        self.link.request("GET", f"/v1/claims/{path}?namespace=default", headers={"Accept": "text/event-stream"})
        self.answer = self.link.getresponse()
        self.status, self.kind = self.answer.status, self.answer.getheader("Content-Type")

    def next(self):
        """None at the end; heartbeats are told as any other."""
        fields = {}
        while line := self.answer.readline().decode():
            name, _, value = line.rstrip("\n").partition(": ")
            if name:
                fields[name] = value
            elif "event" in fields:
                return fields["event"], json.loads(fields["data"])
            else:
                expect(fields == {"retry": "1000"}, fields)
                fields = {}
        return None

    def after_heartbeats(self):
        while event := self.next():
            if event[0] != "HEARTBEAT":
                return event
        return None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.link.close()


@case
def the_end_of_an_asynchronous_allocation_is_told_by_a_stream(folder):
    with embedded(folder, 2, "--session-start", "never", "--stream-heartbeat", "50ms") as server:
        server.wait_ready(2)
        wanted = {"Prefer": "respond-async", "Agones_Alloc_Gate": "webhook; timeout=10m; servers=1", "Idempotency_Key": "match-7"}
        expect(allocate(server, **wanted)[0] == 202, "it is pending")
        with ClaimStream(server, "match-7") as stream:
            expect((stream.status, stream.kind) == (200, "text/event-stream"), f"{stream.status} {stream.kind}")
            kind, told = stream.next()
            expect((kind, told["id"], told["pending"]) == ("PENDING", "match-7", True) and "deadline" in told, told)
            for _ in range(3):
                kind, beat = stream.next()
                expect(kind == "HEARTBEAT" and beat["time"], kind)
            found = [s for s in json.loads(server.ask("GET", "/v1/gameservers?namespace=default")[1])["gameServers"]
                     if s["metadata"]["name"] == told["gameServerName"]]
            token = found[0]["metadata"]["annotations"]["agones-alloc.dev/gate-token"]
            expect(server.ask("POST", f"/v1/gates/{token}:ready")[0] == 204, "the call")
            kind, ready = stream.after_heartbeats()
            expect((kind, ready["gameServerName"], ready["state"]) == ("ALLOCATED", told["gameServerName"], "Allocated"), ready)
            expect("pending" not in ready and ready["confirmed"], ready)
            expect(stream.next() is None, "nothing after it")
        with ClaimStream(server, "match-7") as stream:
            expect(stream.next() == ("ALLOCATED", ready), "who comes later is told at once")
            expect(stream.next() is None, "and no more")
        with ClaimStream(server, "match-8") as stream:
            expect((stream.status, stream.kind) == (404, "application/json"), "what is no claim is no stream")


@case
def a_stream_tells_that_a_game_was_not_ready_in_time_also_who_comes_later(folder):
    with embedded(folder, 1, "--session-start", "never") as server:
        server.wait_ready(1)
        wanted = {"Prefer": "respond-async", "Agones_Alloc_Gate": "watch; timeout=500ms; on-timeout=ReturnToReady", "Idempotency_Key": "match-7"}
        expect(allocate(server, **wanted)[0] == 202, "it is pending")
        with ClaimStream(server, "match-7") as stream:
            kind, told = stream.next()
            if kind == "PENDING":
                kind, told = stream.after_heartbeats()
            expect((kind, told["ended"], told["id"]) == ("ENDED", "timed_out", "match-7"), told)
            expect(stream.next() is None, "nothing after it")
        with ClaimStream(server, "match-7") as stream:
            expect(stream.next() == ("ENDED", told), "while it is remembered")
            expect(stream.next() is None, "and no more")


@case
def streams_of_claims_have_bounds_and_end_with_their_time_and_the_server(folder):
    with embedded(folder, 1, "--session-start", "never", "--max-streams", "2", "--stream-time", "10m") as server:
        server.wait_ready(1)
        expect(allocate(server, Prefer="respond-async", Agones_Alloc_Gate="watch; timeout=10m", Idempotency_Key="match-7")[0] == 202, "pending")
        with ClaimStream(server, "match-7") as one, ClaimStream(server, "match-7") as other:
            expect(one.next()[0] == other.next()[0] == "PENDING", "the state")
            with ClaimStream(server, "match-7") as third:
                expect((third.status, third.answer.getheader("Retry-After")) == (503, "5"), third.status)
            expect(claim(server, "GET", "match-7?namespace=default")[1]["pending"], "what is no stream is answered")
            with ClaimStream(server, "other") as third:
                expect(third.status == 404, "whoever asks for what is no claim is not told to come again")
            one.link.close()
            one.answer.close()

            def there_is_room():
                with ClaimStream(server, "match-7") as stream:
                    return stream.status

            becomes(there_is_room, 200, "its place is free again")
            expect(server.stop() == 0, "it stops")
            expect(other.after_heartbeats() is None, "and the stream with it")
    with embedded(folder, 1, "--session-start", "never", "--stream-time", "200ms", "--stream-heartbeat", "20ms") as server:
        server.wait_ready(1)
        expect(allocate(server, Prefer="respond-async", Agones_Alloc_Gate="watch; timeout=10m", Idempotency_Key="match-7")[0] == 202, "pending")
        with ClaimStream(server, "match-7") as stream:
            expect(stream.next()[0] == "PENDING", "the state")
            expect(stream.after_heartbeats() is None, "its time is over, the wait goes on")
        expect(claim(server, "GET", "match-7?namespace=default")[1]["pending"], "it does")


class CheckedGame:
    """A game that is checked over HTTP. It keeps its connections, but hangs up on each, instead of an answer, at the third request."""

    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port, self.ready = self.socket.getsockname()[1], False
        self.connections, self.answered = 0, 0
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                link, _ = self.socket.accept()
                self.connections += 1
                threading.Thread(target=self.serve, args=(link,), daemon=True).start()

    def serve(self, link):
        with link, contextlib.suppress(OSError):
            for _ in range(2):
                asked = b""
                while not asked.endswith(b"\r\n\r\n"):
                    piece = link.recv(4096)
                    if not piece:
                        return
                    asked += piece
                body = b"" if self.ready else b"loading\n"
                link.sendall(b"HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s" % (b"200 OK" if self.ready else b"404 Not Found", len(body), body))
                self.answered += 1
            link.recv(4096)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()


@case
def a_game_is_checked_over_connections_that_it_keeps(folder):
    with CheckedGame() as game:
        with beside(folder, game.port) as server:
            server.wait_ready(1)
            status, body, _ = allocate(server, Prefer="respond-async", Agones_Alloc_Gate="http; period=20ms; failures=100; try-timeout=1m; timeout=10m")
            expect(status == 202, body)
            deadline = time.monotonic() + PATIENCE
            while game.answered < 20 and time.monotonic() < deadline:
                time.sleep(0.01)
            answered, connections = game.answered, game.connections
            expect(answered >= 20, f"{answered} checks in time")
            expect(answered / 2 <= connections <= answered / 2 + 2, f"{answered} checks over {connections} connections, two over each")
            game.ready = True
            status, told = claim(server, "GET", body["id"] + "?namespace=default", Prefer="wait=30")
            expect((status, told["state"]) == (200, "Allocated"), told)


@case
def a_game_whose_refusals_come_over_connections_that_end_is_ended_for_them(folder):
    with CheckedGame() as game:
        with beside(folder, game.port) as server:
            server.wait_ready(1)
            status, body, _ = allocate(server, Prefer="respond-async", Agones_Alloc_Gate="http; period=20ms; failures=9; try-timeout=1m; timeout=10m")
            expect(status == 202, body)
            becomes(lambda: claim(server, "GET", body["id"] + "?namespace=default")[1].get("ended"), "failed", "end")
            expect((game.answered, game.connections) == (9, 5), f"{game.answered} checks over {game.connections} connections")


@case
def grpc_is_a_source_where_it_is_built_in_and_refused_with_its_field_elsewhere(folder):
    done = run("--gate", "grpc; path=/arena.Match", "--fleets", folder + "/none.yaml")
    built_in = "--gate" not in done.stderr
    with embedded(folder, 1) as server:
        server.wait_ready(1)
        status, body, _ = allocate(server, Agones_Alloc_Gate="grpc; timeout=200ms; on-timeout=ReturnToReady; servers=1")
        if built_in:
            expect((status, body["status"]["state"]) == (201, "Allocated"), body)  # the simulated game says so by itself
        else:
            expect("--gate.source: grpc: this server was built without gRPC" in done.stderr, done.stderr)
            expect(status == 422 and "options.gate.source" in body["message"], f"{status} {body}")
            expect(server.ready_servers() == 1, "nothing was taken")


@case
def a_game_calls_back_once_with_the_token_of_its_annotation(folder):
    with embedded(folder, 1, "--session-start", "never") as server:
        server.wait_ready(1)
        status, body, _ = allocate(server, Prefer="respond-async", Agones_Alloc_Gate="webhook")
        expect(status == 202, body)
        token = token_of(server)
        expect(server.ask("POST", f"/v1/gates/{'0' * 32}:ready")[0] == 404, "a guess")
        expect(server.ask("GET", f"/v1/gates/{token}:ready")[0] == 405, "a GET")
        expect(server.ask("POST", f"/v1/gates/{token}:ready")[0] == 204, "the call")
        expect(server.ask("POST", f"/v1/gates/{token}:ready")[0] == 404, "the same again")
        becomes(lambda: claim(server, "GET", body["id"] + "?namespace=default")[1]["state"], "Allocated", "state")


@case
def a_call_after_the_time_out_is_nobodys_and_its_token_is_gone(folder):
    with embedded(folder, 1, "--session-start", "never") as server:
        server.wait_ready(1)
        # The game calls when it is too late; then another session begins on it, with a token of its own.
        status, body, _ = allocate(server, Prefer="respond-async", Agones_Alloc_Gate="webhook; timeout=5s; on-timeout=ReturnToReady; servers=1")
        expect(status == 202, body)
        token = token_of(server)
        expect(token and len(token) == 32, token)
        becomes(lambda: claim(server, "GET", body["id"] + "?namespace=default")[1].get("ended"), "timed_out", "end")
        becomes(server.ready_servers, 1, "ready servers")
        expect(token_of(server) is None, "the token is gone")
        expect(server.ask("POST", f"/v1/gates/{token}:ready")[0] == 404, "too late")
        status, body, _ = allocate(server, Prefer="respond-async", Agones_Alloc_Gate="webhook; timeout=5m")
        expect(status == 202 and token_of(server) != token, "another token")
        expect(server.ask("POST", f"/v1/gates/{token}:ready")[0] == 404, "nor is it good for the next session")
        status, told = claim(server, "GET", body["id"] + "?namespace=default")
        expect((status, told["pending"]) == (200, True), told)
        expect(server.ask("POST", f"/v1/gates/{token_of(server)}:failed")[0] == 204, "its own one is")
        becomes(lambda: claim(server, "GET", body["id"] + "?namespace=default")[1].get("ended"), "failed", "end")


class Cluster(GameServerApi):
    """With Ready servers of these names."""

    def __init__(self, folder, *names):
        super().__init__(folder)
        self.servers = {name: {"kind": "GameServer", "apiVersion": "agones.dev/v1",
                               "metadata": {"name": name, "namespace": "default", "uid": f"{name}-uid", "resourceVersion": "100",
                                            "labels": {"agones.dev/fleet": "simple"}},
                               "spec": {}, "status": {"state": "Ready", "address": "127.0.0.1", "ports": [{"name": "default", "port": 7654}]}}
                        for name in names}

    def state(self, name):
        return self.servers[name]["status"]["state"]

    def allocator(self, *options):
        server = Running("--kubeconfig", str(self.kubeconfig), "--no-events", "--no-node-ranking", *options)
        becomes(lambda: server.ask("GET", "/ready")[0], 200, "it has seen the game servers")
        return server


@case
def a_game_calls_a_server_that_was_restarted_meanwhile(folder):
    with Cluster(folder, "gs-1") as cluster:
        with cluster.allocator("--gate-owner", "here") as server:
            status, body, _ = allocate(server, Prefer="respond-async", Agones_Alloc_Gate="webhook; timeout=10m")
            expect(status == 202 and cluster.state("gs-1") == "Reserved", body)
            token = cluster.servers["gs-1"]["metadata"]["annotations"]["agones-alloc.dev/gate-token"]
            server.stop(signal.SIGKILL)
        with cluster.allocator("--gate-owner", "here") as server:
            becomes(lambda: metric(server, "agones_alloc_gate_pending"), 1, "it carries on what is pending")
            status, told = claim(server, "GET", body["id"] + "?namespace=default")
            expect((status, told["pending"]) == (200, True), told)
            expect(server.ask("POST", f"/v1/gates/{'0' * 32}:ready")[0] == 404, "a guess")
            expect(server.ask("POST", f"/v1/gates/{token}:ready")[0] == 204, "the call")
            expect(server.ask("POST", f"/v1/gates/{token}:ready")[0] == 404, "the same again")
            status, told = claim(server, "GET", body["id"] + "?namespace=default", Prefer="wait=50")
            expect((status, told["state"]) == (200, "Allocated"), told)
            becomes(lambda: cluster.state("gs-1"), "Allocated", "state")
            expect("agones-alloc.dev/gate-token" not in cluster.servers["gs-1"]["metadata"]["annotations"], "the token is gone")
            server.stop(signal.SIGKILL)
        with cluster.allocator("--gate-owner", "here") as server:
            expect(server.ask("POST", f"/v1/gates/{token}:ready")[0] == 404, "nor is it good after another restart")


@case
def a_game_that_is_asked_over_grpc_is_ready_when_its_health_service_says_so(folder):
    if "--gate" in run("--gate", "grpc; path=/arena.Match", "--fleets", folder + "/none.yaml").stderr:
        return  # not built in; the case above has seen that it is refused
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    gate = "grpc; period=50ms; try-timeout=10s; timeout=5m"
    with beside(folder, port) as server:
        server.wait_ready(1)
        status, body, _ = allocate(server, Prefer="respond-async", Agones_Alloc_Gate=gate)
        expect(status == 202, body)
        status, told = claim(server, "GET", body["id"] + "?namespace=default", Prefer="wait=1")
        expect((status, told["pending"]) == (200, True), f"nobody listens there yet: {told}")
        # What starts there, and has the health service, might be a game as well.
        game_fleet = fleet_file(folder, 1, file="game.yaml")
        with Running("--fleets", game_fleet, "--grpc-listen", f"127.0.0.1:{port}") as game:
            status, told = claim(server, "GET", body["id"] + "?namespace=default", Prefer="wait=50")
            expect((status, told["state"]) == (200, "Allocated"), f"{told}\n{''.join(game.lines)}")
            # A service that it has not is refused, so many times in a row, and ends the wait.
            expect(claim(server, "POST", body["id"] + ":release?namespace=default")[0] == 200, "released")
            server.wait_ready(1)
            status, body, _ = allocate(server, Prefer="respond-async", Agones_Alloc_Gate=gate + "; path=/no.Such; servers=1; on-timeout=ReturnToReady")
            expect(status == 202, body)
            status, told = claim(server, "GET", body["id"] + "?namespace=default", Prefer="wait=50")
            expect((status, told.get("ended")) == (200, "failed"), told)


@case
def what_cannot_be_read_is_refused_with_its_field(folder):
    with embedded(folder, 1) as server:
        server.wait_ready(1)
        status, body, _ = allocate(server, Agones_Alloc_Gate="watch; timeout=soon")
        expect(status == 400 and "Agones-Alloc-Gate.timeout: Invalid value: \"soon\"" in body["message"], f"{status} {body}")
        status, body, _ = allocate(server, metadata={"annotations": {"agones-alloc.dev/gate": "http; host=10.0.0.7"}})
        expect(status == 400 and "Agones-Alloc-Gate.host" in body["message"], f"{status} {body}")
        expect(server.ready_servers() == 1, "nothing was taken")
    with embedded(folder, 1, "--no-gates") as server:
        server.wait_ready(1)
        status, body, _ = allocate(server, Agones_Alloc_Gate="watch")
        expect(status == 422 and "options.gate" in body["message"], f"{status} {body}")
        status, body, _ = allocate(server, Prefer="respond-async")
        expect((status, body["status"]["state"]) == (201, "Allocated"), "there is nothing to wait for")
    done = run("--gate", "watch; carrier=Ready", "--fleets", fleet_file(folder, 1))
    expect(done.returncode == 2 and "--gate.carrier" in done.stderr, done.stderr)


if __name__ == "__main__":
    sys.exit(kit.run_cases())
