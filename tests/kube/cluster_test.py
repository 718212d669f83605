#!/usr/bin/env python3
"""Proves tools/cluster, and that the API server it runs behaves as the adapter counts on.

Prints a line per case and ends with `N passed, N failed`. Needs what tools/setup installs, and a few minutes the
first time, when etcd and kube-apiserver are compiled.
"""
import http.client
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import kit
from cluster.client import Client
from cluster.instance import Cluster, state_root
from kit import case, client, created, expect, patch, same, tool

FLEETS = "/apis/agones.dev/v1/namespaces/default/fleets"
POLICIES = "/apis/multicluster.agones.dev/v1/namespaces/default/gameserverallocationpolicies"


def refused(answer: tuple[int, dict], code: int, reason: str, field: str = "") -> None:
    """It is that Status, and one of its causes is about the field."""
    same((answer[0], answer[1].get("reason")), (code, reason))
    causes = answer[1].get("details", {}).get("causes", [])
    expect(not field or any(cause.get("field") == field for cause in causes), field, answer[1])


def events(path: str, number: int, seconds: float = 20) -> list[dict]:
    """The first events of a watch."""
    with client(timeout=seconds).open("GET", path) as answer:
        same(answer.status, 200)
        return [json.loads(answer.readline()) for _ in range(number)]


def pids(name: str = "default") -> list[int | None]:
    one = Cluster(name)
    return [one.etcd.pid(), one.apiserver.pid()]


# --- the tool
@case("help names the commands, and an unknown command or target is refused")
def _():
    text = tool("--help")
    for word in ("up", "down", "status", "env", "kubectl", "restart", "pause", "resume", "kill", "compact"):
        expect(f"    {word} " in text, word, text)
    expect("invalid choice" in tool("fly", good=False))
    expect("invalid choice" in tool("pause", "scheduler", good=False))
    expect("no cluster name" in tool("--name", "../x", "up", good=False))


@case("a command on a cluster that does not exist says how to start it")
def _():
    for command in (["kubectl", "get", "gs"], ["env"], ["restart", "etcd"], ["compact"]):
        expect("tools/cluster up --name nobody starts it" in tool("--name", "nobody", *command, good=False))
    same(tool("status").strip(), "no cluster")


@case("a build that cannot reach its modules says so and leaves nothing behind")
def _():
    with tempfile.TemporaryDirectory() as folder:
        cut_off = {"XDG_CACHE_HOME": folder, "GOPROXY": "off", "GOMODCACHE": f"{folder}/modules", "PIP_NO_INDEX": "1",
                   "GOFLAGS": "-modcacherw"}
        expect("cannot be" in tool("build", good=False, environment=cut_off))
        same([p.name for p in pathlib.Path(folder, "agones_alloc/kube").iterdir()], [".lock"])


@case("up starts a cluster and prints its kubeconfig")
def _():
    path = pathlib.Path(tool("up").strip())
    same(path, Cluster("default").admin_kubeconfig())
    same(path.stat().st_mode & 0o777, 0o600)
    expect(all(pids()), pids())
    expect(" running" in tool("status", "--name", "default"))


@case("what is built is found again without Go and without a network")
def _():
    tool("build", environment={"PATH": "/usr/bin:/bin", "GOPROXY": "off", "PIP_NO_INDEX": "1"})


@case("up on a running cluster changes nothing and prints the same")
def _():
    before = pids()
    same(tool("up").strip(), str(Cluster("default").admin_kubeconfig()))
    same(pids(), before)
    expect("other flags" in tool("up", "--audit-log", good=False))


@case("both kubeconfigs are an administrator's, by certificate and by token")
def _():
    for name, user in (("admin", "admin"), ("admin-token", "admin-token")):
        config = f"--kubeconfig={Cluster('default').folder}/{name}.kubeconfig"
        answer = json.loads(tool("kubectl", config, "auth", "whoami", "-o", "json"))["status"]["userInfo"]
        same(answer["username"], user)
        expect("system:masters" in answer["groups"], answer)
        same(tool("kubectl", config, "auth", "can-i", "*", "*").strip(), "yes")


@case("env points a shell at it")
def _():
    with_env = f'eval "$({sys.executable} {kit.ROOT}/tools/cluster env)" && '
    script = with_env + ('"$AGONES_ALLOC_KUBECTL" get --raw /readyz && '
                         'test -s "$AGONES_ALLOC_KUBE_CA_FILE" && test -s "$AGONES_ALLOC_KUBE_CERT_FILE" && '
                         'test -s "$AGONES_ALLOC_KUBE_KEY_FILE" && test -s "$AGONES_ALLOC_KUBE_TOKEN_FILE"')
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=False)
    same((done.returncode, done.stdout), (0, "ok"))


# --- the definitions
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
    for state in ("PortAllocation", "Creating", "Starting", "Scheduled", "RequestReady", "Ready", "Allocated", "Reserved",
                  "Shutdown", "Error", "Unhealthy"):
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
            ("lists", {"players": {"values": ["a", "a"]}}, "status.lists.players.values[1]"),
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


# --- facts of the API server that the adapter counts on
@case("a merge patch with a stale resource version is answered 409 Conflict")
def _():
    version = created("stale")["metadata"]["resourceVersion"]
    same(patch("stale", {"metadata": {"resourceVersion": version, "labels": {"by": "another"}}})[0], 200)
    refused(patch("stale", {"metadata": {"resourceVersion": version}, "status": {"state": "Allocated"}}), 409, "Conflict")
    same(client().ask("GET", f"{kit.SERVERS}/stale")[1]["status"]["state"], "Ready")


@case("a patch of an object that is gone is answered 404 NotFound")
def _():
    created("gone")
    same(client().ask("DELETE", f"{kit.SERVERS}/gone")[0], 200)
    refused(patch("gone", {"status": {"state": "Allocated"}}), 404, "NotFound")


@case("a patch that names another uid is answered 422 Invalid")
def _():
    created("other")
    refused(patch("other", {"metadata": {"uid": "8b9cbd2e-0000-4000-8000-000000000000"}}), 422, "Invalid",
            "metadata.uid")


@case("a JSON patch whose test fails is answered 422 Invalid")
def _():
    created("tested")
    steps = [{"op": "test", "path": "/metadata/resourceVersion", "value": "1"}]
    refused(client().ask("PATCH", f"{kit.SERVERS}/tested", json.dumps(steps).encode(), "application/json-patch+json"),
            422, "Invalid")


@case("a patch that changes nothing keeps the resource version and makes no event")
def _():
    version = created("same")["metadata"]["resourceVersion"]
    code, answer = patch("same", {"status": {"state": "Ready"}})
    same((code, answer["metadata"]["resourceVersion"]), (200, version))
    patch("same", {"status": {"state": "Reserved"}})
    first, = events(f"{kit.SERVERS}?watch=true&resourceVersion={version}&fieldSelector=metadata.name%3Dsame", 1)
    same((first["type"], first["object"]["status"]["state"]), ("MODIFIED", "Reserved"))


@case("a list in pages tells how to go on and how many remain")
def _():
    count = len(client().ask("GET", kit.SERVERS)[1]["items"])
    _, page = client().ask("GET", f"{kit.SERVERS}?limit=3")
    same((len(page["items"]), page["metadata"]["remainingItemCount"]), (3, count - 3))
    _, rest = client().ask("GET", f"{kit.SERVERS}?limit=1000&continue={page['metadata']['continue']}")
    same((len(rest["items"]), rest["metadata"].get("continue")), (count - 3, None))


@case("a streaming list sends every object as ADDED and then one bookmark")
def _():
    count = len(client().ask("GET", kit.SERVERS)[1]["items"])
    found = events(f"{kit.SERVERS}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
                   "&allowWatchBookmarks=true", count + 1)
    same([event["type"] for event in found], ["ADDED"] * count + ["BOOKMARK"])
    same(found[-1]["object"]["metadata"]["annotations"], {"k8s.io/initial-events-end": "true"})


@case("a watch from a compacted version is answered 200 and one ERROR event of code 410")
def _():
    version = created("compacted")["metadata"]["resourceVersion"]
    patch("compacted", {"metadata": {"labels": {"a": "1"}}})
    expect(int(tool("compact")) > int(version))
    tool("restart", "apiserver")  # its own memory of events would still serve the version
    error, = events(f"{kit.SERVERS}?watch=true&resourceVersion={version}", 1)
    same((error["type"], error["object"]["code"], error["object"]["reason"]), ("ERROR", 410, "Expired"))


@case("identities: RBAC holds for a service account, and a certificate issued here is a user")
def _():
    tool("kubectl", "create", "serviceaccount", "nobody")
    token = tool("kubectl", "create", "token", "nobody").strip()
    one = Cluster("default")
    code, answer = Client(one.server(), one.pki, token=token).ask("GET", kit.SERVERS)
    refused((code, answer), 403, "Forbidden")
    expect("system:serviceaccount:default:nobody" in answer["message"], answer)
    with tempfile.TemporaryDirectory() as folder:
        tool("certificate", f"{folder}/user", "--cn", "ann", "--group", "players", "--usage", "clientAuth")
        answer = tool("kubectl", "--kubeconfig=/dev/null", f"--server={one.server()}",
                      f"--certificate-authority={one.pki}/ca.crt", f"--client-certificate={folder}/user.crt",
                      f"--client-key={folder}/user.key", "auth", "whoami", "-o", "json")
    user = json.loads(answer)["status"]["userInfo"]
    same((user["username"], "players" in user["groups"]), ("ann", True))


@case("aggregated servers find the front proxy's authority and names")
def _():
    data = client().ask("GET", "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication")[1]["data"]
    same(data["requestheader-client-ca-file"], (Cluster("default").pki / "front-proxy-ca.crt").read_text())
    same(json.loads(data["requestheader-allowed-names"]), ["front-proxy-client"])


# --- faults
def answers(seconds: float = 5) -> bool:
    """Whether a write goes through within that time."""
    try:
        return client(timeout=seconds).ask("PATCH", f"{kit.SERVERS}/columns", {
            "metadata": {"annotations": {"at": str(time.monotonic_ns())}}}, kit.MERGE)[0] == 200
    except (OSError, http.client.HTTPException):
        return False


@case("pause silences the API server or etcd, resume brings it back as it was")
def _():
    before = pids()
    for target in ("apiserver", "etcd"):
        tool("pause", target)
        expect(f"{target} paused" in tool("status"), tool("status"))
        tool("status", "--name", "default", good=False)
        expect(not answers(1.5), target)
        tool("resume", target)
        expect(answers(30), target)
    same(pids(), before)


@case("restart of either keeps port and data")
def _():
    url, count = Cluster("default").server(), len(client().ask("GET", kit.SERVERS)[1]["items"])
    for targets in (["etcd"], ["apiserver"], ["apiserver", "etcd"]):
        before = pids()
        tool("restart", *targets)
        after = pids()
        same([a != b for a, b in zip(before, after)], ["etcd" in targets, "apiserver" in targets])
        expect(answers(30), targets)
    same(Cluster("default").server(), url)
    same(len(client().ask("GET", kit.SERVERS)[1]["items"]), count)


@case("kill ends one at once, start or up brings it back with its data")
def _():
    count = len(client().ask("GET", kit.SERVERS)[1]["items"])
    for target, back in (("apiserver", ["start", "apiserver"]), ("etcd", ["start", "etcd"]), ("apiserver", ["up"])):
        tool("kill", target)
        expect(f"{target} stopped" in tool("status"), tool("status"))
        expect(not answers(2), target)
        tool(*back)
        expect(answers(30), target)
    same(len(client().ask("GET", kit.SERVERS)[1]["items"]), count)


@case("a second cluster by name is another world, and its audit log counts requests")
def _():
    tool("--name", "b", "up", "--audit-log")
    same(client("b").ask("GET", kit.SERVERS)[1]["items"], [])
    same(client("b").ask("POST", kit.SERVERS, kit.game_server("audited"))[0], 201)
    for number in range(3):
        content = {"metadata": {"labels": {"n": str(number)}}}
        same(client("b").ask("PATCH", f"{kit.SERVERS}/audited", content, kit.MERGE)[0], 200)
    log, found = Cluster("b").audit_log(), []
    deadline = time.monotonic() + 20
    while len(found) < 3 and time.monotonic() < deadline:
        time.sleep(0.1)
        entries = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
        found = [e for e in entries if e["verb"] == "patch" and e["objectRef"].get("name") == "audited"]
    same([e["responseStatus"]["code"] for e in found], [200, 200, 200])
    same([one["name"] for one in json.loads(tool("status", "--json"))], ["b", "default"])
    same(tool("kubectl", "--name", "b", "get", "gs", "-o", "name").strip(), "gameserver.agones.dev/audited")


@case("a starter that is killed half-way leaves what the next up finishes, and no process twice")
def _():
    one = Cluster("c")
    with subprocess.Popen([sys.executable, str(kit.ROOT / "tools/cluster"), "--name", "c", "up"],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True) as starter:
        deadline = time.monotonic() + 60
        while one.apiserver.pid() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        os.killpg(starter.pid, signal.SIGKILL)
    expect(all(pids("c")), pids("c"))
    tool("up", "--name", "c")
    same(client("c").ask("GET", kit.SERVERS)[0], 200)
    same(sorted(kit.processes_of(one.folder)), sorted(pids("c")))


@case("a pid file that names another process is not believed")
def _():
    one = Cluster("c")
    tool("kill", "--name", "c", "apiserver")
    with subprocess.Popen(["sleep", "600"]) as bystander:
        try:
            one.apiserver.pid_file.write_text(json.dumps({"pid": bystander.pid, "start_time": "1"}))
            expect("apiserver stopped" in tool("status", "--name", "c", good=False))
            tool("down", "--name", "c")
            same(bystander.poll(), None)
        finally:
            bystander.kill()
    expect(not one.folder.exists(), one.folder)


@case("down finds processes whose files were removed by hand")
def _():
    tool("up", "--name", "c")
    for name in ("etcd.pid", "apiserver.pid"):
        (Cluster("c").folder / name).unlink()
    tool("down", "--name", "c")
    same(kit.processes_of(Cluster("c").folder), [])


@case("down leaves no process and no file, and does nothing the second time")
def _():
    tool("down", "--name", "b")
    same(kit.processes_of(Cluster("b").folder), [])
    expect(answers(30), "the other cluster goes on")
    tool("pause", "etcd")  # a paused process must end too
    tool("down", "--all")
    same(kit.processes_of(state_root()), [])
    same(list(state_root().iterdir()), [])
    tool("down")
    tool("down", "--all")


if __name__ == "__main__":
    sys.exit(kit.run_cases())
