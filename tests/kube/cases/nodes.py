"""Nodes that are about to go."""
import time

import kit
from kit import case, same, tool
from serving import Caller, Server, account, fill

NODES = "/api/v1/nodes"


def add_node(name: str) -> None:
    same(kit.client().ask("POST", NODES, {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}})[0], 201)
    # Its controllers do not run here: take off the taint that a new node begins with.
    kit.client().ask("PATCH", f"{NODES}/{name}", {"spec": {"taints": None}}, "application/merge-patch+json")


def decided(server: Server) -> str:
    """The node of the server that would be handed out now."""
    code, answer = Caller(server, query="?dryRun=All").allocate()
    same((code, answer["status"]["state"]), (201, "Allocated"))
    return answer["status"]["nodeName"]


def becomes(server: Server, wanted: str, seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while (found := decided(server)) != wanted:
        kit.expect(time.monotonic() < deadline, f"still {found}, not {wanted}", server.log)
        time.sleep(0.05)


@case("servers on a node that is cordoned, tainted or deleted are handed out last")
def _():
    fill(6, nodes=["node-a", "node-a", "node-a", "node-b", "node-b", "node-c"])
    for name in ("node-a", "node-b", "node-c"):
        add_node(name)
    with Server() as server:
        server.wait_ready()
        becomes(server, "node-a")  # the fullest
        tool("kubectl", "cordon", "node-a")
        becomes(server, "node-b")
        tool("kubectl", "taint", "nodes", "node-b", "drain=now:NoSchedule")
        becomes(server, "node-c")
        tool("kubectl", "delete", "node", "node-c")
        becomes(server, "node-a")  # all are closing: as if none were
        tool("kubectl", "uncordon", "node-a")
        tool("kubectl", "taint", "nodes", "node-b", "drain-")
        caller = Caller(server)
        same([caller.allocate()[1]["status"]["nodeName"] for _ in range(6)],
             ["node-a"] * 3 + ["node-b"] * 2 + ["node-c"])
    for name in ("node-a", "node-b"):
        tool("kubectl", "delete", "node", name)


@case("without the right to list nodes, servers are handed out all the same")
def _():
    fill(2)
    config, _ = account("no-nodes")
    tool("kubectl", "create", "role", "no-nodes", "--verb=get,list,watch,patch", "--resource=gameservers.agones.dev")
    tool("kubectl", "create", "rolebinding", "no-nodes", "--role=no-nodes", "--serviceaccount=default:no-nodes")
    with Server("--namespace=default", "--no-events", kubeconfig=config) as server:
        server.wait_ready()
        same(Caller(server).allocate()[1]["status"]["state"], "Allocated")
        kit.expect(any("nodes was refused" in line for line in server.log), server.log)
