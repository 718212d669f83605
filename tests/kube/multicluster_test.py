#!/usr/bin/env python3
"""Two real clusters, a server of ours in front of each, policies and Secrets as objects:
`multicluster_test.py PROGRAM`. Counts in both etcds."""
import sys

sys.dont_write_bytecode = True  # nothing is written into the source tree

import base64  # noqa: E402
import collections  # noqa: E402
import concurrent.futures  # noqa: E402
import pathlib  # noqa: E402
import subprocess  # noqa: E402
import tempfile  # noqa: E402
import time  # noqa: E402

import kit  # noqa: E402
from cluster.instance import Cluster  # noqa: E402
from kit import ROOT, case, client, expect, same, tool  # noqa: E402
from rights import documented, rules  # noqa: E402
from secure_serving import ACCOUNT, NAMESPACE, account_kubeconfig, apply, run_kubectl  # noqa: E402
from serving import Caller, Server, fill, stored  # noqa: E402

POLICIES = "/apis/multicluster.agones.dev/v1/namespaces/default/gameserverallocationpolicies"
MANY = {"multiClusterSetting": {"enabled": True}}
PAIR = ("default", "b")
SECRETS = "/api/v1/namespaces/default/secrets"
PAGE = "docs/multicluster.md"


def states(cluster: str) -> collections.Counter:
    """Of the game servers, as the cluster's etcd has them."""
    return collections.Counter(one["status"]["state"] for one in stored(cluster=cluster).values())


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


@case("deploy/kubernetes/multicluster-rbac.yaml gives the ServiceAccount what docs/multicluster.md lists, and nothing more: no list of Secrets")
def _():
    for name in ("namespace", "service-account", "rbac"):
        apply(ROOT / f"deploy/kubernetes/{name}.yaml")
    before = rules(ACCOUNT, "default")
    same(before & documented(page=PAGE), set())
    apply(ROOT / "deploy/kubernetes/multicluster-rbac.yaml")
    same(rules(ACCOUNT, "default") - before, documented(page=PAGE))
    same(rules(ACCOUNT, "kube-system") - rules(ACCOUNT, NAMESPACE) - documented(), set())  # no Secret of another namespace
    put(SECRETS, "another", {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "another"}, "stringData": {"word": "of honour"}})
    who = f"--as=system:serviceaccount:{NAMESPACE}:{ACCOUNT}"
    for denied in (["list", "secrets", "-A"], ["watch", "secrets", "-A"], ["list", "secrets"], ["watch", "secrets"], ["get", "secrets"],
                   ["get", "secrets/another"], ["get", "secrets/allocator-client", "-n", NAMESPACE], ["patch", "secrets/allocator-client"],
                   ["get", "gameserverallocationpolicies.multicluster.agones.dev"]):
        same((denied, run_kubectl("auth", "can-i", *denied, who, good=False).stdout.strip()), (denied, "no"))
    same(run_kubectl("auth", "can-i", "get", "secrets/allocator-client", who).stdout.strip(), "yes")
    with tempfile.TemporaryDirectory() as folder:
        config = account_kubeconfig(pathlib.Path(folder))
        for asked in (["get", "secret", "another"], ["get", "secrets"]):
            expect("Forbidden" in run_kubectl(*asked, kubeconfig=config, good=False).stderr, asked)


@case("500 allocations over both clusters by weight, by a server with those rights: each server once, counted from both etcds")
def _():
    for cluster in PAIR:
        fill(250, prefix=cluster, cluster=cluster)
    with tempfile.TemporaryDirectory() as folder:
        certs = pathlib.Path(folder)
        subprocess.run([ROOT / "tools/certs", certs], check=True, stdout=subprocess.DEVNULL)
        pair = certs / "clients/client"
        put(SECRETS, "allocator-client", {
            "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "allocator-client"},
            "data": {key: base64.b64encode((pair / key).read_bytes()).decode() for key in ("tls.crt", "tls.key", "ca.crt")}})
        with Server(f"--tls-cert={certs}/server/tls.crt", f"--tls-key={certs}/server/tls.key", f"--client-ca={certs}/ca.crt",
                    kubeconfig=Cluster("b").admin_kubeconfig()) as there:
            put(POLICIES, "here", policy("here", []))
            put(POLICIES, "there", policy("there", [f"127.0.0.1:{there.port}"]))
            with Server("--multi-cluster", kubeconfig=account_kubeconfig(certs)) as here:
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
            expect(not any("forbidden" in line.lower() or "refused" in line for line in here.log), here.log)
    for cluster in PAIR:
        same(states(cluster), collections.Counter({"Allocated": 250}))


if __name__ == "__main__":
    sys.exit(kit.run_cases())
