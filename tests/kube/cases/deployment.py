"""What deploy/kubernetes puts into a cluster, and the server with exactly the rights that it gives."""
import contextlib
import json
import pathlib
import re
import ssl
import subprocess
import sys
import tempfile
import threading
import time

import kit
import secure_serving
from kit import ROOT, case, expect, same, tool
from rights import documented, rules
from running_server import PROGRAM
from secure_serving import ACCOUNT, NAMESPACE, PATH, SecureServer, aggregated, certificate, run_kubectl, serving_certificate
from serving import fill, stored

DEPLOY = ROOT / "deploy/kubernetes"
WISH = {"apiVersion": "allocation.agones.dev/v1", "kind": "GameServerAllocation", "metadata": {"generateName": "wish-"},
        "spec": {"selectors": [{"matchLabels": {"agones.dev/fleet": "simple"}}]}}


@contextlib.contextmanager
def behind_the_api_server(*arguments: str):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        serving_certificate(folder)
        (folder / "wish.json").write_text(json.dumps(WISH))
        with SecureServer(folder, *arguments) as server:
            server.wait_ready()
            with aggregated(server.port):
                yield server, folder


def create(folder: pathlib.Path, *arguments: str, **how) -> dict:
    """kubectl create; nothing may be said on standard error."""
    done = run_kubectl("create", "-f", str(folder / "wish.json"), "-o", "json", *arguments, **how)
    same(done.stderr, "")
    return json.loads(done.stdout)["status"]


@case("each manifest of deploy/kubernetes is accepted by the API server, without a warning")
def _():
    done = run_kubectl("apply", "-k", str(DEPLOY))
    expect("Warning" not in done.stderr, done.stderr)
    for kind in ("namespace", "serviceaccount", "clusterrole", "clusterrolebinding", "rolebinding", "service", "deployment",
                 "poddisruptionbudget", "apiservice"):
        expect(f"{kind}" in done.stdout, kind, done.stdout)
    # Again, by the server's own validation of each field.
    run_kubectl("apply", "-k", str(DEPLOY), "--dry-run=server", "--validate=strict")
    # Pods of the Deployment would get in: the namespace enforces the restricted standard.
    pod = json.loads(tool("kubectl", "get", "deployment", "-n", NAMESPACE, ACCOUNT, "-o", "json"))["spec"]["template"]
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "one", "namespace": NAMESPACE, **pod["metadata"]},
                   "spec": pod["spec"]}, file)
        file.flush()
        same(run_kubectl("create", "--dry-run=server", "-f", file.name).stderr, "")


@case("the ServiceMonitor is accepted, field by field, and selects the Service, its port and the authority of its certificate")
def _():
    definition = ROOT / "tests/kube/foreign/servicemonitors.monitoring.coreos.com.yaml"
    secure_serving.apply(definition)
    tool("kubectl", "wait", "--for=condition=Established", "--timeout=60s", f"crd/{definition.stem}")
    try:
        deadline = time.monotonic() + 60
        while kit.client().ask("GET", "/apis/monitoring.coreos.com/v1/servicemonitors")[0] != 200:
            expect(time.monotonic() < deadline, "not served")
            time.sleep(0.1)
        done = run_kubectl("apply", "-k", str(DEPLOY / "monitoring"), "--validate=strict")
        expect("Warning" not in done.stderr, done.stderr)
        monitor = json.loads(tool("kubectl", "get", "servicemonitors", "-n", NAMESPACE, ACCOUNT, "-o", "json"))["spec"]
    finally:
        tool("kubectl", "delete", "-f", str(definition))
    service = json.loads(tool("kubectl", "get", "service", "-n", NAMESPACE, ACCOUNT, "-o", "json"))
    selected = tool("kubectl", "get", "services", "-n", NAMESPACE, "-o", "name", "-l",
                    ",".join(f"{key}={value}" for key, value in monitor["selector"]["matchLabels"].items()))
    same(selected.split(), [f"service/{ACCOUNT}"])
    pod = json.loads(tool("kubectl", "get", "deployment", "-n", NAMESPACE, ACCOUNT, "-o", "json"))["spec"]["template"]["spec"]
    same(monitor["endpoints"], [{
        "port": service["spec"]["ports"][0]["name"], "path": "/metrics", "scheme": "https", "tlsConfig": {
            "serverName": f"{ACCOUNT}.{NAMESPACE}.svc",
            "ca": {"secret": {"name": pod["volumes"][0]["secret"]["secretName"], "key": "ca.crt"}}}}])


@case("the ServiceAccount may do what docs/kubernetes.md lists, and nothing more")
def _():
    tool("kubectl", "create", "serviceaccount", "-n", NAMESPACE, "nobody")
    same(rules(ACCOUNT, "kube-system") - rules("nobody", "kube-system"), documented())
    here = {rule for rule in documented() if not rule[1]}
    same(rules(ACCOUNT, "default") - rules("nobody", "default"), here)
    for denied in (["list", "secrets"], ["get", "secrets"], ["update", "gameservers.agones.dev"], ["delete", "gameservers.agones.dev"],
                   ["list", "pods"], ["create", "gameserverallocations.allocation.agones.dev"]):
        out = run_kubectl("auth", "can-i", *denied, "-A", f"--as=system:serviceaccount:{NAMESPACE}:{ACCOUNT}", good=False).stdout
        same(out.strip(), "no")


@case("kubectl create goes through the API server to the server, which has its ServiceAccount's rights only")
def _():
    fill(3)
    with behind_the_api_server() as (server, folder):
        shown = run_kubectl("create", "-f", str(ROOT / "examples/allocation.yaml"), "-o", "yaml").stdout
        expect("\n  state: Allocated\n" in shown and "kind: GameServerAllocation" in shown, shown)
        given = {re.search(r"^  gameServerName: (\S+)$", shown, re.M)[1]}
        listed = {line.split()[0]: line.split()[1] for line in tool("kubectl", "get", "gameservers", "--no-headers").splitlines()}
        same(listed, {name: "Allocated" if name in given else "Ready" for name in stored()})
        given |= {create(folder)["gameServerName"] for _ in range(2)}
        same(given, set(stored()))
        same({one["status"]["state"] for one in stored().values()}, {"Allocated"})
        same(create(folder)["state"], "UnAllocated")
        shown = run_kubectl("create", "-f", str(ROOT / "examples/allocation.yaml"), "-o", "yaml").stdout
        expect("state: UnAllocated" in shown and "kind: GameServerAllocation" in shown, shown)
        same(create(folder, "--dry-run=server")["state"], "UnAllocated")
        events = json.loads(tool("kubectl", "get", "events", "-o", "json"))["items"]
        expect(given <= {one["involvedObject"]["name"] for one in events if one["reason"] == "Allocated"}, events)
        same([line for line in server.log if "error" in line.lower()], [])


@case("kubectl discovers the resource without a warning, and wrong input comes back as the API server's own would")
def _():
    with behind_the_api_server() as (_, folder):
        found = run_kubectl("api-resources", "--api-group=allocation.agones.dev", "--cached=false")
        same(found.stderr, "")
        expect(re.search(r"gameserverallocations\s+gsa\s+allocation.agones.dev/v1\s+true\s+GameServerAllocation", found.stdout),
               found.stdout)
        explained = run_kubectl("explain", "gameserverallocations.spec.selectors.gameServerState")
        same(explained.stderr, "")
        expect("Allocated takes one that is in use already" in explained.stdout, explained.stdout)
        wrong = {**WISH, "spec": {"scheduling": "Sideways"}}
        (folder / "wrong.json").write_text(json.dumps(wrong))
        said = run_kubectl("create", "-f", str(folder / "wrong.json"), good=False).stderr
        expect("spec.scheduling" in said and "is invalid" in said, said)
        (folder / "wrong.json").write_text(json.dumps({**WISH, "spec": {"sheduling": "Packed"}}))
        said = run_kubectl("create", "-f", str(folder / "wrong.json"), good=False).stderr
        expect("sheduling" in said, said)  # kubectl asks for strict validation


@case("the API server decides who may allocate: by the role agones-alloc-caller")
def _():
    fill(1)
    with behind_the_api_server() as (_, folder):
        tool("kubectl", "create", "serviceaccount", "-n", NAMESPACE, "matchmaker")
        config = secure_serving.account_kubeconfig(folder, "matchmaker")
        said = run_kubectl("create", "-f", str(folder / "wish.json"), kubeconfig=config, good=False).stderr
        expect("Error from server (Forbidden)" in said, said)
        same(stored()["gs-0000"]["status"]["state"], "Ready")
        tool("kubectl", "create", "rolebinding", "callers", "-n", "default", "--clusterrole=agones-alloc-caller",
             f"--serviceaccount={NAMESPACE}:matchmaker")
        # kubectl asks the server for strict validation, though this account may not look for definitions.
        (folder / "wrong.json").write_text(json.dumps({**WISH, "spec": {"sheduling": "Packed"}}))
        said = run_kubectl("create", "-f", str(folder / "wrong.json"), kubeconfig=config, good=False).stderr
        expect("Error from server" in said and "sheduling" in said, said)
        same(create(folder, kubeconfig=config)["state"], "Allocated")


@case("only the API server's certificate may speak for others; everybody else is refused (Q18)")
def _():
    fill(2)
    forged = {"X-Remote-User": "admin", "X-Remote-Group": "system:masters"}
    body = {"spec": {}}
    with behind_the_api_server() as (server, folder):
        same(server.ask("POST", PATH, body, forged)[0], 401)
        same(server.ask("POST", "/gameserverallocation", {"namespace": "default"}, forged)[0], 401)
        other_name = certificate(folder / "other", "somebody", "front-proxy-ca", usage="clientAuth")
        same(server.ask("POST", PATH, body, forged, other_name)[0], 403)
        for wrong in (certificate(folder / "admin", "front-proxy-client", usage="clientAuth"),  # of the cluster's authority
                      certificate(folder / "old", "front-proxy-client", "front-proxy-ca", usage="clientAuth", days=-1),
                      certificate(folder / "use", "front-proxy-client", "front-proxy-ca", usage="serverAuth")):
            try:
                answer = server.ask("POST", PATH, body, forged, wrong)
            except (ssl.SSLError, ConnectionError):
                continue
            expect(False, wrong, answer)
        proxy = kit_front_proxy()
        same(server.ask("POST", PATH, body, None, proxy)[0], 401)  # says nothing about who asks
        same(server.ask("POST", "/gameserverallocation", {"namespace": "default"}, forged, proxy)[0], 403)
        same({one["status"]["state"] for one in stored().values()}, {"Ready"})
        same(server.ask("POST", PATH, body, forged, proxy)[0], 201)
        same(server.ask("GET", "/metrics")[0], 200)


def kit_front_proxy() -> pathlib.Path:
    return kit.Cluster("default").pki / "front-proxy-client"


@case("direct callers are authorized by the API server: by token and by certificate, for each namespace, never on a doubt")
def _():
    fill(3)
    rest, body = "/gameserverallocation", {"spec": {}}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        serving_certificate(folder)
        for account in ("may", "may-not"):
            tool("kubectl", "create", "serviceaccount", "-n", NAMESPACE, account)
        tool("kubectl", "create", "rolebinding", "direct", "-n", "default", "--clusterrole=agones-alloc-caller",
             f"--serviceaccount={NAMESPACE}:may", "--user=ann")
        may, may_not = ({"Authorization": "Bearer " + tool("kubectl", "create", "token", account, "-n", NAMESPACE).strip()}
                        for account in ("may", "may-not"))
        ann, bob = (certificate(folder / cn, cn, usage="clientAuth") for cn in ("ann", "bob"))
        authority = f"--client-ca={kit.Cluster('default').pki}/ca.crt"
        with SecureServer(folder, "--authorize-direct-callers", authority) as server:
            server.wait_ready()
            code, said = server.ask("POST", PATH, body, may)
            expect(code == 500, code, said)  # its account may not ask
            expect("does not let this server" in said, said)
            server.wait_log("cannot ask who may allocate")
            expect("forbidden" in "".join(server.log), server.log)
            before = rules(ACCOUNT, "default")
            run_kubectl("apply", "-k", str(DEPLOY / "direct-callers"))
            same(rules(ACCOUNT, "default") - before, documented("Direct callers"))
            same(server.ask("POST", PATH, body, may)[0], 201)
            same(server.ask("POST", rest, {"namespace": "default"}, may)[0], 200)
            same(server.ask("POST", PATH, body, None, ann)[0], 201)
            same({one["status"]["state"] for one in stored().values()}, {"Allocated"})

            code, said = server.ask("POST", PATH, body, may_not)
            same(code, 403)
            expect(f'User \\"system:serviceaccount:{NAMESPACE}:may-not\\" cannot create resource' in said, said)
            for path, content, headers, own in ((PATH, body, None, bob), (PATH.replace("default", "blue"), body, may, None),
                                                (rest, {"namespace": "blue"}, may, None), (rest, {}, may, None)):
                same((path, server.ask("POST", path, content, headers, own)[0]), (path, 403))
            for headers in ({}, {"Authorization": "Bearer nobody.knows.it"}, {"X-Remote-User": "admin"}):
                same((headers, server.ask("POST", PATH, body, headers)[0]), (headers, 401))

            tool("kill", "apiserver")
            try:
                same(server.ask("POST", PATH, body, {"Authorization": "Bearer another.token"})[0], 503)
            finally:
                tool("start", "apiserver")
            same(server.ask("POST", PATH, body, {"Authorization": "Bearer another.token"})[0], 401)
        text = "".join(server.log)
        expect(not any(one["Authorization"][7:] in text for one in (may, may_not)), "a token in the log")
    run_kubectl("delete", "-k", str(DEPLOY / "direct-callers"))


@case("certificates are replaced under load, and no call through the API server fails")
def _():
    fill(60)
    with behind_the_api_server() as (server, folder):
        shown = {server.serial()}
        results: list = []

        def loop() -> None:
            for _ in range(15):
                code, answer = kit.client().ask("POST", PATH, WISH)
                results.append((code, answer.get("status", {}).get("gameServerName")))

        callers = [threading.Thread(target=loop) for _ in range(4)]
        for one in callers:
            one.start()
        while any(one.is_alive() for one in callers):
            serving_certificate(folder)
            server.reload()
            shown.add(server.serial())
            (folder / "tls.key").write_text("broken")
            server.reload()
            shown.add(server.serial())
        for one in callers:
            one.join()
        same({code for code, _ in results}, {201})
        same({name for _, name in results}, set(stored()))
        expect(len(shown) > 1, shown)
        expect(any("last good ones stay in use" in line for line in server.log), server.log)


@case("the example controller allocates by its own order, under the same account, and hears of each allocation")
def _():
    program = sys.argv[2] if len(sys.argv) > 2 else str(pathlib.Path(PROGRAM).parent / "controller")
    fill(6)
    for name in ("gs-0002", "gs-0005"):
        same(kit.patch(name, {"metadata": {"labels": {"zone": "home"}}})[0], 200)
    with tempfile.TemporaryDirectory() as folder:
        config = secure_serving.account_kubeconfig(pathlib.Path(folder))

        def run(count: int) -> subprocess.CompletedProcess:
            return subprocess.run([program, str(config), "default", "simple", str(count)], capture_output=True, text=True,
                                  check=False, timeout=120)

        done = run(2)
        same((done.returncode, done.stderr), (0, ""))
        same(sorted(done.stdout.splitlines()), [f"Allocated {name} at 192.0.2.7" for name in ("gs-0002", "gs-0005")])
        same({name for name, one in stored().items() if one["status"]["state"] == "Allocated"}, {"gs-0002", "gs-0005"})
        events = json.loads(tool("kubectl", "get", "events", "-o", "json"))["items"]
        expect("gs-0005" in {one["involvedObject"]["name"] for one in events if one["reason"] == "Allocated"}, events)
        same(run(5).returncode, 1)  # four are left
