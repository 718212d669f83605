#!/usr/bin/env python3
"""Ids, waiting and claims as a matchmaker meets them: over HTTP, against the built server on embedded fleets.

Usage: claims_test.py PATH-OF-agones-alloc-server [WORD-OF-A-CASE]
Prints one line a case and a summary, and exits with 1 when a case failed. Needs nothing but Python.
"""
import contextlib
import http.client
import json
import pathlib
import re
import sys
import threading
import time

sys.dont_write_bytecode = True  # nothing is written into the source tree

import kit  # noqa: E402
from kit import FLEET, KUBERNETES, PATIENCE, REST, Running, case, expect, fleet_file  # noqa: E402


def allocate(server, spec=None, query="", **fields):
    """(status, body, answer) of an allocation over the Kubernetes path; fields are header fields."""
    headers = {"Content-Type": "application/json", **{name.replace("_", "-"): value for name, value in fields.items()}}
    status, text, answer = server.ask("POST", KUBERNETES + query, json.dumps({"spec": spec or {}}), headers)
    return status, json.loads(text), answer


def name_of(answered):
    status, body, _ = answered
    expect((status, body["status"]["state"]) == (201, "Allocated"), f"{status} {body}")
    return body["status"]["gameServerName"]


def claim(server, method, path):
    status, text, _ = server.ask(method, "/v1/claims/" + path)
    return status, json.loads(text)


def metric(server, name):
    return float(re.search(rf"^{name} (\S+)", server.ask("GET", "/metrics")[1], re.M).group(1))


def waiting(server):
    return int(metric(server, "agones_alloc_requests_waiting"))


def becomes(read, wanted, what):
    give_up = time.monotonic() + PATIENCE
    while (found := read()) != wanted:
        expect(time.monotonic() < give_up, f"{what}: {found}, not {wanted}")
        time.sleep(0.02)


def embedded(folder, replicas, *options):
    """No session ends by itself, no server takes time to start."""
    return Running("--fleets", fleet_file(folder, replicas), "--session-length", "never", *options)


@case
def the_same_id_gets_the_same_server_and_another_body_is_refused(folder):
    with embedded(folder, 3) as server:
        server.wait_ready(3)
        first = allocate(server, Idempotency_Key="match-1")
        expect(first[2].getheader("Agones-Alloc-Claim") == "match-1", "the answer names the claim")
        expect(first[2].getheader("Agones-Alloc-Repeated") is None, "it is the first")
        again = allocate(server, Idempotency_Key="match-1")
        expect(name_of(again) == name_of(first), "the same server")
        expect(again[2].getheader("Agones-Alloc-Repeated") == "true", "and says that it is")
        other = {"selectors": [{"matchLabels": {"a": "b"}}]}
        status, body, _ = allocate(server, other, Idempotency_Key="match-1")
        expect(status == 422 and "was used for another request" in body["message"], f"{status} {body}")
        expect(name_of(allocate(server, Idempotency_Key="match-2")) != name_of(first), "another id, another server")
        wish = json.dumps({"namespace": "default"})
        names = set()
        for _ in range(2):
            status, text, _ = server.ask("POST", REST, wish, {"Idempotency-Key": "match-3"})
            expect(status == 200, text)
            names.add(json.loads(text)["gameServerName"])
        expect(len(names) == 1, "over REST, too")
        status, body, _ = allocate(server)
        expect(body["status"]["state"] == "UnAllocated", "three servers, three ids")


@case
def many_at_once_with_one_id_are_one_allocation(folder):
    with embedded(folder, 10) as server:
        server.wait_ready(10)
        names = []

        def one():
            names.append(name_of(allocate(server, Idempotency_Key="match-1")))

        threads = [threading.Thread(target=one) for _ in range(10)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        expect(len(names) == 10 and len(set(names)) == 1, str(names))
        expect(server.ready_servers() >= 9, "no other server was taken")


@case
def who_waits_gets_the_server_that_is_given_back_at_once(folder):
    with embedded(folder, 1) as server:
        server.wait_ready(1)
        held = name_of(allocate(server, Idempotency_Key="held"))
        got = []

        def wait():
            started = time.monotonic()
            answered = allocate(server, Prefer="wait=30", Idempotency_Key="waits")
            got.append((name_of(answered), time.monotonic() - started, answered[2].getheader("Preference-Applied")))

        thread = threading.Thread(target=wait)
        thread.start()
        becomes(lambda: waiting(server), 1, "requests that wait")
        released = time.monotonic()
        expect(claim(server, "POST", "held:release?namespace=default")[0] == 200, "released")
        thread.join(PATIENCE)
        expect(time.monotonic() - released < 10, "long before its time is up")
        expect(got and got[0][0] == held and got[0][2] == "wait=30", str(got))
        becomes(lambda: waiting(server), 0, "requests that wait")


@case
def who_leaves_while_waiting_leaves_nothing_behind(folder):
    with embedded(folder, 1) as server:
        server.wait_ready(1)
        allocate(server, Idempotency_Key="held")
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
        connection.request("POST", KUBERNETES, json.dumps({"spec": {}}), {"Content-Type": "application/json", "Prefer": "wait=30"})
        becomes(lambda: waiting(server), 1, "requests that wait")
        connection.close()
        becomes(lambda: waiting(server), 0, "requests that wait")
        expect(claim(server, "POST", "held:release?namespace=default")[0] == 200, "released")
        becomes(server.ready_servers, 1, "ready servers")
        name_of(allocate(server))


@case
def the_time_to_wait_ends_and_is_bounded(folder):
    with embedded(folder, 1, "--max-wait", "1s") as server:
        server.wait_ready(1)
        allocate(server)
        started = time.monotonic()
        status, body, answer = allocate(server, Prefer="respond-async, wait=3600")
        expect((status, body["status"]["state"]) == (201, "UnAllocated"), f"{status} {body}")
        expect(0.9 <= time.monotonic() - started < 20, "after a second")
        expect(answer.getheader("Preference-Applied") == "wait=1", "and says so")
        expect(answer.getheader("Agones-Alloc-Breakdown"), "with the breakdown")


@contextlib.contextmanager
def one_that_waits(server):
    """A call that waits meanwhile for the only server, which is held by the claim `held`; yields where its answer will be."""
    name_of(allocate(server, Idempotency_Key="held"))
    got = []
    thread = threading.Thread(target=lambda: got.append(allocate(server, Prefer="wait=50", Idempotency_Key="waits")))
    thread.start()
    becomes(lambda: waiting(server), 1, "requests that wait")
    yield got
    expect(not got, f"it waits all the time: {got}")
    expect(claim(server, "POST", "held:release?namespace=default")[0] == 200, "released")
    thread.join(PATIENCE)
    name_of(got[0])


@case
def who_finds_the_queue_full_is_told_contention_and_when_to_come_back(folder):
    with embedded(folder, 1, "--max-waiting", "1") as server:
        server.wait_ready(1)
        with one_that_waits(server):
            status, body, answer = allocate(server, Prefer="wait=50")
            expect((status, body["status"]["state"]) == (201, "Contention"), f"{status} {body}")
            expect(int(answer.getheader("Retry-After")) >= 1, "and says when to come back")
            expect(allocate(server)[1]["status"]["state"] == "UnAllocated", "who does not wait needs no place")
            expect(waiting(server) == 1, "the first one waits on")


@case
def beyond_so_many_allocations_at_once_one_more_is_told_contention_and_when_to_come_back(folder):
    with embedded(folder, 1, "--max-allocations", "1") as server:
        server.wait_ready(1)
        with one_that_waits(server):
            for fields in ({}, {"Prefer": "wait=50"}, {"Idempotency_Key": "another"}):
                status, body, answer = allocate(server, **fields)
                expect((status, body["status"]["state"]) == (201, "Contention"), f"{fields}: {status} {body}")
                expect(int(answer.getheader("Retry-After")) >= 1, f"{fields}: and says when to come back")
            expect(claim(server, "POST", "held:confirm?namespace=default")[0] == 200, "a confirmation goes before")


@case
def how_long_the_oldest_waits_is_a_metric(folder):
    with embedded(folder, 1) as server:
        server.wait_ready(1)
        expect(metric(server, "agones_alloc_oldest_wait_seconds") == 0, "nobody waits")
        started = time.monotonic()
        with one_that_waits(server):
            becomes(lambda: metric(server, "agones_alloc_oldest_wait_seconds") >= 0.5, True, "half a second")
            now, most = metric(server, "agones_alloc_oldest_wait_seconds"), time.monotonic() - started
            expect(0.5 <= now <= most, f"{now} s, and it came less than {most} s ago")
        becomes(lambda: metric(server, "agones_alloc_oldest_wait_seconds"), 0, "seconds that nobody waits")


@case
def who_waits_over_the_other_path_gets_the_server_that_is_given_back(folder):
    with embedded(folder, 1, "--max-wait", "40s") as server:
        server.wait_ready(1)
        held = name_of(allocate(server, Idempotency_Key="held"))
        wish, got = json.dumps({"namespace": "default"}), []
        thread = threading.Thread(target=lambda: got.append(server.ask("POST", REST, wish, {"Prefer": "wait=50"})))
        thread.start()
        becomes(lambda: waiting(server), 1, "requests that wait")
        expect(not got and claim(server, "POST", "held:release?namespace=default")[0] == 200, f"released: {got}")
        thread.join(PATIENCE)
        status, text, answer = got[0]
        expect(status == 200 and json.loads(text)["gameServerName"] == held, f"{status} {text}")
        expect(answer.getheader("Preference-Applied") == "wait=40", "and says how long it would have waited")
        started = time.monotonic()
        status, text, answer = server.ask("POST", REST, wish, {"Prefer": "wait=1"})
        expect(status == 429 and time.monotonic() - started >= 0.9, f"nobody gave one back: {status} {text}")
        expect(answer.getheader("Preference-Applied") == "wait=1", "after the time that was asked for")


@case
def a_claim_that_nobody_confirms_ends_and_one_that_somebody_does_stays(folder):
    with embedded(folder, 2) as server:
        server.wait_ready(2)
        kept = name_of(allocate(server, Idempotency_Key="kept", Agones_Alloc_Claim_TTL="2s"))
        status, body = claim(server, "GET", "kept?namespace=default")
        expect(status == 200 and body["gameServerName"] == kept and not body["confirmed"] and body["expires"], str(body))
        status, body = claim(server, "POST", "kept:confirm?namespace=default")
        expect(status == 200 and body["confirmed"] and "expires" not in body, str(body))
        answered = allocate(server, Agones_Alloc_Claim_TTL="2")
        name_of(answered)
        drawn = answered[2].getheader("Agones-Alloc-Claim")
        expect(drawn and len(drawn) == 32, "an id is drawn")
        expect(server.ready_servers() == 0, "both are taken")
        becomes(server.ready_servers, 1, "ready servers")
        expect(claim(server, "GET", f"{drawn}?namespace=default")[0] == 404, "it is over")
        time.sleep(2)
        expect(claim(server, "GET", "kept?namespace=default")[1]["gameServerName"] == kept, "the other one stays")
        text = server.ask("GET", "/metrics")[1]
        expect("agones_alloc_claims_expired_total 1" in text, "and it is counted")


@case
def a_release_takes_back_what_was_written_and_can_end_the_server(folder):
    with embedded(folder, 1) as server:
        server.wait_ready(1)
        spec = {"metadata": {"labels": {"session": "7"}}}
        first = name_of(allocate(server, spec, Idempotency_Key="one"))
        status, body = claim(server, "POST", "one:release?namespace=default")
        expect((status, body["state"], body["gameServerName"]) == (200, "Ready", first), str(body))
        expect(claim(server, "POST", "one:release?namespace=default")[0] == 404, "once only")
        expect(claim(server, "POST", "one:confirm?namespace=default")[0] == 404, "nothing is left to confirm")
        status, body, _ = allocate(server, Idempotency_Key="two")
        expect("session" not in body["status"]["metadata"]["labels"], "the label is gone")
        status, body = claim(server, "POST", "two:release?namespace=default&to=shutdown")
        expect((status, body["state"]) == (200, "Shutdown"), str(body))
        becomes(server.ready_servers, 1, "ready servers")
        expect(name_of(allocate(server)) != first, "a new server has taken its place")


@case
def what_a_release_could_not_take_back_is_in_its_answer(folder):
    with embedded(folder, 1) as server:
        server.wait_ready(1)
        first = name_of(allocate(server, {"metadata": {"labels": {"session": "7", "mode": "duel"}}}, Idempotency_Key="one"))
        # Another session on the same server writes over one of its labels.
        taken = {"selectors": [{"gameServerState": "Allocated"}], "metadata": {"labels": {"session": "8"}}}
        expect(name_of(allocate(server, taken, Idempotency_Key="two")) == first, "they share it")
        status, body = claim(server, "POST", "one:release?namespace=default")
        expect((status, body["state"]) == (200, "Allocated"), str(body))
        expect(len(body["notUndone"]) == 1 and "session" in body["notUndone"][0], str(body))
        status, body = claim(server, "POST", "two:release?namespace=default")
        expect((status, body["state"]) == (200, "Ready") and "notUndone" not in body, str(body))


@case
def the_id_and_the_time_may_stand_in_the_object(folder):
    with embedded(folder, 2) as server:
        server.wait_ready(2)
        wish = json.dumps({"metadata": {"annotations": {"agones-alloc.dev/request-id": "match-1", "agones-alloc.dev/claim-ttl": "1h"}}})
        names = {json.loads(server.ask("POST", KUBERNETES, wish, {"Content-Type": "application/json"})[1])["status"]["gameServerName"]
                 for _ in range(2)}
        expect(len(names) == 1, str(names))
        expect(claim(server, "GET", "match-1?namespace=default")[1]["expires"], "with its time")


@case
def actions_fit_as_a_whole_where_that_is_asked_for(folder):
    path = pathlib.Path(folder) / "rooms.yaml"
    path.write_text(FLEET.format(name="rooms", replicas=2, start_up="0s").replace(
        "      template: {spec", "      counters: {rooms: {count: 0, capacity: 3}}\n      template: {spec"))
    with Running("--fleets", str(path), "--session-length", "never") as server:
        server.wait_ready(2)
        taken = {"selectors": [{"gameServerState": "Allocated", "counters": {"rooms": {}}}, {"counters": {"rooms": {}}}],
                 "counters": {"rooms": {"action": "Increment", "amount": 2}}}
        count = lambda answered: answered[1]["status"]["counters"]["rooms"]["count"]  # noqa: E731
        first = allocate(server, taken, Agones_Alloc_Action_Mode="exact")
        expect(count(first) == 2, str(first[1]))
        second = allocate(server, taken, Agones_Alloc_Action_Mode="exact")
        expect(name_of(second) != name_of(first) and count(second) == 2, "it did not fit beside the first")
        expect(allocate(server, taken, Agones_Alloc_Action_Mode="exact")[1]["status"]["state"] == "UnAllocated", "nor anywhere else")
        expect(count(allocate(server, taken)) == 3, "without it the rest is cut off")
        wish = json.dumps({"metadata": {"annotations": {"agones-alloc.dev/action-mode": "exact"}}, "spec": taken})
        text = server.ask("POST", KUBERNETES, wish, {"Content-Type": "application/json"})[1]
        expect(json.loads(text)["status"]["state"] == "UnAllocated", text)
        status, body, _ = allocate(server, taken, Agones_Alloc_Action_Mode="fit")
        expect(status == 400 and "Agones-Alloc-Action-Mode" in body["message"], f"{status} {body}")


@case
def what_makes_no_sense_is_refused_by_field_and_takes_no_server(folder):
    with embedded(folder, 1) as server:
        server.wait_ready(1)
        for fields, word in (({"Idempotency_Key": "a b"}, "Idempotency-Key"), ({"Idempotency_Key": "x" * 257}, "Idempotency-Key"),
                             ({"Prefer": "wait=soon"}, "Prefer"), ({"Prefer": "wait"}, "Prefer"), ({"Prefer": "wait=-1"}, "Prefer"),
                             ({"Agones_Alloc_Claim_TTL": "never"}, "Agones-Alloc-Claim-TTL"),
                             ({"Agones_Alloc_Claim_TTL": "0"}, "Agones-Alloc-Claim-TTL")):
            status, body, _ = allocate(server, **fields)
            expect(status == 400 and word in body["message"], f"{fields}: {status} {body}")
        for method, path, wanted in (("GET", "?namespace=default", 400), ("GET", "a%zz?namespace=default", 400),
                                     ("GET", "a%20b?namespace=default", 400), ("GET", "a", 400), ("PUT", "a?namespace=default", 405),
                                     ("POST", "a?namespace=default", 405), ("POST", "a:release?namespace=default&to=space", 400),
                                     ("GET", "nobody?namespace=default", 404)):
            status, body = claim(server, method, path)
            expect(status == wanted and body["message"], f"{method} {path}: {status} {body}")
        status, _, _ = server.ask("POST", "/v1/claims/a:release?namespace=default", None, {"Origin": "http://elsewhere.example"})
        expect(status == 403, "not for pages of other hosts")
        name_of(allocate(server))


if __name__ == "__main__":
    sys.exit(kit.run_cases())
