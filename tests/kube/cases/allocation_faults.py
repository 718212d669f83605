"""Allocations while the API server or etcd fails, and after."""
import concurrent.futures
import signal
import time

import kit
from kit import case, expect, same, tool
from running_server import rests
from serving import Caller, Results, Server, allocate_all, check_books, fill, number, stored, until_exhausted


def rest(server: Server, results: Results, seconds: float = 60) -> None:
    """Hands out what is left, once the server has found its way back. Errors on the way are answers, too."""
    deadline = time.monotonic() + seconds
    allocate_all(server, 8, lambda r: until_exhausted(r) and time.monotonic() < deadline, results)
    expect(results.states["UnAllocated"] > 0, "not recovered in time", results.states, server.log[-10:])


def during(server: Server, results: Results, fault, pause: float = 0) -> None:
    """Eight callers go on while the fault lasts, each with a pause between its calls."""
    over = [False]

    def more(results: Results) -> bool:
        time.sleep(pause)
        return not over[0] and until_exhausted(results)

    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        calls = pool.submit(allocate_all, server, 8, more, results)
        try:
            fault()
        finally:
            over[0] = True
        calls.result()


def outage(begin: str, what: str, seconds: float, end: str):
    """A fault for during()."""
    def happen() -> None:
        tool(begin, what)
        time.sleep(seconds)
        tool(end, what)
    return happen


def hand_out(server: Server, results: Results, seconds: float = 60) -> None:
    """Until no server is ready any more, however late the server hears of some."""
    deadline = time.monotonic() + seconds
    while any(one["status"]["state"] == "Ready" for one in stored().values()):
        expect(time.monotonic() < deadline, "not recovered in time", results.states, server.log[-10:])
        allocate_all(server, 4, number(8), results)


def all_accounted(results: Results, count: int) -> None:
    found = check_books(results)
    same(len(found), count)
    waiting = [name for name, one in found.items() if one["status"]["state"] == "Ready"]
    same(waiting, [])


@case("an API server that is silent for 20 s: every caller is answered in time, and no server is lost or handed out twice")
def _():
    fill(200)
    with Server("--request-timeout=5s") as server:
        server.wait_ready()
        results = allocate_all(server, 8, number(40))

        before = server.cpu_seconds()
        during(server, results, outage("pause", "apiserver", 20, "resume"))
        expect(results.slowest < 6.5, results.slowest)
        expect(server.cpu_seconds() - before < 3, "spins", server.cpu_seconds() - before)
        rest(server, results)
    all_accounted(results, 200)


@case("an API server that is killed and started again: the server recovers without a restart")
def _():
    fill(300)
    with Server("--request-timeout=5s") as server:
        server.wait_ready()
        results = allocate_all(server, 8, number(40))

        cpu = server.cpu_seconds()

        def down() -> None:
            """Once what was on its way is resolved, callers hear at once that there is no API server."""
            tool("kill", "apiserver")
            try:
                deadline = time.monotonic() + 20
                while True:
                    begun = time.monotonic()
                    code, answer = Caller(server).allocate()
                    seconds = time.monotonic() - begun
                    results.add(code, answer, seconds)
                    if code == 503 and seconds < 2:
                        break
                    expect(begun < deadline, code, answer, seconds)
                time.sleep(3)
            finally:
                tool("start", "apiserver")

        during(server, results, down, pause=0.1)
        expect(results.slowest < 6.5, results.slowest)
        expect(server.cpu_seconds() - cpu < 6, "spins", server.cpu_seconds() - cpu)
        rest(server, results)
        kit.created("after")
        deadline = time.monotonic() + 20
        while (answer := Caller(server).allocate()[1].get("status", {})).get("gameServerName") != "after":
            expect(time.monotonic() < deadline, answer)
            time.sleep(0.05)
        same(kit.client().ask("DELETE", f"{kit.SERVERS}/after")[0], 200)
    all_accounted(results, 300)


@case("etcd killed and started again under load: no server is lost or handed out twice")
def _():
    fill(200)
    with Server("--request-timeout=10s") as server:
        server.wait_ready()
        results = allocate_all(server, 8, number(40))

        during(server, results, outage("kill", "etcd", 2, "start"))
        expect(results.slowest < 11.5, results.slowest)
        rest(server, results)
        rests(server)
    all_accounted(results, 200)


@case("a watch whose version was compacted leads to a new list: nothing is missed, nothing that is gone comes back")
def _():
    fill(20)
    with Server("--request-timeout=5s") as server:
        server.wait_ready()
        server.process.send_signal(signal.SIGSTOP)
        for i in range(10):
            same(kit.client().ask("DELETE", f"{kit.SERVERS}/gs-{i:04d}")[0], 200)
        for i in range(5):
            kit.created(f"new-{i}")
        tool("kill", "apiserver")  # its watches end, and with it what it remembers of old versions
        tool("compact")
        tool("start", "apiserver")
        server.process.send_signal(signal.SIGCONT)
        deadline = time.monotonic() + 30
        while not any("the watch is too old, listing again" in line for line in server.log):
            expect(time.monotonic() < deadline, server.log)
            time.sleep(0.1)
        results = allocate_all(server, 4, until_exhausted)
        expect(results.slowest < 6.5, results.slowest)
        rests(server)
    all_accounted(results, 15)


@case("API server and etcd stopped and started under load: afterwards, what changes is seen as before")
def _():
    fill(150)
    with Server("--request-timeout=5s") as server:
        server.wait_ready()
        results = allocate_all(server, 8, number(20))
        during(server, results, lambda: tool("restart", "apiserver", "etcd"), pause=0.5)
        expect(results.slowest < 6.5, results.slowest)
        waiting = [name for name, one in stored().items() if one["status"]["state"] == "Ready"]
        if results.states["UnAllocated"]:
            same(waiting, [])  # it was true
        for name in waiting[:10]:
            same(kit.client().ask("DELETE", f"{kit.SERVERS}/{name}")[0], 200)
        for i in range(3):
            kit.created(f"new-{i}")
        hand_out(server, results)
        rests(server)
    all_accounted(results, 150 - len(waiting[:10]) + 3)
