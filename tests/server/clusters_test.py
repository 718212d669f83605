#!/usr/bin/env python3
"""Several of the built server, and endpoints that misbehave: who allocates where, and what a caller is told.

Usage: clusters_test.py PATH-OF-agones-alloc-server [WORD-OF-A-CASE]
Prints one line a case and a summary, and exits with 1 when a case failed. Needs Python and the openssl program.
"""
import sys

sys.dont_write_bytecode = True  # nothing is written into the source tree

import contextlib  # noqa: E402
import json  # noqa: E402
import signal  # noqa: E402
import socket  # noqa: E402
import threading  # noqa: E402
import time  # noqa: E402

import kit  # noqa: E402
from clusters_world import (MANY, Endpoint, World, allocating, answer, certificates, dead_port, near, policy, read_request,  # noqa: E402
                            states, wait_for_end)
from kit import KUBERNETES, PATIENCE, REST, case, expect, until, write_policies  # noqa: E402


class Relay(Endpoint):
    """Between a server and another one, `target()`: asks it for several clusters, whatever it is asked for; `seen` are the hops so far."""

    def __init__(self, w, target):
        self.target, self.seen = target, []
        super().__init__(w.place, None)
        w.started.append(self.close)

    def one(self, plain):
        with contextlib.suppress(OSError), self.context.wrap_socket(plain, server_side=True) as link:
            while got := read_request(link):
                fields = {name.lower(): text.strip() for name, _, text in (line.partition(":") for line in got[0].decode().split("\r\n")[1:])}
                kept = {name: text for name, text in fields.items() if name.startswith("agones-alloc-") or name == "idempotency-key"}
                self.seen.append(kept["agones-alloc-hops"])
                wish = {**json.loads(got[1]), "multiClusterSetting": {"enabled": True}}
                link.sendall(answer(*self.target().ask("POST", REST, wish, kept)))


def allocations(server):
    """How many requests it has ended."""
    return sum(float(line.split()[-1]) for line in server.series("agones_gameserver_allocations_duration_seconds_count"))


def forward(listener, port):
    """Each connection that a listener accepts, as it is, to a port of this machine."""
    def pump(source, to):
        with contextlib.suppress(OSError):
            while block := source.recv(65536):
                to.sendall(block)
        with contextlib.suppress(OSError):
            to.shutdown(socket.SHUT_WR)

    def serve():
        with contextlib.suppress(OSError):
            while True:
                link, _ = listener.accept()
                there = socket.create_connection(("127.0.0.1", port))
                for pair in ((link, there), (there, link)):
                    threading.Thread(target=pump, args=pair, daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()


@case
def the_local_cluster_first_then_the_remote_and_its_endpoint_is_the_source(w):
    west = w.server("west", 3, tls=True)
    here = w.server("here", 1, policies=[policy("here", 1, []), policy("west", 2, [near(west.port)])])
    first, second = here.allocate(), here.allocate()
    expect(first[1]["status"]["source"] == "local", first)
    expect(second[1]["status"]["source"] == near(west.port), second)
    expect(second[1]["metadata"]["name"] == second[1]["status"]["gameServerName"], second)
    status, text = here.ask("POST", REST, {"namespace": "default", "multiClusterSetting": {"enabled": True}})
    expect(status == 200 and json.loads(text)["source"] == near(west.port), text)
    expect(here.allocate({"spec": {}})[1]["status"]["state"] == "UnAllocated", "without several clusters nobody else is asked")
    here.allocate()
    expect(here.allocate()[1]["status"]["state"] == "UnAllocated", "everything is full")
    listed = json.loads(here.ask("GET", "/v1/clusters")[1])["clusters"]
    one = next(c for c in listed if c["name"] == "west")["endpoints"][0]
    expect(one["breaker"] == "closed" and one["lastOutcome"] == "exhausted", one)
    expect(one["connections"][0]["credentialVersion"] == 1 and one["connections"][0]["handshakes"] == 1, one)
    metrics = here.ask("GET", "/metrics")[1]
    expect('agones_alloc_cluster_calls_total{cluster="west"' in metrics and 'agones_alloc_credential_reads_total{' in metrics, metrics)
    expect('cluster_name="west"' in metrics, "allocations name their cluster")


@case
def nothing_available_with_each_code_that_a_remote_can_use(w):
    for code in (200, 400, 403, 404, 409, 429, 500, 503):
        west = w.server(f"west{code}", 0, "--http-unallocated-status-code", str(code), tls=True)
        here = w.server(f"here{code}", 1, policies=[policy("west", 1, [near(west.port)]), policy("here", 2, [])])
        started = time.monotonic()
        expect(states([here.allocate()]) == ["Allocated"], f"after code {code} the next cluster is asked")
        expect(time.monotonic() - started < 5, f"code {code} is final: there are no rounds")
        west.stop(), here.stop()
        w.started.clear()


@case
def one_of_three_dead_costs_its_connect_time_at_most_and_then_nothing(w):
    hole = socket.socket()  # bound and listening, but its queue is full: connections hang
    hole.bind(("127.0.0.1", 0))
    hole.listen(0)
    fillers = [socket.socket() for _ in range(4)]
    for one in fillers:
        one.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            one.connect(hole.getsockname())
    west = w.server("west", 50, tls=True)
    here = w.server("here", 0, "--remote-connect-timeout", "300ms",
                    policies=[policy("hole", 1, [near(hole.getsockname()[1])]), policy("gone", 2, [near(dead_port())]),
                              policy("west", 3, [near(west.port)])])
    took = []
    for number in range(24):
        started = time.monotonic()
        status, got = here.allocate()
        took.append(time.monotonic() - started)
        expect(status == 201 and got["status"]["state"] == "Allocated", got)
        time.sleep(0.1 if number > 3 else 0)  # beyond the breakers' first times
    expect(took[0] >= 0.25, f"the first one does pay: {took}")
    expect(max(took) < 0.3 + 1, f"the connect time-out is all that a dead cluster costs, on a slow machine, too: {took}")
    expect(sum(t > 0.25 for t in took) <= 3, f"after the breaker opens nobody pays, nor for a probe: {took}")
    for one in [hole, *fillers]:
        one.close()


@case
def an_endpoint_that_is_back_is_found_by_probes_that_allocate_nothing(w):
    port = dead_port()
    here = w.server("here", 0, policies=[policy("far", 1, [near(port)])])
    for _ in range(2):  # each with further rounds
        expect(here.allocate(query="?timeout=2s")[0] == 503, "nobody is there")
    expect(here.series("agones_alloc_cluster_breaker_open")[0].endswith(" 1"), "the breaker is open")

    def handle(link):
        link.sendall(answer(200, '{"gameServerName":"far"}') if far.methods[-1] == b"POST" else answer(501, "{}"))
        return True

    far = w.endpoint(handle, port=port)
    end = time.monotonic() + PATIENCE
    while here.series("agones_alloc_cluster_breaker_open")[0].endswith(" 1"):
        expect(time.monotonic() < end, "it is found again")
        time.sleep(0.05)
    expect(set(far.methods) == {b"GET"}, far.methods)
    expect(states([here.allocate()]) == ["Allocated"], "and called")
    expect(far.methods[-1] == b"POST", far.methods)


@case
def a_request_over_several_clusters_is_counted_once(w):
    west = w.server("west", 1, tls=True)
    here = w.server("here", 1, policies=[policy("here", 1, []), policy("west", 2, [near(west.port)])])
    expect(states(here.allocate() for _ in range(3)) == ["Allocated", "Allocated", "UnAllocated"], "here, there, nowhere")
    counts = here.series("agones_gameserver_allocations_duration_seconds_count")
    expect(sum(float(line.split()[-1]) for line in counts) == 3, counts)
    expect(all('is_multicluster="true"' in line for line in counts), counts)
    here.allocate({"spec": {}})
    alone = [line for line in here.series("agones_gameserver_allocations_duration_seconds_count") if 'is_multicluster="false"' in line]
    expect(len(alone) == 1 and alone[0].endswith(" 1"), alone)


@case
def a_request_waits_for_the_first_server_of_any_cluster(w):
    west = w.server("west", 1, tls=True)
    here = w.server("here", 1, policies=[policy("here", 1, []), policy("west", 2, [near(west.port)])])
    for name, holder, source in (("a", here, "local"), ("b", west, near(west.port))):
        got = here.allocate(headers={"Idempotency-Key": name})
        expect(got[1]["status"]["source"] == source, got)
        holder.claim = name
    for holder, source in ((here, "local"), (west, near(west.port))):
        got = []
        caller = threading.Thread(target=lambda: got.append(here.allocate(headers={"Prefer": "wait=50", "Idempotency-Key": f"w-{source}"})))
        caller.start()
        end = time.monotonic() + PATIENCE
        while not here.series("agones_alloc_requests_waiting ")[0].endswith(" 1"):
            expect(time.monotonic() < end and not got, f"it waits: {got}")
            time.sleep(0.01)
        status, text = holder.ask("POST", f"/v1/claims/{holder.claim}:release?namespace=default")
        expect(status == 200, text)
        caller.join()
        expect(got[0][0] == 201 and got[0][1]["status"]["source"] == source, got)
    started = time.monotonic()
    status, got = here.allocate(headers={"Prefer": "wait=1"})
    expect((status, got["status"]["state"]) == (201, "UnAllocated") and 1 <= time.monotonic() - started < 20, got)


@case
def a_new_connection_resumes_the_session_of_the_last_one(w):
    west = w.server("west", 5, "--idle-timeout", "100ms", tls=True)
    here = w.server("here", 0, policies=[policy("west", 1, [near(west.port)])])

    def connections():
        return json.loads(here.ask("GET", "/v1/clusters")[1])["clusters"][0]["endpoints"][0]["connections"][0]

    def allocate_anew():
        end = time.monotonic() + PATIENCE
        while connections()["open"]:
            expect(time.monotonic() < end, "the remote ends an unused connection")
            time.sleep(0.02)
        expect(states([here.allocate()]) == ["Allocated"], "a server")

    expect(states([here.allocate()]) == ["Allocated"], "a server")
    allocate_anew()
    expect((connections()["handshakes"], connections()["resumed"]) == (2, 1), connections())
    # With other certificates at the remote the session counts no more, and the call is served all the same.
    certificates(w.place)
    end = time.monotonic() + PATIENCE
    while "certificates were read again" not in west.text():
        expect(time.monotonic() < end, "it takes the new pair up")
        time.sleep(0.02)
    allocate_anew()
    expect(connections()["handshakes"] >= 3 and connections()["resumed"] == 1, connections())


@case
def all_dead_is_unavailable_with_every_attempt_and_within_the_deadline(w):
    here = w.server("here", 0, policies=[policy("east", 1, [near(dead_port())]), policy("west", 2, ["no-such-host.invalid"])])
    started = time.monotonic()
    status, got = here.allocate(query="?timeout=3s")
    expect(time.monotonic() - started < 4, "within the caller's deadline")
    expect(status == 503 and "no cluster available" in got["message"], got)
    expect("east at" in got["message"] and "connect: " in got["message"] and "resolve: " in got["message"], got)


@case
def no_policy_and_no_weight(w):
    here = w.server("here", 1, policies=[policy("west", 1, [near(1)], weight=0, labels={"a": "b"})])
    status, got = here.allocate()
    expect(status == 503 and "weight" in got["message"], got)
    body = {"spec": {"multiClusterSetting": {"enabled": True, "policySelector": {"matchLabels": {"a": "c"}}}}}
    status, got = here.allocate(body)
    expect(status == 500 and got["message"] == "no multi-cluster allocation policy is specified", got)
    status, text = here.ask("POST", REST, {"namespace": "none", "multiClusterSetting": {"enabled": True}})
    expect(status == 500 and json.loads(text)["code"] == 2, text)
    status, got = here.allocate(query="?dryRun=All")
    expect(status == 400 and "dryRun" in got["message"], got)


@case
def the_explicit_fallback_is_this_cluster(w):
    here = w.server("here", 1, "--fallback-local", policies=[policy("east", 1, [near(dead_port())])])
    expect(states([here.allocate(), ]) == ["Allocated"], "the fallback allocates here")


@case
def what_cannot_be_forwarded_is_refused_by_field(w):
    west = w.server("west", 1, tls=True)
    here = w.server("here", 0, policies=[policy("west", 1, [near(west.port)])])
    selector = {"matchExpressions": [{"key": "region", "operator": "NotIn", "values": ["us"]}]}
    status, got = here.allocate({"spec": {**MANY["spec"], "selectors": [selector]}})
    expect(status == 422 and "spec.selectors[0].matchExpressions[0]" in got["message"], got)
    knowing = policy("west", 1, [near(west.port)])
    knowing["metadata"]["annotations"]["agones-alloc.dev/match-expressions"] = "true"
    here = w.server("knowing", 0, policies=[knowing])
    for operator, state in (("NotIn", "UnAllocated"), ("In", "Allocated")):
        selector = {"matchExpressions": [{"key": "agones.dev/fleet", "operator": operator, "values": ["arena", "none"]}]}
        got = here.allocate({"spec": {**MANY["spec"], "selectors": [selector]}})
        expect(states([got]) == [state], (operator, got))


@case
def answers_that_get_lost_end_as_unknown_and_nobody_else_is_asked(w):
    def half(link):
        link.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{")
        return False

    def garbage(link):
        link.sendall(answer(200, "<html>"))
        return True

    def huge(link):
        link.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n" + b"x" * 2_000_000)
        return False

    def slow(link):
        link.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n")
        with contextlib.suppress(OSError):
            for _ in range(200):
                link.sendall(b" ")
                time.sleep(0.05)
        return False

    def reset(link):
        return False

    other = w.endpoint(lambda link: bool(link.sendall(answer(200, '{"gameServerName":"other"}'))) or True)
    for handle in (half, garbage, huge, slow, reset, wait_for_end):
        bad = w.endpoint(handle)
        here = w.server(handle.__name__, 0, "--remote-allocation-timeout", "1s",
                        policies=[policy("bad", 1, [near(bad.port)]), policy("other", 2, [near(other.port)])])
        status, got = here.allocate()
        expect(status == 504 and "fate is not known" in got["message"] and "request id" in got["message"], (handle.__name__, got))
        expect(bad.requests == 1 and other.requests == 0, f"{handle.__name__}: asked once, and nobody else")
        here.stop()
        w.started.pop()


@case
def an_endpoint_that_drops_connections_before_the_request_is_passed_over(w):
    west = w.server("west", 5, tls=True)
    silent = socket.create_server(("127.0.0.1", 0))  # accepts, and never speaks TLS
    here = w.server("here", 0, "--remote-connect-timeout", "300ms",
                    policies=[policy("west", 1, [near(silent.getsockname()[1]), near(dead_port()), near(west.port)])])
    status, got = here.allocate()
    expect(status == 201 and got["status"]["source"] == near(west.port), got)
    silent.close()


@case
def wrong_names_wrong_authorities_and_missing_secrets(w):
    west = w.server("west", 5, tls=True)
    for options, words in (({"host": "other.example"}, "hostname mismatch"), ({"secret": "none"}, "secret none"),
                           ({"secret": ""}, "unavailable")):
        here = w.server("here", 0, policies=[policy("west", 1, [near(west.port)], **options)])
        status, got = here.allocate(query="?timeout=2s")
        expect(status == 503 and words in got["message"], got)
        here.stop()
        w.started.pop()


@case
def certificates_of_clients_are_for_the_namespaces_they_were_given(w):
    certificates(w.place, "--client", "client", "--client", "guest")
    west = w.server("west", 5, "--allow-client", "CN:client=default,lobby", "--allow-client", "CN:guest=lobby", tls=True)
    expect(west.ask("POST", REST, {"namespace": "default"})[0] == 200, "the client may")
    status, text = west.ask("POST", REST, {"namespace": "default"}, client="guest")
    expect(status == 403 and json.loads(text)["code"] == 7, text)
    expect(west.ask("POST", KUBERNETES, {"spec": {}}, client="guest")[0] == 403, "nor over the other path")
    expect(west.ask("POST", REST, {"namespace": "default"}, client=None)[0] == 401, "nor without a certificate")
    expect(west.ask("GET", "/v1/clusters", client=None)[0] == 401, "clusters are not for everybody")
    here = w.server("here", 1, policies=[policy("west", 1, [near(west.port)], secret="guest"), policy("here", 2, [])])
    status, got = here.allocate()
    expect(status == 403 and "may not allocate" in got["message"], got)


@case
def the_gate_of_a_request_is_kept_to_by_whichever_cluster_hands_the_server_out(w):
    slow = w.server("slow", 3, "--session-start", "700ms", tls=True)
    dead = w.server("dead", 3, "--session-start", "never", tls=True)
    gate = {"Agones-Alloc-Gate": "watch; timeout=300ms; on-timeout=ReturnToReady; servers=2"}
    here = w.server("here", 1, "--session-start", "100ms", policies=[policy("slow", 1, [near(slow.port)])])
    started = time.monotonic()
    status, got = here.allocate(headers={"Agones-Alloc-Gate": "watch; timeout=40s"})
    expect(status == 201 and got["status"]["source"] == near(slow.port), got)
    expect(time.monotonic() - started >= 0.6, "it was waited for there")
    expect(slow.series('agones_alloc_gate_ended_total{end="ready"')[0].endswith(" 1"), "and counted there")
    started = time.monotonic()
    expect(here.allocate(headers={"Agones-Alloc-Gate": "off"})[0] == 201, "a request can do without")
    status, got = here.allocate(headers={"Agones-Alloc-Gate": "watch; timeout=soon"})
    expect(status == 400 and "Agones-Alloc-Gate.timeout" in got["message"], got)
    # Who asks for an answer at once waits where the server is another cluster's: there is nobody here who could tell of it.
    status, got = here.allocate(headers={"Agones-Alloc-Gate": "watch; timeout=40s", "Prefer": "respond-async"})
    expect(status == 201 and got["status"]["source"] == near(slow.port), got)
    # Games that do not get ready are none that this cluster has; the next one's are waited for, too.
    next_one = w.server("next", 1, "--session-start", "100ms", policies=[policy("dead", 1, [near(dead.port)]), policy("here", 2, [])])
    status, got = next_one.allocate(headers={**gate, "Agones-Alloc-Gate": gate["Agones-Alloc-Gate"].replace("300ms", "2s")}, query="?timeout=50s")
    expect(status == 201 and got["status"]["source"] == "local", got)
    expect(dead.series('agones_alloc_gate_ended_total{end="timed_out"')[0].endswith(" 2"), "two were tried there")
    dead.wait_ready(3)
    status, got = next_one.allocate(headers=gate, query="?timeout=50s")
    expect((status, got["status"]["state"]) == (201, "UnAllocated"), got)


@case
def loops_are_stopped(w):
    west = w.server("west", 5, tls=True)
    expect(west.ask("POST", REST, {"namespace": "default"}, {"Agones-Alloc-Hops": "4"})[0] == 200, "at the limit it is served")
    expect(west.ask("POST", REST, {"namespace": "default"}, {"Agones-Alloc-Hops": "5"})[0] == 508, "beyond it is not")
    expect(west.ask("POST", REST, {"namespace": "default"}, {"Agones-Alloc-Hops": "x"})[0] == 400, "nonsense is refused")
    here = w.server("here", 0, policies=[policy("west", 1, [near(west.port)])])
    status, got = here.allocate(headers={"Agones-Alloc-Hops": "4"})
    expect(status == 503 and "forwarded too often" in got["message"], got)
    seen = []

    def remember(link):
        link.sendall(answer(200, '{"gameServerName":"far"}'))
        return True

    far = w.endpoint(remember)
    far.handle = lambda link: seen.append(1) or remember(link)
    again = w.server("again", 0, policies=[policy("far", 1, [near(far.port)])])
    expect(again.allocate(headers={"Agones-Alloc-Hops": "3"})[0] == 201 and seen == [1], "one below the limit is forwarded")


@case
def two_clusters_whose_policies_name_each_other_ask_each_other_once(w):
    one = w.server("one", 0, tls=True, policies=[])
    two = w.server("two", 0, tls=True, policies=[policy("two", 1, []), policy("one", 2, [near(one.port)])])
    one.set_policies([policy("one", 1, []), policy("two", 2, [near(two.port)])])
    one.process.send_signal(signal.SIGHUP)
    until(lambda: '"two"' in one.ask("GET", "/v1/clusters")[1], "it reads its policies again")
    wish = {"namespace": "default", "multiClusterSetting": {"enabled": True}}
    for asked, other in ((one, two), (two, one)):
        for path, body in ((KUBERNETES, MANY), (REST, wish)):
            before = allocations(asked), allocations(other)
            status, text = asked.ask("POST", path, body)
            expect(status == 429 or json.loads(text)["status"]["state"] == "UnAllocated", f"nobody has one: {status} {text}")
            expect((allocations(asked), allocations(other)) == (before[0] + 1, before[1] + 1), "the other one does not ask back")
    for server, name in ((one, "two"), (two, "one")):
        calls = server.series(f'agones_alloc_cluster_calls_total{{cluster="{name}"')
        expect(sum(float(line.split()[-1]) for line in calls) == 2, calls)


@case
def a_loop_that_somebody_in_between_makes_ends_at_the_limit(w):
    # Each forwards to the other, through somebody who asks for several clusters again.
    to_one, to_two = Relay(w, lambda: one), Relay(w, lambda: two)
    one = w.server("one", 0, tls=True, policies=[policy("two", 1, [near(to_two.port)])])
    two = w.server("two", 0, tls=True, policies=[policy("one", 1, [near(to_one.port)])])
    started = time.monotonic()
    status, got = one.allocate(query="?timeout=20s")
    expect(status == 503 and "no cluster available: one at" in got["message"], got)
    expect(time.monotonic() - started < 20, "long before its deadline")
    expect(set(to_two.seen) == {"1", "3"} and set(to_one.seen) == {"2", "4"}, f"{to_two.seen} {to_one.seen}")
    expect(len(to_two.seen + to_one.seen) < 100, "and rounds do not multiply without an end")


@case
def a_remote_may_be_at_an_address_of_ipv6(w):
    with socket.create_server(("::1", 0), family=socket.AF_INET6) as listener:
        place = f"[::1]:{listener.getsockname()[1]}"
        west = w.server("west", 1, tls=True)
        forward(listener, west.port)
        here = w.server("here", 0, policies=[policy("west", 1, [place])])
        status, got = here.allocate()
        expect(status == 201 and got["status"]["source"] == place, got)
        expect(here.allocate()[1]["status"]["state"] == "UnAllocated", "it had one")


@case
def a_broken_bundle_is_counted_and_the_last_good_one_stays_in_use(w):
    west = w.server("west", 9, tls=True)
    here = w.server("here", 0, policies=[policy("west", 1, [near(west.port)])])

    def reads(result):
        lines = here.series("agones_alloc_credential_reads_total")
        return sum(float(line.split()[-1]) for line in lines if f'result="{result}"' in line and 'secret="' in line)

    expect(states([here.allocate()]) == ["Allocated"], "a server")
    expect(reads("good") >= 1 and reads("bad") == 0, here.series("agones_alloc_credential_reads_total"))
    pair = w.place / "certs/clients/client"
    whole = (pair / "tls.crt").read_text()
    for broken in ("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", ""):
        before = reads("bad")
        (pair / "tls.crt").write_text(broken)
        time.sleep(0.3)  # beyond --client-secret-age: the next call has it read again
        expect(states([here.allocate()]) == ["Allocated"], "with the last good one")
        until(lambda: reads("bad") > before, lambda: here.series("agones_alloc_credential_reads_total"))
    expect("the last good ones stay in use" in here.text(), "and it is said")
    (pair / "tls.crt").write_text(whole)
    before = reads("good")
    until(lambda: states([here.allocate()]) and reads("good") > before, lambda: here.series("agones_alloc_credential_reads_total"))


@case
def policies_may_be_in_the_files_of_a_folder(w):
    west, east = w.server("west", 2, tls=True), w.server("east", 2, tls=True)
    folder = w.place / "policies"
    folder.mkdir()
    write_policies(folder / "10-west.yaml", [policy("west", 1, [near(west.port)])])
    write_policies(folder / "20-east.yaml", [policy("east", 2, [near(east.port)])])
    (folder / "README.md").write_text("kind: [")  # is none
    here = w.server("here", 0, "--policies", str(folder), "--client-secrets", str(w.place / "certs/clients"), "--no-remote-fleets")
    sources = [here.allocate()[1]["status"]["source"] for _ in range(3)]
    expect(sources == [near(west.port), near(west.port), near(east.port)], sources)
    (folder / "10-west.yaml").unlink()
    here.process.send_signal(signal.SIGHUP)
    until(lambda: '"west"' not in here.ask("GET", "/v1/clusters")[1], "it reads the folder again")
    expect(here.allocate()[1]["status"]["source"] == near(east.port), "the other file's is left")
    expect(here.allocate()[1]["status"]["state"] == "UnAllocated", "and full")


@case
def a_caller_who_leaves_takes_the_remote_call_along(w):
    far = w.endpoint(wait_for_end)
    here = w.server("here", 0, policies=[policy("far", 1, [near(far.port)])])
    link = here.connection()
    link.request("POST", KUBERNETES, json.dumps(MANY), {"Content-Type": "application/json"})
    end = time.monotonic() + PATIENCE
    while far.requests == 0 and time.monotonic() < end:
        time.sleep(0.01)
    link.sock.close()
    link.close()
    expect(far.left.wait(10), "the connection to the remote is closed")


@case
def policies_change_while_requests_run(w):
    west = w.server("west", 500, tls=True)
    here = w.server("here", 0, policies=[policy("west", 1, [near(west.port)])])
    wrong, done = [], threading.Event()

    def ask():
        while not done.is_set():
            status, got = here.allocate()
            if status not in (201, 500):
                wrong.append(got)

    callers = [threading.Thread(target=ask) for _ in range(4)]
    for one in callers:
        one.start()
    for i in range(6):
        here.set_policies([policy("west", 1, [near(west.port)])] if i % 2 else [])
        here.process.send_signal(signal.SIGHUP)
        time.sleep(0.1)
    here.policies.write_text("kind: [")
    here.process.send_signal(signal.SIGHUP)
    time.sleep(0.2)
    done.set()
    for one in callers:
        one.join()
    expect(not wrong, wrong[:1])
    expect("the last good ones stay in use" in here.text(), "a broken file is said")
    expect(here.allocate()[0] == 201, "and the last good policies are in use")


@case
def certificates_of_both_sides_rotate_under_load(w):
    west = w.server("west", 4000, tls=True)
    here = w.server("here", 0, policies=[policy("west", 1, [near(west.port)])])
    with allocating(here):
        for _ in range(5):
            certificates(w.place)
            time.sleep(0.4)
        # A key that does not belong to its certificate: the old pair stays in use.
        pair = w.place / "certs/clients/client"
        whole = (pair / "tls.key").read_text()
        (pair / "tls.key").write_text((w.place / "certs/server/tls.key").read_text())
        time.sleep(0.5)
        (pair / "tls.key").write_text(whole)
        time.sleep(0.4)
    expect("the last good ones stay in use" in here.text(), "the broken pair is said")
    one = json.loads(here.ask("GET", "/v1/clusters")[1])["clusters"][0]["endpoints"][0]["connections"][0]
    expect(one["credentialVersion"] >= 3, one)


if __name__ == "__main__":
    sys.exit(kit.run_cases(World))
