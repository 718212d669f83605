"""Allocations while a validating webhook denies writes, with whatever code, is too slow, or is down."""
import collections
import json
import time

import kit
from admission_webhook import AdmissionWebhook
from cases.allocation_faults import all_accounted, hand_out, until_exhausted
from cases.write_faults import LATE, refused_until
from kit import case, expect, same
from running_server import rests
from serving import Caller, Results, Server, allocate_all, fill, number, stored

COUNT = 12

# The code is the webhook's own choice. Some mean something else where the API server itself gives them: that the server is gone, or changed.
for code, status in ((422, {"reason": "Invalid"}), (403, {"reason": "Forbidden"}), (409, {"reason": "Conflict"}),
                     (404, {"reason": "NotFound", "details": {"kind": "seasons", "name": "spring"}}), (410, {"reason": "Gone"}), (400, {})):
    @case(f"a webhook that denies every allocation with {code}: callers are told why, each by one write, and servers stay free")
    def _(code=code, status=status):
        fill(COUNT)
        with AdmissionWebhook() as webhook, Server("--request-timeout=5s") as server:
            server.wait_ready()
            webhook.deny = lambda name: {"code": code, "message": "the house is closed", **status}

            def open_up() -> None:
                same(len(webhook.allocations), 6)
                webhook.deny = lambda name: None

            refused_until(server, "the house is closed", code, open_up, COUNT)
            same(Caller(server).allocate()[1]["status"]["state"], "UnAllocated")


@case("a webhook that denies some servers (422, 403): nobody who is told so costs another its server, the others can be had, and these at last")
def _():
    fill(40)
    closed = {f"gs-{i:04d}": 422 if i % 2 else 403 for i in range(0, 40, 5)}
    # A draw among all of them: with the default the first in order would be chosen, and denied, by one caller after the other.
    with AdmissionWebhook() as webhook, Server("--request-timeout=10s", "--top-n=40") as server:
        server.wait_ready()
        webhook.deny = lambda name: {"code": closed[name], "message": f"{name} is closed"} if name in closed else None
        results, cpu = Results(), server.cpu_seconds()
        deadline = time.monotonic() + 120
        while len(results.stamps) < 32:
            expect(time.monotonic() < deadline, results.states)
            allocate_all(server, 4, number(8), results)
        same(set(results.states) - {"Allocated", "error 422", "error 403"}, set())
        expect(results.states["error 422"] + results.states["error 403"] > 0, "nobody met a closed one", results.states)
        same({name for name, one in stored().items() if one["status"]["state"] == "Ready"}, set(closed))
        told, answer = Caller(server).allocate()
        expect(told in (403, 422) and "is closed" in answer["message"], told, answer)
        expect(results.slowest < 10 + LATE, results.slowest)
        print(f"  {dict(results.states)}", flush=True)
        webhook.deny = lambda name: None
        hand_out(server, results)
        rests(server)
        expect(server.cpu_seconds() - cpu < 5, "spins", server.cpu_seconds() - cpu)
    all_accounted(results, 40)


@case("a webhook that says later (429 and 503, come again in a second) to every third allocation: all callers get a server, and none too early")
def _():
    for code in (429, 503):
        fill(COUNT)
        with AdmissionWebhook() as webhook, Server("--request-timeout=20s") as server:
            server.wait_ready()
            seen: collections.Counter = collections.Counter()

            def later(name: str) -> dict | None:
                with webhook.lock:
                    seen["all"] += 1
                    if seen["all"] % 3 or seen["denied"] == 4:
                        return None
                    seen["denied"] += 1
                return {"code": code, "message": "not now", "details": {"retryAfterSeconds": 1}}

            webhook.deny = later
            results = allocate_all(server, 4, number(COUNT))
            same(dict(results.states), {"Allocated": COUNT})
            same((seen["denied"], len(webhook.allocations)), (4, COUNT + 4))  # a write is made again once for each
            expect(1 <= results.slowest < 20 + LATE, results.slowest)
        all_accounted(results, COUNT)


@case("a webhook that says later for ever (429, in five minutes; 500): callers are told 503 at once, with the advice")
def _():
    fill(COUNT)
    with AdmissionWebhook() as webhook, Server("--request-timeout=20s") as server:
        server.wait_ready()
        results = Results()

        def ask(denial: dict) -> tuple[int, str | None, str]:
            webhook.deny = lambda name: denial
            caller, begun = Caller(server), time.monotonic()
            caller.connection.request("POST", caller.path, json.dumps({"spec": {}}), {"Content-Type": "application/json"})
            answer = caller.connection.getresponse()
            text = answer.read().decode()
            expect(time.monotonic() - begun < 10, time.monotonic() - begun)
            return answer.status, answer.headers["Retry-After"], json.loads(text)["message"]

        told, advice, words = ask({"code": 429, "message": "not this evening", "details": {"retryAfterSeconds": 300}})
        same((told, advice), (503, "300"))
        expect("not this evening" in words, words)
        before = len(webhook.allocations)
        told, advice, words = ask({"code": 500, "message": "no database"})
        same(told, 503)
        expect("no database" in words and advice, words, advice)
        expect(2 <= len(webhook.allocations) - before <= 5, "tries", webhook.allocations)
        webhook.deny = lambda name: None
        hand_out(server, results)
        same(results.states["Allocated"], COUNT)
    all_accounted(results, COUNT)


@case("a webhook that is slower than its time: callers are told so in theirs, and with a shorter time that nobody knows; then all goes on")
def _():
    fill(COUNT)
    with AdmissionWebhook(seconds=2) as webhook, Server("--request-timeout=30s") as patient, Server("--request-timeout=1s") as hasty:
        patient.wait_ready()
        hasty.wait_ready()
        webhook.slow.set()
        results, cpu = Results(), patient.cpu_seconds() + hasty.cpu_seconds()
        code, answer = Caller(hasty).allocate()
        same((code, results.add(code, answer, 0)), (504, "error 504"))
        expect(results.unknown, answer)  # by name
        begun = time.monotonic()
        code, answer = Caller(patient).allocate()
        same(code, 503)
        expect("failed calling webhook" in answer["message"], answer)
        results.add(code, answer, time.monotonic() - begun)
        allocate_all(patient, 4, number(4), results)
        same(dict(results.states), {"error 504": 1, "error 503": 5})
        expect(results.slowest < 30 + LATE, results.slowest)
        expect(len(webhook.allocations) <= 1 + 5 + 5 * 5, "tries", len(webhook.allocations))
        webhook.slow.clear()
        hand_out(patient, results)
        same(results.states["Allocated"], COUNT)
        rests(patient, hasty)
        expect(patient.cpu_seconds() + hasty.cpu_seconds() - cpu < 5, "spins", patient.cpu_seconds() + hasty.cpu_seconds() - cpu)
    all_accounted(results, COUNT)


@case("a webhook that dies under load and comes back: callers are told 503 without delay, no server is lost, and nothing is to be restarted")
def _():
    fill(200)
    with AdmissionWebhook() as webhook, Server("--request-timeout=10s") as server:
        server.wait_ready()
        results = allocate_all(server, 8, number(40))
        same(dict(results.states), {"Allocated": 40})
        webhook.stop()
        down, cpu, before = Results(), server.cpu_seconds(), stored()
        allocate_all(server, 8, number(64), down)
        same(dict(down.states), {"error 503": 64})
        expect(down.slowest < LATE, down.slowest)  # not the whole of the callers' time
        expect(server.cpu_seconds() - cpu < 3, "spins", server.cpu_seconds() - cpu)
        same(stored(), before)
        code, answer = Caller(server).allocate()
        expect(code == 503 and "failed calling webhook" in answer["message"], code, answer)
        webhook.start()
        deadline = time.monotonic() + 60
        allocate_all(server, 8, lambda r: until_exhausted(r) and time.monotonic() < deadline, results)
        same(results.states["Allocated"], 200)
        expect(results.slowest < 10 + LATE, results.slowest)
        rests(server)
    all_accounted(results, 200)
