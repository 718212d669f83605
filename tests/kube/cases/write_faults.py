"""Allocations whose writes fail: before they are done, after, in between, and because the API server refuses them. And watches
that fall silent while it does."""
import atexit
import contextlib
import json
import time
import typing

import kit
from cases.allocation_faults import all_accounted, hand_out
from fault_proxy import WRITES, Fault, FaultProxy, now_and_then
from kit import case, expect, same, tool
from secure_serving import apply
from serving import Caller, Results, Server, account, allocate_all, fill, number, stored

COUNT = 64
LATE = 6  # seconds that an answer may come after its deadline: the machine may be busy


class Silent:
    """A namespace with a server in front of it whose watches say nothing any more, for as long as it takes to notice."""
    proxy: FaultProxy
    server: Server
    begun: float
    cpu: float


class Overloaded:
    """A server whose first list is refused, with the advice to come again in ten minutes."""
    proxy: FaultProxy
    server: Server


# Both wait beside the cases between their beginning and their end.
waiting = contextlib.ExitStack()
atexit.register(waiting.close)


@case("watches that fall silent, beside an API server that answers: what is known is handed out (they go on below)")
def _():
    tool("kubectl", "create", "namespace", "silent")
    fill(4, ns="silent")
    Silent.proxy = waiting.enter_context(FaultProxy())
    Silent.server = waiting.enter_context(Server("--namespace=silent", "--request-timeout=5s", kubeconfig=Silent.proxy.kubeconfig()))
    Silent.server.wait_ready()
    deadline = time.monotonic() + 30  # the watches follow the lists
    while any(Silent.proxy.asked(f"{what}?watch=") == 0 for what in ("gameservers", "fleets", "nodes")):
        expect(time.monotonic() < deadline, Silent.proxy.requests)
        time.sleep(0.1)
    Silent.proxy.freeze_watches()
    Silent.begun, Silent.cpu = time.monotonic(), Silent.server.cpu_seconds()
    same(kit.client().ask("POST", kit.SERVERS.replace("default", "silent"), kit.game_server("unheard"))[0], 201)
    same([Caller(Silent.server, "silent").allocate()[1]["status"]["state"] for _ in range(5)], ["Allocated"] * 4 + ["UnAllocated"])


@case("a list that is refused with 429 and a long Retry-After is waited for (it goes on below)")
def _():
    Overloaded.proxy = waiting.enter_context(FaultProxy())
    Overloaded.proxy.plan("gameservers?limit=", [Fault("no", "status", 429, 600)])
    Overloaded.server = waiting.enter_context(Server("--namespace=silent", kubeconfig=Overloaded.proxy.kubeconfig()))
    time.sleep(1)
    same((Overloaded.server.get("/ready")[0], Overloaded.proxy.asked("gameservers?limit=")), (503, 1))


def under(fault: Fault, timeout: int = 20, every: int = 8, times: int = 4) -> tuple[Results, FaultProxy]:
    """A call for each of 64 servers, in two rounds, while every eighth write of a round meets the fault, four in all: so none meets it
    five times, which is where it would give up. Everybody is answered in time, what is left can be had, and the books are checked."""
    fill(COUNT)
    with FaultProxy() as proxy, Server(f"--request-timeout={timeout}s", kubeconfig=proxy.kubeconfig()) as server:
        server.wait_ready()
        cpu = server.cpu_seconds()
        results = Results()
        for _ in range(2):
            proxy.plan(WRITES, now_and_then(fault, every, times))
            allocate_all(server, 4, number(COUNT // 2), results)
        same(proxy.met, 2 * times)
        expect(results.slowest < timeout + LATE, results.slowest)
        same(results.states["UnAllocated"], 0)  # there was one for each
        hand_out(server, results)
        same(Caller(server).allocate()[1]["status"]["state"], "UnAllocated")
        expect(server.cpu_seconds() - cpu < 3, "spins", server.cpu_seconds() - cpu)
    all_accounted(results, COUNT)
    return results, proxy


def resolved(results: Results, proxy: FaultProxy) -> None:
    """Nobody noticed, and it cost a bounded number of writes."""
    same(dict(results.states), {"Allocated": COUNT})
    writes = proxy.asked(WRITES)
    expect(COUNT <= writes <= COUNT + 2 * proxy.met, writes, proxy.met)
    print(f"  {proxy.met} of {writes} writes met the fault", flush=True)


# Not done: the server goes back, and another try is made.
for refusal in (Fault("no", "status", 429, 1), Fault("no", "status", 429), Fault("no", "status", 503, 1)):
    advice = "" if refusal.retry_after is None else " with Retry-After"
    @case(f"every eighth write is answered {refusal.code}{advice}, and not done: all callers get a server")
    def _(fault=refusal):
        results, proxy = under(fault)
        resolved(results, proxy)
        same(proxy.asked("GET /apis/agones.dev/v1/namespaces/default/gameservers/"), 0)  # nothing to find out
        expect(results.slowest >= (fault.retry_after or 0), "before the Retry-After", results.slowest)

# Nobody knows: it is read back, and written again where it was not done.
for code in (500, 503, 504):
    @case(f"every eighth write is answered {code}, and not done: it is read back, and all callers get a server")
    def _(fault=Fault("no", "status", code)):
        resolved(*under(fault))

    @case(f"every eighth write is answered {code} though it was done: it is read back, and not made twice")
    def _(fault=Fault("yes", "status", code)):
        results, proxy = under(fault)
        resolved(results, proxy)
        same(proxy.asked(WRITES), COUNT)

for words, broken in (("is lost with its connection", Fault("no", "reset")), ("is done, but its answer is lost", Fault("yes", "reset")),
                      ("is done, but half of its answer is lost", Fault("yes", "half")),
                      ("is done only after its connection is lost", Fault("late", "reset"))):
    @case(f"every eighth write {words}: no server is handed out twice or lost, and all callers get one")
    def _(fault=broken):
        resolved(*under(fault))


@case("writes that are done and never answered: the callers are told in time that nobody knows, and none of the servers is given to others")
def _():
    results, _ = under(Fault("yes", "silence"), timeout=5, every=6, times=3)
    expect(results.states["error 504"] >= 6 and len(results.unknown) >= 6, results.states, results.unknown)
    found = stored()
    same({found[name]["status"]["state"] for name in results.unknown}, {"Allocated"})


@case("a Retry-After beyond the caller's time: it is told so at once, with the advice")
def _():
    fill(1)
    with FaultProxy() as proxy, Server("--request-timeout=20s", kubeconfig=proxy.kubeconfig()) as server:
        server.wait_ready()
        proxy.plan(WRITES, [Fault("no", "status", 429, 300)])
        begun, caller = time.monotonic(), Caller(server)
        caller.connection.request("POST", caller.path, json.dumps({"spec": {}}), {"Content-Type": "application/json"})
        answer = caller.connection.getresponse()
        answer.read()
        same((answer.status, answer.headers["Retry-After"]), (503, "300"))
        expect(time.monotonic() - begun < 10, time.monotonic() - begun)
        same(caller.allocate()[1]["status"]["state"], "Allocated")


def refused_until(server: Server, words: str, code: int, end: typing.Callable[[], None], count: int) -> None:
    """Callers are told in the API server's words; afterwards each server can be had."""
    before, results, cpu = stored(), Results(), server.cpu_seconds()
    for _ in range(6):
        begun = time.monotonic()
        answered, body = Caller(server).allocate()
        same(answered, code)
        expect(words in body["message"], body)
        results.add(answered, body, time.monotonic() - begun)
    expect(results.slowest < 5 + LATE, results.slowest)
    same(stored(), before)
    end()
    hand_out(server, results)
    same(results.states["Allocated"], count)
    expect(server.cpu_seconds() - cpu < 3, "spins", server.cpu_seconds() - cpu)
    all_accounted(results, count)


@case("an account that may not patch: callers are told what the API server says, servers stay free, and the right counts at once")
def _():
    fill(12)
    config, _ = account("reader")
    tool("kubectl", "create", "role", "reader", "--verb=get,list,watch", "--resource=gameservers.agones.dev")
    tool("kubectl", "create", "rolebinding", "reader", "--role=reader", "--serviceaccount=default:reader")

    def allow() -> None:
        tool("kubectl", "create", "role", "writer", "--verb=patch", "--resource=gameservers.agones.dev")
        tool("kubectl", "create", "rolebinding", "writer", "--role=writer", "--serviceaccount=default:reader")

    with Server("--namespace=default", "--no-events", "--no-node-ranking", "--no-fleet-directory", "--request-timeout=5s",
                kubeconfig=config) as server:
        server.wait_ready()
        refused_until(server, 'cannot patch resource "gameservers"', 403, allow, 12)


@case("an admission policy that refuses the write (422): callers are told why, servers stay free, and are handed out without it")
def _():
    fill(12)
    name = "no-allocations"
    apply([{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy", "metadata": {"name": name},
            "spec": {"failurePolicy": "Fail",
                     "matchConstraints": {"resourceRules": [{"apiGroups": ["agones.dev"], "apiVersions": ["v1"],
                                                             "operations": ["UPDATE"], "resources": ["gameservers"]}]},
                     "validations": [{"expression": "object.status.state != 'Allocated'", "message": "the house is closed"}]}},
           {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": name},
            "spec": {"policyName": name, "validationActions": ["Deny"]}}])

    def lift() -> None:
        tool("kubectl", "delete", "validatingadmissionpolicybinding,validatingadmissionpolicy", name)

    try:
        deadline = time.monotonic() + 60  # it counts a moment after it was made
        while kit.patch("gs-0011", {"status": {"state": "Allocated"}})[0] != 422:
            expect(time.monotonic() < deadline, "the policy does not count")
            same(kit.patch("gs-0011", {"status": {"state": "Ready"}})[0], 200)
            time.sleep(0.1)
        with Server("--request-timeout=5s") as server:
            server.wait_ready()
            refused_until(server, "the house is closed", 422, lift, 12)
    finally:
        tool("kubectl", "delete", "validatingadmissionpolicybinding,validatingadmissionpolicy", name, "--ignore-not-found")


@case("a list that was refused with 429 is asked for again after 30 s, though the advice was longer; the server is ready then")
def _():
    Overloaded.server.wait_ready(120)
    first, second = Overloaded.proxy.asked_at("gameservers?limit=")[:2]
    expect(29 <= second - first < 90, second - first)
    expect(Overloaded.server.cpu_seconds() < 3, "spins", Overloaded.server.cpu_seconds())


@case("watches that were silent for 90 s are given up and opened anew: what was missed is handed out, and nothing spun meanwhile")
def _():
    proxy, server, results = Silent.proxy, Silent.server, Results()
    try:
        deadline = max(Silent.begun + 240, time.monotonic() + 60)
        while "unheard" not in dict(results.stamps):
            expect(time.monotonic() < deadline, results.states, server.log)
            begun = time.monotonic()
            code, answer = Caller(server, "silent").allocate()
            results.add(code, answer, time.monotonic() - begun)
            time.sleep(0.5)
        opened = proxy.asked_at("gameservers?watch=")
        after = opened[1] - Silent.begun
        expect(25 <= after < 180, "not by the silence", after)  # a bookmark may have come a minute before the freeze
        expect(len(opened) <= 6, proxy.requests)
        print(f"  opened anew after {after:.0f} s", flush=True)
        expect(server.cpu_seconds() - Silent.cpu < 5, "spins", server.cpu_seconds() - Silent.cpu)
        expect(results.slowest < 5 + LATE, results.slowest)
        same(results.states["Allocated"], 1)
        found = stored("silent")
        same({name: one["status"]["state"] for name, one in found.items()},
             dict.fromkeys([*(f"gs-{i:04d}" for i in range(4)), "unheard"], "Allocated"))
    finally:
        waiting.close()
