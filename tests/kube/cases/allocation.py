"""Allocations from a real API server."""
import concurrent.futures
import contextlib
import json
import re
import time

import kit
from fault_proxy import FaultProxy
from kit import case, expect, same, tool
from running_server import rests
from serving import Caller, Results, Server, account, allocate_all, check_books, fill, number, patches, stored, until_exhausted


def conflicts_of(server: Server) -> int:
    """As it counts them."""
    return sum(int(float(found)) for found in re.findall(r"^agones_alloc_update_conflicts_total(?:\{.*\})? (\S+)$", server.get("/metrics")[1], re.M))


@case("500 of 500 servers are handed out once each, and the 501st is told UnAllocated")
def _():
    fill(500)
    with Server() as server:
        server.wait_ready()
        results = allocate_all(server, 32, number(500))
        same(dict(results.states), {"Allocated": 500})
        code, answer = Caller(server).allocate()
        same((code, answer["status"]["state"]), (201, "UnAllocated"))
    same(len(check_books(results)), 500)
    same(patches(), [200] * 500)  # one each, no conflict


@case("an allocation changes state and annotation only, keeps fields it does not know")
def _():
    fill(1)
    patched = kit.patch("gs-0000", {"spec": {"template": {"spec": {"hostNetwork": True}}},
                                    "metadata": {"finalizers": ["agones.dev/controller"]}})
    same(patched[0], 200)
    before = stored()["gs-0000"]
    with Server() as server:
        server.wait_ready()
        code, answer = Caller(server).allocate({"metadata": {"labels": {"session": "7"}}})
        same((code, answer["status"]["gameServerName"]), (201, "gs-0000"))
    after = stored()["gs-0000"]
    same(after["spec"], before["spec"])
    same(after["metadata"]["finalizers"], before["metadata"]["finalizers"])
    same(after["metadata"]["labels"], {**before["metadata"]["labels"], "session": "7"})
    same(list(after["metadata"]["annotations"]), ["agones.dev/last-allocated"])
    same({**after["status"], "state": "Ready"}, before["status"])
    same(kit.patch("gs-0000", {"metadata": {"finalizers": None}})[0], 200)


@case("an Event tells of an allocation, and a warning of an action that fails")
def _():
    fill(1)
    with Server() as server:
        server.wait_ready()
        code, answer = Caller(server).allocate({"counters": {"rooms": {"action": "Increment", "amount": 1}}})
        same((code, answer["status"]["state"]), (201, "Allocated"))
    found = json.loads(tool("kubectl", "get", "events", "-o", "json"))["items"]
    told = {(one["type"], one["reason"]): one for one in found if one["involvedObject"]["name"] == "gs-0000"}
    same(told["Normal", "Allocated"]["message"], "Allocated")
    same(told["Normal", "Allocated"]["involvedObject"]["uid"], stored()["gs-0000"]["metadata"]["uid"])
    expect("Counter not found" in told["Warning", "CounterActionError"]["message"], told)


@case("only the namespaces that are named are allocated, and new servers in each are seen")
def _():
    for ns in ("blue", "green"):
        tool("kubectl", "create", "namespace", ns)
        fill(2, ns=ns)
    fill(2)
    with Server("--namespace=blue", "--namespace=green") as server:
        server.wait_ready()
        states = [Caller(server, ns).allocate()[1]["status"]["state"] for ns in ("blue", "green", "default")]
        same(states, ["Allocated", "Allocated", "UnAllocated"])
        for ns in ("blue", "green"):
            same(Caller(server, ns).allocate()[1]["status"]["state"], "Allocated")
            path = f"/apis/agones.dev/v1/namespaces/{ns}/gameservers"
            same(kit.client().ask("POST", path, kit.game_server("late"))[0], 201)
            deadline = time.monotonic() + 20
            while (answer := Caller(server, ns).allocate()[1]["status"])["state"] != "Allocated":
                expect(time.monotonic() < deadline, answer)
                time.sleep(0.05)
            same(answer["gameServerName"], "late")


@case("a server deleted and created again under its name is handed out as what it is now")
def _():
    fill(3)
    with Server() as server:
        server.wait_ready()
        path = f"{kit.SERVERS}/gs-0001"
        for _ in range(5):
            same(kit.client().ask("DELETE", path)[0], 200)
            kit.created("gs-0001")
        results = allocate_all(server, 1, until_exhausted)
    check_books(results)
    same(sorted(name for name, _ in results.stamps), ["gs-0000", "gs-0001", "gs-0002"])


@case("an object of a megabyte is listed, watched and allocated like any other")
def _():
    fill(0)
    def huge(name: str) -> None:
        content = kit.game_server(name)
        content["spec"]["template"]["spec"]["containers"][0]["env"] = [{"name": "BLOB", "value": "x" * 1_000_000}]
        same(kit.client().ask("POST", kit.SERVERS, content)[0], 201)
    huge("listed")
    with Server("--request-timeout=5s") as server:
        server.wait_ready()
        results = allocate_all(server, 1, number(1))
        same([name for name, _ in results.stamps], ["listed"])
        huge("watched")
        deadline = time.monotonic() + 20
        while results.states["Allocated"] < 2:
            expect(time.monotonic() < deadline, results.states, server.log)
            allocate_all(server, 1, number(1), results)
        same([name for name, _ in results.stamps], ["listed", "watched"])
        expect(results.slowest < 6.5, results.slowest)
        rests(server)
    for one in check_books(results).values():
        same(len(one["spec"]["template"]["spec"]["containers"][0]["env"][0]["value"]), 1_000_000)


@case("three replicas with a share each: no PATCH is wasted while the shares last; afterwards conflicts are counted, and cost no server")
def _():
    count, before = 300, len(patches())
    fill(count)
    with contextlib.ExitStack() as stack:
        replicas = [stack.enter_context(Server(f"--replica-share={i}/3", "--request-timeout=20s")) for i in range(3)]
        for one in replicas:
            one.wait_ready()
        results = Results()

        def hand_out(more) -> None:
            with concurrent.futures.ThreadPoolExecutor(3) as pool:
                for done in [pool.submit(allocate_all, one, 6, more(), results) for one in replicas]:
                    done.result()

        hand_out(lambda: number(60))  # of about 100 each
        same((dict(results.states), sum(map(conflicts_of, replicas)), patches()[before:]), ({"Allocated": 180}, 0, [200] * 180))
        hand_out(lambda: until_exhausted)
        conflicts = sum(map(conflicts_of, replicas))
        expect(results.slowest < 21.5, results.slowest)
        rests(*replicas)
    answers = patches()[before:]
    same((results.states["Allocated"], answers.count(200)), (count, count))
    same((len(answers) - count, answers.count(409)), (conflicts, conflicts))
    expect(len(answers) <= 1.5 * count, len(answers), conflicts)
    print(f"  {len(answers)} PATCHes for {count} allocations, {conflicts} conflicts, all among the last", flush=True)
    same(len(check_books(results)), count)


@case("two replicas that want the same servers: conflicts happen, each is counted, and costs a PATCH but no server")
def _():
    count, before = 60, len(patches())
    fill(count)
    with Server() as one, Server() as two:
        results = Results()
        for replica in (one, two):
            replica.wait_ready()
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for done in [pool.submit(allocate_all, replica, 4, until_exhausted, results) for replica in (one, two)]:
                done.result()
        conflicts = conflicts_of(one) + conflicts_of(two)
    answers = patches()[before:]
    expect(conflicts > 0, "the metric counts none", answers)
    same(answers.count(409), conflicts)
    same((results.states["Allocated"], len(answers)), (count, count + conflicts))
    same(len(check_books(results)), count)


@case("a streamed list fills the cache as pages do, and the watch goes on from it")
def _():
    fill(30)
    with FaultProxy() as proxy, Server("--kube-stream-lists", kubeconfig=proxy.kubeconfig()) as server:
        server.wait_ready()
        same((proxy.asked("gameservers?watch=true&sendInitialEvents=true"), proxy.asked("gameservers?limit=")), (1, 0))
        results = allocate_all(server, 4, number(30))
        same(dict(results.states), {"Allocated": 30})
        kit.created("later")
        deadline = time.monotonic() + 20
        while "later" not in dict(results.stamps):
            expect(time.monotonic() < deadline, results.states, server.log)
            allocate_all(server, 1, number(1), results)
    check_books(results)


@case("an account that may not list never becomes ready, says why, and does not spin")
def _():
    config, token = account("stranger")
    with Server(kubeconfig=config) as server:
        time.sleep(3)
        code, text = server.get("/ready?full=1")
        expect(code == 503 and "not filled yet" in text, code, text)
        expect(server.cpu_seconds() < 1, server.cpu_seconds())
    expect(any("forbidden" in line and "listing gameservers was refused" in line for line in server.log), server.log)
    expect(not any(token in line for line in server.log), "a token in the log")


@case("the rights that docs/kubernetes.md lists are enough to allocate and to write Events")
def _():
    fill(2)
    config, _ = account("allocator")
    for name, verbs, resource in (("allocator", "get,list,watch,patch", "gameservers.agones.dev"),
                                  ("allocator-events", "create,patch", "events"), ("allocator-nodes", "list,watch", "nodes"),
                                  ("allocator-fleets", "list,watch", "fleets.agones.dev")):
        tool("kubectl", "create", "clusterrole", name, f"--verb={verbs}", f"--resource={resource}")
        tool("kubectl", "create", "clusterrolebinding", name, f"--clusterrole={name}",
             "--serviceaccount=default:allocator")
    with Server(kubeconfig=config) as server:
        server.wait_ready()
        results = allocate_all(server, 2, number(2))
    same(dict(results.states), {"Allocated": 2})
    check_books(results)
    expect(not any("forbidden" in line.lower() or "refused" in line for line in server.log), server.log)
    uids = {one["metadata"]["uid"] for one in stored().values()}
    found = json.loads(tool("kubectl", "get", "events", "-o", "json"))["items"]
    same(len({one["involvedObject"]["uid"] for one in found} & uids), 2)
