#!/usr/bin/env python3
"""Several of the built server that allocate for each other over gRPC, and gRPC endpoints that misbehave.

Usage: remote_test.py PATH-OF-agones-alloc-server [WORD-OF-A-CASE]
Prints one line a case and a summary, and exits with 1 when a case failed. Needs Python and the openssl program.
"""
import pathlib
import sys

sys.dont_write_bytecode = True  # nothing is written into the source tree
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "server"))

import contextlib  # noqa: E402
import json  # noqa: E402
import signal  # noqa: E402
import socket  # noqa: E402
import struct  # noqa: E402
import threading  # noqa: E402
import time  # noqa: E402

import http2  # noqa: E402
import kit  # noqa: E402
from clusters_world import MANY, allocating, certificates, dead_port, near, policy, states  # noqa: E402
from grpc_world import World, endpoint_of, over_grpc, wait_until  # noqa: E402
from kit import KUBERNETES, PATIENCE, REST, case, expect  # noqa: E402


@case
def the_local_cluster_first_then_the_remote_and_its_endpoint_is_the_source(w):
    west = w.remote("west", 3)
    place = over_grpc(west.grpc_port)
    here = w.server("here", 1, policies=[policy("here", 1, []), policy("west", 2, [place])])
    first, second = here.allocate(), here.allocate()
    expect(first[1]["status"]["source"] == "local", first)
    expect(second[1]["status"]["source"] == place, second)
    status = second[1]["status"]
    expect(status["ports"][0]["port"] > 0 and status["address"] and status["nodeName"], status)
    code, text = here.ask("POST", REST, {"namespace": "default", "multiClusterSetting": {"enabled": True}, "metadata": {"labels": {"a": "b"}}})
    expect(code == 200 and json.loads(text)["source"] == place and json.loads(text)["metadata"]["labels"]["a"] == "b", text)
    here.allocate()
    expect(here.allocate()[1]["status"]["state"] == "UnAllocated", "everything is full")
    one = endpoint_of(here, "west")
    expect(one["breaker"] == "closed" and one["lastOutcome"] == "exhausted", one)
    link = one["connections"][0]
    expect((link["protocol"], link["credentialVersion"], link["handshakes"], link["open"]) == ("grpc", 1, 1, 1), link)
    metrics = here.ask("GET", "/metrics")[1]
    expect(f'endpoint="{place}"' in metrics and 'agones_alloc_credential_reads_total{' in metrics, metrics)


@case
def endpoints_that_do_not_say_are_called_as_was_chosen(w):
    west = w.remote("west", 9)
    rest, grpc = near(west.port), near(west.grpc_port)
    here = w.server("here", 0, "--remote-protocol", "grpc", policies=[policy("west", 1, [grpc])])
    expect(here.allocate()[1]["status"]["source"] == grpc, "a bare endpoint is gRPC")
    expect(endpoint_of(here, "west")["connections"][0]["protocol"] == "grpc", "by the word of the option")
    here.set_policies([policy("west", 1, ["https://" + rest])])
    here.process.send_signal(signal.SIGHUP)
    wait_until(lambda: "policies were read again" in here.text(), "it reads them")
    expect(here.allocate()[1]["status"]["source"] == "https://" + rest, "https:// is REST")
    other = w.server("other", 0, policies=[policy("west", 1, [rest])])
    other.allocate()
    expect(endpoint_of(other, "west")["connections"][0]["protocol"] == "rest", "and without the option a bare one, too")


@case
def nothing_available_with_each_code_that_a_remote_can_use(w):
    for code in (200, 400, 403, 404, 409, 429, 500, 503):
        west = w.remote(f"west{code}", 0, "--http-unallocated-status-code", str(code))
        here = w.server(f"here{code}", 1, policies=[policy("west", 1, [over_grpc(west.grpc_port)]), policy("here", 2, [])])
        expect(states([here.allocate()]) == ["Allocated"], f"after code {code} the next cluster is asked")
        west.stop(), here.stop()
        w.started.clear()


@case
def what_does_not_validate_ends_the_search(w):
    other = w.peer(lambda peer, link, stream: http2.answer(link, stream, b"\x12\x05other"))
    for code in (3, 422):  # as it should be, and Agones'
        bad = w.peer(lambda peer, link, stream, code=code: http2.refuse(link, stream, code, "spec.priorities: too many"))
        here = w.server(f"here{code}", 0, policies=[policy("bad", 1, [over_grpc(bad.port)]), policy("other", 2, [over_grpc(other.port)])])
        status, got = here.allocate()
        expect(status == 422 and "spec.priorities: too many" in got["message"], got)
    selector = {"matchExpressions": [{"key": "region", "operator": "NotIn", "values": ["us"]}]}
    status, got = here.allocate({"spec": {**MANY["spec"], "selectors": [selector]}})
    expect(status == 422 and "spec.selectors[0].matchExpressions[0]" in got["message"] and bad.calls == 1, got)
    expect(other.calls == 0, "nobody else is asked")


@case
def a_remote_that_is_killed_is_passed_over_and_found_again(w):
    west, east = w.remote("west", 5), w.remote("east", 5)
    here = w.server("here", 0, policies=[policy("west", 1, [over_grpc(west.grpc_port)]), policy("east", 2, [over_grpc(east.grpc_port)])])
    expect(here.allocate()[1]["status"]["source"] == over_grpc(west.grpc_port), "west goes first")
    west.process.kill()
    west.process.wait()
    status, got = here.allocate()
    if status == 504:  # sent before its end was noticed here: it may have been executed
        status, got = here.allocate()
    expect(status == 201 and got["status"]["source"] == over_grpc(east.grpc_port), got)
    expect(states(here.allocate() for _ in range(3)) == ["Allocated"] * 3, "nobody misses it")
    back = w.server("back", 5, "--grpc-listen", f"127.0.0.1:{west.grpc_port}", tls=True)
    expect(back.port, "it listens")

    def found():
        got = here.allocate()[1]
        return got.get("status", {}).get("source") == over_grpc(west.grpc_port)

    wait_until(found, "it is found again by probes")


@case
def all_dead_is_unavailable_with_every_attempt_and_within_the_deadline(w):
    here = w.server("here", 0, policies=[policy("east", 1, [over_grpc(dead_port())]), policy("west", 2, ["grpc://no-such-host.invalid"])])
    started = time.monotonic()
    status, got = here.allocate(query="?timeout=3s")
    expect(time.monotonic() - started < 5, "within the caller's deadline")
    expect(status == 503 and "no cluster available" in got["message"], got)
    expect("east at grpc://" in got["message"] and "west at grpc://" in got["message"], got)


@case
def one_that_stops_says_so_and_the_next_cluster_is_asked(w):
    west, east = w.remote("west", 5, "--readiness-shutdown-duration", "30s"), w.remote("east", 5)
    here = w.server("here", 0, policies=[policy("west", 1, [over_grpc(west.grpc_port)]), policy("east", 2, [over_grpc(east.grpc_port)])])
    # Before there is a connection: its health service is asked first.
    west.process.send_signal(signal.SIGTERM)
    wait_until(lambda: '"stopping"' in west.text(), west.text())
    wait_until(lambda: west.ask("GET", "/ready")[0] != 200, "it is ready")
    expect(here.allocate()[1]["status"]["source"] == over_grpc(east.grpc_port), "one that drains is passed over")


@case
def answers_that_get_lost_end_as_unknown_and_nobody_else_is_asked(w):
    def reset(peer, link, stream):
        link.sendall(http2.frame(http2.RST_STREAM, 0, stream, struct.pack(">I", 2)))

    def half(peer, link, stream):
        http2.begin(link, stream)
        link.sendall(http2.frame(http2.DATA, 0, stream, http2.message(b"\x12\x03far", 500)))
        return False

    def no_trailers(peer, link, stream):
        http2.begin(link, stream)
        link.sendall(http2.frame(http2.DATA, http2.END_STREAM, stream, http2.message(b"\x12\x03far")))

    def no_message(peer, link, stream):
        http2.begin(link, stream)
        http2.end(link, stream, 0)

    def garbage(peer, link, stream):
        http2.answer(link, stream, b"<html>")

    def junk(peer, link, stream):
        link.sendall(b"\xff" * 4096)

    def huge(peer, link, stream):
        http2.begin(link, stream)
        link.sendall(http2.frame(http2.DATA, 0, stream, http2.message(b"x" * 1000, 1_000_000_000)))

    def closed(peer, link, stream):
        return False

    def never(peer, link, stream):
        pass

    def slow(peer, link, stream):
        http2.begin(link, stream)
        for byte in http2.message(b"\x12\x03far", 500)[:60]:
            link.sendall(http2.frame(http2.DATA, 0, stream, bytes([byte])))
            time.sleep(0.05)

    def unavailable(peer, link, stream):
        http2.refuse(link, stream, 14, "upstream reset")

    def many_fields(peer, link, stream):
        http2.begin(link, stream)
        more = http2.fields(*[(f"x-{i}", "y" * 100) for i in range(140)])
        link.sendall(http2.frame(http2.HEADERS, http2.END_HEADERS | http2.END_STREAM, stream, http2.fields(("grpc-status", "8")) + more))

    other = w.peer(lambda peer, link, stream: http2.answer(link, stream, b"\x12\x05other"))
    for handle in (reset, half, no_trailers, no_message, garbage, junk, huge, closed, never, slow, unavailable, many_fields):
        bad = w.peer(handle)
        here = w.server(handle.__name__, 0, "--remote-allocation-timeout", "3s",
                        policies=[policy("bad", 1, [over_grpc(bad.port)]), policy("other", 2, [over_grpc(other.port)])])
        status, got = here.allocate()
        expect(status == 504 and "fate is not known" in got["message"] and "request id" in got["message"], (handle.__name__, got))
        expect(bad.calls == 1 and other.calls == 0, f"{handle.__name__}: asked once, and nobody else: {bad.calls}, {other.calls}")
        here.stop()
        w.started.pop()


@case
def what_was_not_executed_goes_elsewhere(w):
    def refused_stream(peer, link, stream):
        link.sendall(http2.frame(http2.RST_STREAM, 0, stream, struct.pack(">I", http2.REFUSED_STREAM)))

    def told(peer, link, stream):
        http2.refuse(link, stream, 14, "no room", ("retry-after", "1"))

    def unimplemented(peer, link, stream):
        http2.refuse(link, stream, 12, "no such service")

    def looped(peer, link, stream):
        http2.refuse(link, stream, 9, "forwarded too often")

    other = w.peer(lambda peer, link, stream: http2.answer(link, stream, b"\x12\x05other"))
    for handle in (refused_stream, told, unimplemented, looped):
        bad = w.peer(handle)
        here = w.server(handle.__name__, 0, policies=[policy("bad", 1, [over_grpc(bad.port)]), policy("other", 2, [over_grpc(other.port)])])
        status, got = here.allocate()
        expect(status == 201 and got["status"]["gameServerName"] == "other", (handle.__name__, got))
        here.stop()
        w.started.pop()


@case
def a_lost_answer_is_asked_for_again_only_under_the_same_id(w):
    west = w.remote("west", 3)
    here = w.server("here", 0, "--remote-allocation-timeout", "1s", "--remote-repeats", "50",
                    policies=[policy("west", 1, [over_grpc(west.grpc_port)])])
    expect(states([here.allocate()]) == ["Allocated"], "there is a connection")
    west.process.send_signal(signal.SIGSTOP)
    got = []
    caller = threading.Thread(target=lambda: got.append(here.allocate(headers={"Idempotency-Key": "match-7"}, query="?timeout=50s")))
    caller.start()
    wait_until(lambda: endpoint_of(here, "west")["calls"] >= 2, "the answer is missed, and asked for again")
    west.process.send_signal(signal.SIGCONT)
    caller.join()
    expect(got[0][0] == 201 and got[0][1]["status"]["state"] == "Allocated", got)
    again = here.allocate(headers={"Idempotency-Key": "match-7"})
    expect(again[1]["status"]["gameServerName"] == got[0][1]["status"]["gameServerName"], again)
    expect(states(here.allocate() for _ in range(2)) == ["Allocated", "UnAllocated"], "one server for one request")


@case
def wrong_names_wrong_authorities_and_missing_secrets(w):
    west = w.remote("west", 5)
    for options, words in (({"host": "other.example"}, "failed to connect"), ({"secret": "none"}, "secret none"),
                           ({"secret": ""}, "unavailable")):
        here = w.server("here", 0, policies=[policy("west", 1, [over_grpc(west.grpc_port)], **options)])
        status, got = here.allocate(query="?timeout=2s")
        expect(status == 503 and words in got["message"], got)
        here.stop()
        w.started.pop()


@case
def who_may_not_allocate_there_is_told(w):
    certificates(w.place, "--client", "client", "--client", "guest")
    west = w.remote("west", 5, "--allow-client", "CN:client=default", "--allow-client", "CN:guest=lobby")
    here = w.server("here", 1, policies=[policy("west", 1, [over_grpc(west.grpc_port)], secret="guest"), policy("here", 2, [])])
    status, got = here.allocate()
    expect(status == 403 and "may not allocate" in got["message"], got)


@case
def ports_that_are_no_grpc_are_passed_over(w):
    west = w.remote("west", 5)
    silent = socket.create_server(("127.0.0.1", 0))  # accepts, and never speaks TLS
    rest = near(west.port).replace("127", "grpc://127")  # HTTP/1.1 over TLS
    here = w.server("here", 0, "--remote-connect-timeout", "500ms",
                    policies=[policy("west", 1, [over_grpc(silent.getsockname()[1]), rest, over_grpc(dead_port()), over_grpc(west.grpc_port)])])
    status, got = here.allocate()
    expect(status == 201 and got["status"]["source"] == over_grpc(west.grpc_port), got)
    silent.close()


@case
def loops_are_stopped(w):
    west = w.remote("west", 5)
    here = w.server("here", 0, "--max-hops", "6", policies=[policy("west", 1, [over_grpc(west.grpc_port)])])
    expect(here.allocate(headers={"Agones-Alloc-Hops": "3"})[0] == 201, "at the remote's limit it is served")
    status, got = here.allocate(headers={"Agones-Alloc-Hops": "4"})
    expect(status == 503 and "forwarded too often" in got["message"], got)
    status, got = here.allocate(headers={"Agones-Alloc-Hops": "6"})
    expect(status == 503 and "not forwarded" in got["message"], got)


@case
def a_caller_who_leaves_takes_the_remote_call_along(w):
    far = w.peer(lambda peer, link, stream: None)
    here = w.server("here", 0, policies=[policy("far", 1, [over_grpc(far.port)])])
    link = here.connection()
    link.request("POST", KUBERNETES, json.dumps(MANY), {"Content-Type": "application/json"})
    wait_until(lambda: far.calls == 1, "it is called")
    link.sock.close()
    link.close()
    expect(far.left.wait(PATIENCE) and far.resets == 1, "the call is reset")


@case
def certificates_of_both_sides_rotate_under_load(w):
    west = w.remote("west", 4000)
    here = w.server("here", 0, policies=[policy("west", 1, [over_grpc(west.grpc_port)])])
    with allocating(here):
        for round_ in range(5):
            certificates(w.place)
            wait_until(lambda number=round_ + 2: endpoint_of(here, "west")["connections"][0]["credentialVersion"] >= number, "it is read")
            time.sleep(0.2)
    # A key that does not belong to its certificate: the old pair stays in use.
    (w.place / "certs/clients/client/tls.key").write_text((w.place / "certs/server/tls.key").read_text())

    def said():
        with contextlib.suppress(KeyError):
            expect(states([here.allocate()]) == ["Allocated"], "the last good pair is used")
        return "the last good ones stay in use" in here.text()

    wait_until(said, "the broken pair is said")


if __name__ == "__main__":
    sys.exit(kit.run_cases(World))
