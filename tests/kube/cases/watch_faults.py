"""Allocations while the watch breaks off and while others write to the same objects."""
import concurrent.futures
import json
import pathlib
import random
import subprocess
import sys
import threading
import time

import kit
from cases.allocation_faults import all_accounted
from cluster.instance import Cluster
from fault_proxy import FaultProxy
from kit import case, expect, same, tool
from running_server import rests
from serving import Results, Server, allocate_all, fill, number, until_exhausted


@case("a watch that is cut in the middle of an event, by FIN and by RST, is resumed: nothing is missed, and nothing spins")
def _():
    fill(5)
    with FaultProxy() as proxy, Server("--request-timeout=5s", kubeconfig=proxy.kubeconfig()) as server:
        server.wait_ready()
        proxy.cuts, cpu = 6, server.cpu_seconds()
        for i in range(15):
            kit.created(f"new-{i:02d}")
        results = Results()
        deadline = time.monotonic() + 40
        while len(results.stamps) < 20:
            expect(time.monotonic() < deadline, results.states, server.log)
            allocate_all(server, 2, number(4), results)
        expect(proxy.cuts <= 2, "not cut", proxy.cuts, proxy.requests)  # how many events came in one piece is chance
        expect(proxy.asked("gameservers?watch=") + proxy.asked("gameservers?limit=") < 25, proxy.requests)
        expect(server.cpu_seconds() - cpu < 3, server.cpu_seconds() - cpu)
        expect(results.slowest < 6.5, results.slowest)
    same(proxy.asked("PATCH /apis/agones.dev/"), 20)
    all_accounted(results, 20)


@case("an API server that is down is tried now and then, by the watch as by callers: nothing spins")
def _():
    fill(20)
    with FaultProxy() as proxy, Server("--request-timeout=2s", kubeconfig=proxy.kubeconfig()) as server:
        server.wait_ready()
        results = allocate_all(server, 2, number(5))
        tool("kill", "apiserver")
        try:
            before, cpu = proxy.connections, server.cpu_seconds()
            time.sleep(4)
            # Three watches, and on a busy machine the Events of the five allocations, a try a second each.
            expect(1 <= proxy.connections - before <= 36 + 5 * 4, proxy.connections - before)
            before = proxy.connections
            allocate_all(server, 4, number(16), results)
            # The PATCH, tries of it until the request's time is over, and an Event now and then.
            expect(proxy.connections - before < 16 * 15, proxy.connections - before, results.states)
            expect(server.cpu_seconds() - cpu < 3, server.cpu_seconds() - cpu)
            expect(results.slowest < 3, results.slowest)
            same(results.states["UnAllocated"], 0)  # there are some
        finally:  # the cases that follow need one
            tool("start", "apiserver")
        deadline = time.monotonic() + 40
        allocate_all(server, 4, lambda r: until_exhausted(r) and time.monotonic() < deadline, results)
    all_accounted(results, 20)


@case("fleet information is marked as old while the API server is down, with the reason, and no more when it is back, though nothing changes")
def _():
    fill(3)

    def told(server: Server) -> tuple[dict, dict]:
        answer = json.loads(server.get("/v1/fleets")[1])
        return answer["clusters"][0], next((one for one in answer["fleets"] if one["fleetName"] == "simple"), {})

    def until(server: Server, stale: bool) -> tuple[dict, dict]:
        deadline = time.monotonic() + 120
        while (found := told(server))[0]["stale"] != stale:
            expect(time.monotonic() < deadline, found, server.log)
            time.sleep(0.1)
        return found

    with Server() as server:
        server.wait_ready()
        until(server, False)
        tool("kill", "apiserver")
        try:
            cluster, fleet = until(server, True)
        finally:
            tool("start", "apiserver")
        expect(cluster["code"] == 14 and cluster["message"] and cluster["synced"], cluster)
        expect(fleet["stale"] and fleet["recount"]["readyGameservers"] == 3, fleet)
        cluster, fleet = until(server, False)
        expect(cluster["code"] == 0 and not cluster["message"], cluster)
        expect(not fleet["stale"] and fleet["recount"]["readyGameservers"] == 3, fleet)
        expect('agones_alloc_directory_cluster_stale{cluster="local"} 0' in server.get("/metrics")[1], "the metric")


class LabelWriter:
    """label_writer.py on the first servers of the namespace, as long as the block."""

    def __init__(self, servers: int, rate: int):
        cluster = Cluster("default")
        self.process = subprocess.Popen(
            [sys.executable, str(pathlib.Path(__file__).resolve().parents[1] / "label_writer.py"), cluster.server(), str(cluster.pki),
             kit.SERVERS, str(servers), str(rate), "16"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.written = 0
        self.refused: list[str] = []
        self.begun = 0.0  # with the first that are done: it has to start, and to connect
        self.seconds = 0.0
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self) -> None:
        for line in self.process.stdout:
            said = json.loads(line)
            self.written, self.refused = (said["written"], said["refused"]) if isinstance(said, dict) else (said, [])
            if self.written:
                self.begun = self.begun or time.monotonic()

    def runs(self) -> bool:
        return self.process.poll() is None

    def __enter__(self) -> "LabelWriter":
        return self

    def __exit__(self, *_) -> None:
        self.seconds = time.monotonic() - self.begun
        self.process.stdin.close()
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise
        self.reader.join(10)


@case("another writer of label patches, two for each allocation and up to 200 a second, and compactions: no server is lost or handed out twice")
def _():
    fill(300)
    with Server("--request-timeout=10s") as server:
        server.wait_ready()
        results = Results()
        with LabelWriter(300, 200) as writer:
            def slowly(more):
                """Two label patches for each allocation, however fast the machine is."""
                def next_one(results: Results) -> bool:
                    while writer.written < 2 * len(results.stamps) and writer.runs():
                        time.sleep(0.01)
                    return more(results)
                return next_one

            for _ in range(4):
                allocate_all(server, 16, slowly(number(50)), results)
                tool("compact")
            allocate_all(server, 16, slowly(until_exhausted), results)
        print(f"  {writer.written / writer.seconds:.0f} label patches a second beside {len(results.stamps)} allocations", flush=True)
        expect(results.slowest < 11.5, results.slowest)
        rests(server)
    same((writer.process.returncode, writer.refused), (0, []))
    expect(writer.written >= 600, "too few to show anything", writer.written)  # how many a second is the machine's matter
    all_accounted(results, 300)


@case("servers deleted and created again under their names all the time: each is handed out as what it is, once")
def _():
    fill(60)
    stop = threading.Event()
    made = [0]

    def churn() -> None:
        client, draw = kit.client(kept=True), random.Random(1)
        while not stop.is_set():
            name = f"gs-{draw.randrange(60):04d}"
            now = client.ask("GET", f"{kit.SERVERS}/{name}")[1]
            if now["status"]["state"] != "Ready":
                continue
            # Only this one, as it is now: one that was handed out meanwhile stays.
            only = {"kind": "DeleteOptions", "apiVersion": "v1", "preconditions": {
                "uid": now["metadata"]["uid"], "resourceVersion": now["metadata"]["resourceVersion"]}}
            if client.ask("DELETE", f"{kit.SERVERS}/{name}", only)[0] == 200:
                same(client.ask("POST", kit.SERVERS, kit.game_server(name))[0], 201)
                made[0] += 1

    with Server("--request-timeout=10s") as server:
        server.wait_ready()
        writer = threading.Thread(target=churn)
        writer.start()
        results = Results()
        try:
            while len(results.stamps) < 45:
                allocate_all(server, 4, number(5), results)
                time.sleep(0.05)
        finally:
            stop.set()
            writer.join()
        deadline = time.monotonic() + 20
        while len(results.stamps) < 60:
            expect(time.monotonic() < deadline, results.states, server.log)
            allocate_all(server, 4, number(5), results)
        expect(results.slowest < 11.5, results.slowest)
        rests(server)
    expect(made[0] > 5, made)
    all_accounted(results, 60)


@case("three replicas without a leader, one of which is killed: no server is handed out twice, all that are left are")
def _():
    fill(240)
    timeout = "--request-timeout=10s"
    with Server(timeout) as one, Server(timeout) as two, Server(timeout) as three:
        replicas = (one, two, three)
        for replica in replicas:
            replica.wait_ready()
        results = Results()

        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            callers = [pool.submit(allocate_all, replica, 4, until_exhausted, results) for replica in replicas]
            while len(results.stamps) < 80 and not any(caller.done() for caller in callers):
                time.sleep(0.01)
            three.kill()
            for caller in callers:
                caller.result()
        expect(results.slowest < 11.5, results.slowest)
        rests(one, two)
    expect(results.cut > 0, results.states)
    all_accounted(results, 240)
