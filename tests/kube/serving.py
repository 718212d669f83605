"""Runs the built server in front of a test cluster, sends it allocations, and looks up in etcd what became of them."""
import base64
import collections
import concurrent.futures
import http.client
import json
import pathlib
import re
import threading
import time
import typing
import urllib.request

import kit
from cluster.instance import Cluster
from running_server import RunningServer


class Server(RunningServer):
    """Over plain HTTP."""

    def __init__(self, *arguments: str, kubeconfig: pathlib.Path | None = None, environment: dict[str, str] | None = None):
        if "--in-cluster" not in arguments:
            arguments = (f"--kubeconfig={kubeconfig or Cluster('default').admin_kubeconfig()}", *arguments)
        super().__init__(*arguments, environment=environment)

    def get(self, path: str) -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


class Caller:
    """One keep-alive connection to a server."""

    def __init__(self, server: Server, ns: str = "default", timeout: float = 60, query: str = ""):
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=timeout)
        self.path = f"/apis/allocation.agones.dev/v1/namespaces/{ns}/gameserverallocations{query}"

    def allocate(self, spec: dict | None = None) -> tuple[int, dict]:
        self.connection.request("POST", self.path, json.dumps({"spec": spec or {}}), {"Content-Type": "application/json"})
        answer = self.connection.getresponse()
        return answer.status, json.loads(answer.read())


class Results:
    """What callers were told: name and stamp of each server handed out, and everything else."""

    def __init__(self) -> None:
        self.stamps: list[tuple[str, str]] = []
        self.unknown: set[str] = set()
        self.states: collections.Counter = collections.Counter()
        self.slowest = 0.0
        self.cut = 0  # calls whose server was killed: nobody knows what became of them
        self.lock = threading.Lock()

    def add(self, code: int, answer: dict, seconds: float) -> str:
        status = answer.get("status")
        state = status.get("state", "") if isinstance(status, dict) else f"error {code}"
        with self.lock:
            self.slowest = max(self.slowest, seconds)
            self.states[state] += 1
            if state == "Allocated":
                self.stamps.append((status["gameServerName"],
                                    status["metadata"]["annotations"]["agones.dev/last-allocated"]))
            elif found := re.search(r"its? fate is not known; game server \S*?/(\S+?)(:|$)", answer.get("message", "")):
                self.unknown.add(found[1])
        return state


def allocate_all(server: Server, callers: int, more: typing.Callable[[Results], bool],
                 results: Results | None = None) -> Results:
    """Each caller goes on while `more(results)` says so, and its server lives."""
    results = results or Results()

    def loop() -> None:
        caller = Caller(server)
        while more(results):
            started = time.monotonic()
            try:
                code, answer = caller.allocate()
            except (OSError, http.client.HTTPException):
                if not server.killed:
                    raise
                with results.lock:
                    results.cut += 1
                return
            state = results.add(code, answer, time.monotonic() - started)
            if state != "Allocated":
                time.sleep(0.02)

    with concurrent.futures.ThreadPoolExecutor(callers) as pool:
        for done in [pool.submit(loop) for _ in range(callers)]:
            done.result()
    return results


def until_exhausted(results: Results) -> bool:
    return results.states["UnAllocated"] == 0


def number(count: int) -> typing.Callable[[Results], bool]:
    """So many calls in all."""
    begun = iter(range(count))
    lock = threading.Lock()

    def more(_: Results) -> bool:
        with lock:
            return next(begun, None) is not None

    return more


def stored(ns: str = "default", cluster: str = "default") -> dict[str, dict]:
    """The game servers of a namespace as etcd has them, by name: around the API server and its caches."""
    def encoded(text: str) -> str:
        return base64.b64encode(text.encode()).decode()

    prefix = f"/registry/agones.dev/gameservers/{ns}"
    request = urllib.request.Request(f"{Cluster(cluster).etcd_url()}/v3/kv/range", method="POST",
                                     data=json.dumps({"key": encoded(prefix + "/"), "range_end": encoded(prefix + "0")}).encode())
    with urllib.request.urlopen(request, timeout=30) as answer:
        found = [json.loads(base64.b64decode(kv["value"])) for kv in json.loads(answer.read()).get("kvs", [])]
    return {one["metadata"]["name"]: one for one in found}


def account(name: str) -> tuple[pathlib.Path, str]:
    """The kubeconfig of a service account, made here, and its token."""
    kit.tool("kubectl", "create", "serviceaccount", name)
    token = kit.tool("kubectl", "create", "token", name).strip()
    one = Cluster("default")
    config = one.folder / f"{name}.kubeconfig"
    config.write_text(json.dumps({
        "apiVersion": "v1", "kind": "Config", "current-context": "it",
        "clusters": [{"name": "it", "cluster": {"server": one.server(), "certificate-authority": str(one.pki / "ca.crt")}}],
        "users": [{"name": "it", "user": {"token": token}}],
        "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}]}))
    return config, token


def fill(count: int, prefix: str = "gs", ns: str = "default", nodes: list[str] | None = None, cluster: str = "default") -> None:
    """Ready servers, each on its node or on a few, in place of whatever there was."""
    path = f"/apis/agones.dev/v1/namespaces/{ns}/gameservers"
    kit.same(kit.client(cluster, 120).ask("DELETE", path)[0], 200)

    def make(i: int) -> int:
        return kit.client(cluster).ask("POST", path, kit.game_server(f"{prefix}-{i:04d}", nodeName=nodes[i] if nodes else f"node-{i % 7}"))[0]

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        kit.same(collections.Counter(pool.map(make, range(count))), collections.Counter({201: count} if count else {}))


def patches(name: str = "") -> list[int]:
    """The answers to all patches of game servers by this server, or of one of them, as the audit log has them."""
    def entries() -> list[dict]:
        found = [json.loads(line) for line in Cluster("default").audit_log().read_text().splitlines() if line.endswith("}")]
        return [one for one in found if one["verb"] == "patch" and one["objectRef"]["resource"] == "gameservers"
                and one.get("userAgent", "").startswith("agones-alloc-server") and name in ("", one["objectRef"]["name"])]

    before = entries()
    while True:  # it is written in batches: until no more come
        time.sleep(2)
        now = entries()
        if len(now) == len(before):
            return [one["responseStatus"]["code"] for one in now]
        before = now


def check_books(results: Results, ns: str = "default") -> dict[str, dict]:
    """No server was handed out twice, every answer matches what etcd holds, and no other server is allocated, but for
    those whose write's fate the caller was told to be unknown, or not told at all. Gives what etcd holds."""
    found = stored(ns)
    names = [name for name, _ in results.stamps]
    kit.expect(len(names) == len(set(names)), "handed out twice",
               [name for name, count in collections.Counter(names).items() if count > 1], results.states)
    for name, stamp in results.stamps:
        kit.same((name, found[name]["status"]["state"]), (name, "Allocated"))
        kit.same((name, found[name]["metadata"]["annotations"]["agones.dev/last-allocated"]), (name, stamp))
    allocated = {name for name, one in found.items() if one["status"]["state"] == "Allocated"}
    left_over = allocated - set(names) - results.unknown
    kit.expect(len(left_over) <= results.cut, "allocated without an answer", left_over, results.cut)
    return found
