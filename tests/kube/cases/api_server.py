"""Facts of the API server that the adapter counts on."""
import base64
import json
import pathlib
import tempfile

import aggregated_server
import kit
from cluster.client import Client
from cluster.instance import Cluster
from kit import case, client, created, events, expect, patch, refused, same, tool


@case("a merge patch with a stale resource version is answered 409 Conflict")
def _():
    version = created("stale")["metadata"]["resourceVersion"]
    same(patch("stale", {"metadata": {"resourceVersion": version, "labels": {"by": "another"}}})[0], 200)
    content = {"metadata": {"resourceVersion": version}, "status": {"state": "Allocated"}}
    refused(patch("stale", content), 409, "Conflict")
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
    same((len(rest["items"]), rest["metadata"].get("continue", "")), (count - 3, ""))


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
    path = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"
    data = client().ask("GET", path)[1]["data"]
    same(data["requestheader-client-ca-file"], (Cluster("default").pki / "front-proxy-ca.crt").read_text())
    same(json.loads(data["requestheader-allowed-names"]), ["front-proxy-client"])


@case("aggregation reaches a process on loopback, which sees the front proxy's certificate and the caller's name")
def _():
    one = Cluster("default")
    with tempfile.TemporaryDirectory() as folder:
        tool("certificate", f"{folder}/serving", "--cn", "aggregated", "--names",
             f"DNS:{aggregated_server.SERVICE}.default.svc", "--usage", "serverAuth")
        with aggregated_server.serving(pathlib.Path(folder, "serving"), one.pki / "front-proxy-ca.crt") as port:
            objects = aggregated_server.registration(port, base64.b64encode((one.pki / "ca.crt").read_bytes()).decode())
            registered = pathlib.Path(folder, "registration.json")
            registered.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
            tool("kubectl", "apply", "-f", str(registered))
            tool("kubectl", "wait", "--for=condition=Available", "--timeout=60s", "apiservice/v1.allocation.agones.dev")
            wish = pathlib.Path(folder, "gsa.json")
            wish.write_text(json.dumps({"apiVersion": "allocation.agones.dev/v1", "kind": "GameServerAllocation",
                                        "metadata": {"generateName": "simple-"}, "spec": {}}))
            status = json.loads(tool("kubectl", "create", "-f", str(wish), "-o", "json"))["status"]
            same((status["state"], status["user"], status["proxy"]), ("Allocated", "admin", "front-proxy-client"))
            expect("system:masters" in status["groups"], status)
            expect("fieldManager=kubectl-create" in status["query"], status)
            tool("kubectl", "delete", "-f", str(registered))
