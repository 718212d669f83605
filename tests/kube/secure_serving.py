"""The built server as an aggregated one: behind the real API server, over TLS, as its own ServiceAccount."""
import base64
import contextlib
import http.client
import json
import pathlib
import signal
import ssl
import subprocess
import tempfile
import typing

import kit
from cluster.instance import Cluster
from kit import ROOT, tool
from running_server import RunningServer

ACCOUNT, NAMESPACE = "agones-alloc-server", "agones-alloc"
API = "v1.allocation.agones.dev"
PATH = "/apis/allocation.agones.dev/v1/namespaces/default/gameserverallocations"


def certificate(target: pathlib.Path, cn: str, authority: str = "ca", **more: typing.Any) -> pathlib.Path:
    """target.crt and target.key"""
    tool("certificate", str(target), "--cn", cn, "--authority", authority,
         *[word for key, value in more.items() for word in (f"--{key}", str(value))])
    return target


def serving_certificate(folder: pathlib.Path) -> None:
    certificate(folder / "tls", "agones-alloc-server", names=f"DNS:{ACCOUNT}.{NAMESPACE}.svc,DNS:localhost,IP:127.0.0.1",
                usage="serverAuth")


def account_kubeconfig(folder: pathlib.Path, account: str = ACCOUNT, namespace: str = NAMESPACE) -> pathlib.Path:
    """Of a ServiceAccount, by a token that the API server has issued."""
    one = Cluster("default")
    token = tool("kubectl", "create", "token", account, "-n", namespace).strip()
    target = folder / f"{account}.kubeconfig"
    target.write_text(json.dumps({
        "apiVersion": "v1", "kind": "Config", "current-context": "c",
        "clusters": [{"name": "c", "cluster": {"server": one.server(), "certificate-authority": str(one.pki / "ca.crt")}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "users": [{"name": "u", "user": {"token": token}}]}))
    return target


class SecureServer(RunningServer):
    """Over TLS and with --requestheader, as its own ServiceAccount."""

    def __init__(self, folder: pathlib.Path, *arguments: str):
        self.folder = folder
        super().__init__(f"--kubeconfig={account_kubeconfig(folder)}", f"--tls-cert={folder}/tls.crt",
                         f"--tls-key={folder}/tls.key", "--requestheader", *arguments)

    def get(self, path: str) -> tuple[int, str]:
        return self.ask("GET", path)

    def ask(self, method: str, path: str, body: dict | None = None, headers: dict | None = None,
            own: pathlib.Path | None = None) -> tuple[int, str]:
        """Directly, past the API server; own: the client's certificate, without .crt and .key."""
        context = ssl.create_default_context(cafile=str(Cluster("default").pki / "ca.crt"))
        if own:
            context.load_cert_chain(f"{own}.crt", f"{own}.key")
        connection = http.client.HTTPSConnection("localhost", self.port, timeout=30, context=context)
        with contextlib.closing(connection):
            connection.request(method, path, json.dumps(body) if body is not None else None,
                               {"Content-Type": "application/json", **(headers or {})})
            answer = connection.getresponse()
            return answer.status, answer.read().decode()

    def serial(self) -> str:
        """Of the certificate it shows."""
        return ssl.get_server_certificate(("127.0.0.1", self.port))

    def reload(self) -> None:
        self.process.send_signal(signal.SIGHUP)


def apply(what: pathlib.Path | str | list | dict) -> None:
    """Objects, or a file; a warning of the API server is a failure."""
    if not isinstance(what, (pathlib.Path, str)):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump({"apiVersion": "v1", "kind": "List", "items": what} if isinstance(what, list) else what, file)
            file.flush()
            return apply(file.name)
    kit.expect("Warning" not in tool_errors("kubectl", "apply", "--server-side", "-f", str(what)), what)


def tool_errors(*arguments: str, kubeconfig: pathlib.Path | None = None, good: bool = True) -> str:
    """What kubectl wrote to standard error."""
    return run_kubectl(*arguments[1:], kubeconfig=kubeconfig, good=good).stderr


def run_kubectl(*arguments: str, kubeconfig: pathlib.Path | None = None, good: bool = True) -> subprocess.CompletedProcess:
    extra = [f"--kubeconfig={kubeconfig}"] if kubeconfig else []
    done = subprocess.run([str(ROOT / "tools/cluster"), "kubectl", *extra, *arguments], text=True, check=False,
                          capture_output=True, stdin=subprocess.DEVNULL, timeout=300)
    kit.expect((done.returncode == 0) == good, arguments, done.returncode, done.stdout, done.stderr)
    return done


@contextlib.contextmanager
def aggregated(port: int) -> typing.Iterator[None]:
    """The Service and the APIService of deploy/kubernetes lead to that port of loopback."""
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": ACCOUNT, "namespace": NAMESPACE},
               "spec": {"type": "ExternalName", "externalName": "localhost", "ports": [{"port": port}]}}
    tool("kubectl", "delete", "service", "-n", NAMESPACE, ACCOUNT)
    apply(service)
    authority = base64.b64encode((Cluster("default").pki / "ca.crt").read_bytes()).decode()
    tool("kubectl", "patch", "apiservice", API, "--type=merge", "-p",
         json.dumps({"spec": {"caBundle": authority, "service": {"port": port}}}))
    try:
        tool("kubectl", "wait", "--for=condition=Available", "--timeout=60s", f"apiservice/{API}")
        yield
    finally:
        tool("kubectl", "delete", "service", "-n", NAMESPACE, ACCOUNT)
        tool("kubectl", "apply", "-k", str(ROOT / "deploy/kubernetes"))
