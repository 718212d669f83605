"""The CustomResourceDefinitions of this folder."""
import json

import kit
from kit import case, client, created, expect, patch, refused, same, tool

FLEETS = "/apis/agones.dev/v1/namespaces/default/fleets"
POLICIES = "/apis/multicluster.agones.dev/v1/namespaces/default/gameserverallocationpolicies"


@case("the definitions are established, structural and served")
def _():
    found = json.loads(tool("kubectl", "get", "crds", "-o", "json"))["items"]
    same(sorted(item["metadata"]["name"] for item in found), [
        "fleets.agones.dev", "gameserverallocationpolicies.multicluster.agones.dev", "gameservers.agones.dev",
        "gameserversets.agones.dev"])
    for item in found:
        conditions = {c["type"]: c["status"] for c in item["status"]["conditions"]}
        same((conditions["Established"], conditions["NamesAccepted"]), ("True", "True"))
        expect(conditions.get("NonStructuralSchema", "False") == "False", conditions)
    tool("crds")  # once more is harmless


@case("kubectl get gs prints state, address, port, node and age")
def _():
    created("columns")
    header, line = tool("kubectl", "get", "gs", "columns").splitlines()
    same(header.split(), ["NAME", "STATE", "ADDRESS", "PORT", "NODE", "AGE"])
    same(line.split()[:5], ["columns", "Ready", "192.0.2.7", "7001", "node-1"])


@case("status changes with the main resource, and GameServer has no status subresource")
def _():
    created("whole")
    code, answer = patch("whole", {"metadata": {"labels": {"a": "b"}}, "status": {"state": "Allocated"}})
    same((code, answer["status"]["state"], answer["metadata"]["labels"]["a"]), (200, "Allocated", "b"))
    same(client().ask("GET", f"{kit.SERVERS}/whole/status")[0], 404)
    same(client().ask("GET", f"{kit.SERVERS}/whole/scale")[0], 200)


@case("the states are a closed set: Allocating is refused with 422 on status.state")
def _():
    created("closed")
    answer = patch("closed", {"status": {"state": "Allocating"}})
    refused(answer, 422, "Invalid", "status.state")
    same([c["reason"] for c in answer[1]["details"]["causes"]], ["FieldValueNotSupported"])
    for state in ("PortAllocation", "Creating", "Starting", "Scheduled", "RequestReady", "Ready", "Allocated",
                  "Reserved", "Shutdown", "Error", "Unhealthy"):
        same(patch("closed", {"status": {"state": state}})[0], 200)


@case("limits of counters and lists are enforced, and their capacity defaults to 1000")
def _():
    created("limits", counters={"rooms": {"count": 1}}, lists={"players": {"values": ["a"]}})
    status = client().ask("GET", f"{kit.SERVERS}/limits")[1]["status"]
    same(status["counters"]["rooms"], {"count": 1, "capacity": 1000})
    same(status["lists"]["players"], {"values": ["a"], "capacity": 1000})
    for what, value, field in (
            ("counters", {"rooms": {"count": -1}}, "status.counters.rooms.count"),
            ("counters", {"rooms": {"capacity": -1}}, "status.counters.rooms.capacity"),
            ("lists", {"players": {"capacity": 1001}}, "status.lists.players.capacity"),
            ("lists", {"players": {"values": ["a", "a"]}}, "status.lists[players].values[1]"),
            ("lists", {"players": {"values": [str(i) for i in range(1001)]}}, "status.lists.players.values"),
            ("counters", {str(i): {"count": 1} for i in range(1000)}, "status.counters")):
        refused(patch("limits", {"status": {what: value}}), 422, "Invalid", field)


@case("unknown fields are pruned, null stays where the reference writes it, the pod template is typed")
def _():
    created("pruned", ports=None, addresses=None, players=None, reservedUntil=None, surprise=1)
    answer = client().ask("GET", f"{kit.SERVERS}/pruned")[1]
    for field in ("ports", "addresses", "players", "reservedUntil"):
        expect(field in answer["status"] and answer["status"][field] is None, field, answer["status"])
    expect("surprise" not in answer["status"], answer["status"])
    code, answer = patch("pruned", {"spec": {"template": {"spec": {"hostNetwork": True, "surprise": 1}}}})
    same(code, 200)
    same(answer["spec"]["template"]["spec"]["hostNetwork"], True)
    expect("surprise" not in answer["spec"]["template"]["spec"], answer["spec"])
    refused(patch("pruned", {"spec": {"template": {"spec": {"containers": []}}}}), 422, "Invalid",
            "spec.template.spec.containers")


@case("Fleet has status and scale subresources")
def _():
    fleet = {"apiVersion": "agones.dev/v1", "kind": "Fleet", "metadata": {"name": "simple"},
             "spec": {"replicas": 2, "template": {"spec": {"anything": {"is": "kept"}}}}}
    same(client().ask("POST", FLEETS, fleet)[0], 201)
    code, answer = patch("simple", {"status": {"replicas": 9}}, FLEETS)
    same((code, "status" in answer), (200, False))
    totals = {"rooms": {"allocatedCount": 1, "allocatedCapacity": 2, "count": 3, "capacity": 4}}
    code, answer = patch("simple/status", {"status": {"replicas": 2, "readyReplicas": 1, "counters": totals}}, FLEETS)
    same((code, answer["status"]), (200, {"replicas": 2, "readyReplicas": 1, "counters": totals}))
    same(answer["spec"]["template"]["spec"], {"anything": {"is": "kept"}})
    tool("kubectl", "scale", "fleet", "simple", "--replicas=5")
    same(client().ask("GET", f"{FLEETS}/simple")[1]["spec"]["replicas"], 5)


@case("GameServerAllocationPolicy requires what the reference's definition requires")
def _():
    def post(name: str, spec: dict) -> tuple[int, dict]:
        return client().ask("POST", POLICIES, {"apiVersion": "multicluster.agones.dev/v1", "spec": spec,
                                               "kind": "GameServerAllocationPolicy", "metadata": {"name": name}})

    same(post("local", {"priority": 0, "weight": 0})[0], 201)
    whole = {"clusterName": "b", "allocationEndpoints": ["127.0.0.1:1"], "secretName": "s", "namespace": "n",
             "serverCa": "YQ=="}
    same(post("remote", {"priority": 1, "weight": 100, "connectionInfo": whole})[0], 201)
    for spec, field in (
            ({"priority": 1}, "spec.weight"), ({"weight": 1}, "spec.priority"),
            ({"priority": -1, "weight": 1}, "spec.priority"), ({"priority": 1, "weight": -1}, "spec.weight"),
            ({"priority": 1, "weight": 1, "connectionInfo": {"clusterName": "b"}}, "spec.connectionInfo.namespace"),
            ({"priority": 1, "weight": 1, "connectionInfo": {**whole, "allocationEndpoints": []}},
             "spec.connectionInfo.allocationEndpoints"),
            ({"priority": 1, "weight": 1, "connectionInfo": {**whole, "serverCa": "%"}},
             "spec.connectionInfo.serverCa")):
        refused(post("bad", spec), 422, "Invalid", field)
