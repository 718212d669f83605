#!/usr/bin/env python3
"""Two real clusters, a server of ours in front of each, policies and Secrets as objects:
`multicluster_test.py PROGRAM`. Counts in both etcds."""
import sys

sys.dont_write_bytecode = True  # nothing is written into the source tree

import base64  # noqa: E402
import collections  # noqa: E402
import concurrent.futures  # noqa: E402
import contextlib  # noqa: E402
import json  # noqa: E402
import pathlib  # noqa: E402
import re  # noqa: E402
import subprocess  # noqa: E402
import tempfile  # noqa: E402
import time  # noqa: E402
import urllib.request  # noqa: E402

import kit  # noqa: E402
from cluster.instance import Cluster  # noqa: E402
from kit import ROOT, case, client, expect, same, tool  # noqa: E402
from running_server import PROGRAM  # noqa: E402
from serving import Caller  # noqa: E402

POLICIES = "/apis/multicluster.agones.dev/v1/namespaces/default/gameserverallocationpolicies"
MANY = {"multiClusterSetting": {"enabled": True}}
PAIR = ("default", "b")


class Server:
    """One agones-alloc-server in front of a cluster; ends with the block."""

    def __init__(self, cluster: str, *arguments: str):
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            [PROGRAM, f"--kubeconfig={Cluster(cluster).admin_kubeconfig()}", "--listen=127.0.0.1:0", "--log-format=json", *arguments],
            stdout=self.log, stderr=self.log)
        self.port = int(self.wait_for(r'"url":"https?://127\.0\.0\.1:(\d+)"'))

    def wait_for(self, pattern: str, seconds: float = 60) -> str:
        deadline = time.monotonic() + seconds
        while True:
            self.log.seek(0)
            text = self.log.read()
            if found := re.search(pattern, text):
                return found[1]
            expect(time.monotonic() < deadline and self.process.poll() is None, "the server does not say", pattern, text)
            time.sleep(0.05)

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_) -> None:
        self.process.terminate()
        self.process.wait(30)
        self.log.close()

    def get(self, path: str) -> tuple[int, str]:
        with contextlib.suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=30) as answer:
            return answer.status, answer.read().decode()
        return 0, ""

    def wait_ready(self, seconds: float = 60) -> None:
        deadline = time.monotonic() + seconds
        while self.get("/ready")[0] != 200:
            expect(time.monotonic() < deadline, "not ready")
            time.sleep(0.05)


def states(cluster: str) -> collections.Counter:
    """Of the game servers, as the cluster's etcd has them."""
    def encoded(text: str) -> str:
        return base64.b64encode(text.encode()).decode()

    prefix = "/registry/agones.dev/gameservers/default"
    request = urllib.request.Request(f"{Cluster(cluster).etcd_url()}/v3/kv/range", method="POST",
                                     data=json.dumps({"key": encoded(prefix + "/"), "range_end": encoded(prefix + "0")}).encode())
    with urllib.request.urlopen(request, timeout=30) as answer:
        found = [json.loads(base64.b64decode(kv["value"])) for kv in json.loads(answer.read()).get("kvs", [])]
    return collections.Counter(one["status"]["state"] for one in found)


def fill(cluster: str, count: int) -> None:
    same(client(cluster, 120).ask("DELETE", kit.SERVERS)[0], 200)

    def make(i: int) -> int:
        return client(cluster).ask("POST", kit.SERVERS, kit.game_server(f"{cluster}-{i:04d}", nodeName=f"node-{i % 7}"))[0]

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        same(collections.Counter(pool.map(make, range(count))), collections.Counter({201: count}))


def policy(name: str, endpoints: list[str], priority: int = 1) -> dict:
    return {"apiVersion": "multicluster.agones.dev/v1", "kind": "GameServerAllocationPolicy", "metadata": {"name": name},
            "spec": {"priority": priority, "weight": 50,
                     "connectionInfo": {"clusterName": name, "namespace": "default", "secretName": "allocator-client",
                                        **({"allocationEndpoints": endpoints} if endpoints else {})}}}


def put(path: str, name: str, content: dict) -> None:
    client().ask("DELETE", f"{path}/{name}")
    same(client().ask("POST", path, content)[0], 201)


@case("two clusters are up")
def _():
    tool("up")
    tool("up", "--name", "b")


@case("500 allocations over both clusters by weight: each server once, counted from both etcds")
def _():
    for cluster in PAIR:
        fill(cluster, 250)
    with tempfile.TemporaryDirectory() as folder:
        certs = pathlib.Path(folder)
        subprocess.run([ROOT / "tools/certs", certs], check=True, stdout=subprocess.DEVNULL)
        pair = certs / "clients/client"
        put("/api/v1/namespaces/default/secrets", "allocator-client", {
            "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "allocator-client"},
            "data": {key: base64.b64encode((pair / key).read_bytes()).decode() for key in ("tls.crt", "tls.key", "ca.crt")}})
        with Server("b", f"--tls-cert={certs}/server/tls.crt", f"--tls-key={certs}/server/tls.key",
                    f"--client-ca={certs}/ca.crt") as there:
            put(POLICIES, "here", policy("here", []))
            put(POLICIES, "there", policy("there", [f"127.0.0.1:{there.port}"]))
            with Server("default", "--multi-cluster") as here:
                here.wait_ready()
                first = Caller(here).allocate(MANY)
                same((first[0], first[1]["status"]["state"]), (201, "Allocated"))
                results = collections.Counter()
                names = []

                def loop(count: int) -> None:
                    caller = Caller(here)
                    for _ in range(count):
                        code, answer = caller.allocate(MANY)
                        same((code, answer["status"]["state"]), (201, "Allocated"))
                        names.append(answer["status"]["gameServerName"])
                        results[answer["status"]["source"]] += 1

                shares = [31] * 15 + [34]
                same(sum(shares), 499)
                with concurrent.futures.ThreadPoolExecutor(16) as pool:
                    for done in [pool.submit(loop, count) for count in shares]:
                        done.result()
                names.append(first[1]["status"]["gameServerName"])
                same(len(set(names)), 500)
                same(Caller(here).allocate(MANY)[1]["status"]["state"], "UnAllocated")
                # A policy that goes is not asked any more; the last answer then comes from here alone.
                same(client().ask("DELETE", f"{POLICIES}/there")[0], 200)
                deadline = time.monotonic() + 20
                while '"there"' in here.get("/v1/clusters")[1]:
                    expect(time.monotonic() < deadline, "the policy stays")
                    time.sleep(0.1)
                same(Caller(here).allocate(MANY)[1]["status"]["state"], "UnAllocated")
    for cluster in PAIR:
        same(states(cluster), collections.Counter({"Allocated": 250}))


if __name__ == "__main__":
    sys.exit(kit.run_cases())
