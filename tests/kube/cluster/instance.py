"""One named cluster: its folder, ports, flags, and the two processes."""
import json
import os
import pathlib
import random
import re
import secrets
import shutil
import signal
import socket
import tempfile
import time
import typing

from . import ClusterError, binaries, certificates, kubeconfig, lock
from .client import Client, KeptClient
from .definitions import established, install
from .definitions import names as definition_names
from .processes import Process
from .say import say

START_SECONDS = 240  # generous: the machine may be compiling
STOP_SECONDS = 15
AUDIT_POLICY = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"],
                "rules": [{"level": "Metadata"}]}


def state_root() -> pathlib.Path:
    base = os.environ.get("XDG_STATE_HOME") or tempfile.gettempdir()
    return pathlib.Path(base, f"agones_alloc-cluster-{os.getuid()}")


def names() -> list[str]:
    root = state_root()
    return sorted(p.name for p in root.iterdir() if p.is_dir()) if root.is_dir() else []


def free_ports(number: int) -> list[int]:
    """Below the range that the kernel gives to clients, so that they are still free at a restart."""
    try:
        first = int(pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    except (OSError, ValueError):
        first = 32768
    high = max(first, 12000)
    found: list[int] = []
    for _ in range(1000):
        port = random.randrange(high - 10000, high)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        if port not in found:
            found.append(port)
        if len(found) == number:
            return found
    raise ClusterError("there are no free ports on 127.0.0.1")


class Cluster:
    def __init__(self, name: str):
        if not re.fullmatch(r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?", name):
            raise ClusterError(f"'{name}' is no cluster name: small letters, digits and dashes, 40 at most")
        self.name = name
        self.folder = state_root() / name
        self.pki = self.folder / "pki"
        self.settings_file = self.folder / "cluster.json"
        self.etcd = Process(self.folder, "etcd")
        self.apiserver = Process(self.folder, "apiserver")

    # --- what it is
    def exists(self) -> bool:
        return self.settings_file.exists()

    def settings(self) -> dict:
        try:
            return json.loads(self.settings_file.read_text())
        except FileNotFoundError:
            start = "tools/cluster up" + ("" if self.name == "default" else f" --name {self.name}")
            raise ClusterError(f"there is no cluster '{self.name}'; {start} starts it") from None

    def process(self, target: str) -> Process:
        self.settings()
        return {"etcd": self.etcd, "apiserver": self.apiserver}[target]

    def server(self) -> str:
        return f"https://127.0.0.1:{self.settings()['ports']['apiserver']}"

    def etcd_url(self) -> str:
        return f"http://127.0.0.1:{self.settings()['ports']['etcd']}"

    def admin_kubeconfig(self) -> pathlib.Path:
        return self.folder / "admin.kubeconfig"

    def audit_log(self) -> pathlib.Path | None:
        return self.folder / "logs" / "audit.log" if self.settings()["audit_log"] else None

    def client(self, timeout: float = 30, kept: bool = False) -> Client:
        return (KeptClient if kept else Client)(self.server(), self.pki, timeout=timeout)

    def environment(self) -> dict[str, str]:
        """For shells and test programs."""
        audit_log = self.audit_log()
        return {
            "KUBECONFIG": str(self.admin_kubeconfig()),
            "KUBECACHEDIR": str(self.folder / "kubectl-cache"),
            "AGONES_ALLOC_CLUSTER": self.name,
            "AGONES_ALLOC_CLUSTER_FOLDER": str(self.folder),
            "AGONES_ALLOC_KUBE_SERVER": self.server(),
            "AGONES_ALLOC_KUBE_CA_FILE": str(self.pki / "ca.crt"),
            "AGONES_ALLOC_KUBE_CERT_FILE": str(self.pki / "admin.crt"),
            "AGONES_ALLOC_KUBE_KEY_FILE": str(self.pki / "admin.key"),
            "AGONES_ALLOC_KUBE_TOKEN_FILE": str(self.folder / "admin.token"),
            "AGONES_ALLOC_KUBE_TOKEN_KUBECONFIG": str(self.folder / "admin-token.kubeconfig"),
            "AGONES_ALLOC_KUBE_FRONT_PROXY_CA_FILE": str(self.pki / "front-proxy-ca.crt"),
            "AGONES_ALLOC_KUBECTL": str(binaries.folder() / "kubectl"),
            "AGONES_ALLOC_ETCD": self.etcd_url(),
            **({"AGONES_ALLOC_KUBE_AUDIT_LOG": str(audit_log)} if audit_log else {}),
        }

    def locked(self) -> typing.ContextManager[None]:
        root = state_root()
        root.mkdir(parents=True, exist_ok=True, mode=0o700)
        if root.stat().st_uid != os.getuid():
            raise ClusterError(f"{root} belongs to another user")
        return lock.held(root / f".{self.name}.lock", f"another tools/cluster on '{self.name}'")

    # --- up and down
    def up(self, audit_log: bool, flags: list[str]) -> None:
        programs = binaries.built()
        with self.locked():
            if self.exists():
                settings = self.settings()
                if (audit_log and not settings["audit_log"]) or (flags and flags != settings["flags"]):
                    raise ClusterError(f"cluster '{self.name}' exists with other flags; tools/cluster down first")
                self.start_all(programs)
                return
            for attempts_left in (2, 1, 0):
                self.remove()
                self.create(audit_log, flags)
                try:
                    self.start_all(programs)
                    return
                except ClusterError as error:
                    # Somebody took a port between the look and the start.
                    taken = "address already in use" in self.etcd.last_lines() + self.apiserver.last_lines()
                    if not taken or not attempts_left:
                        self.stop_all(0)
                        raise ClusterError(f"{error}\nlogs: {self.folder / 'logs'}") from error

    def create(self, audit_log: bool, flags: list[str]) -> None:
        self.folder.mkdir(parents=True, mode=0o700)
        (self.folder / "logs").mkdir()
        certificates.create(self.pki)
        token = secrets.token_urlsafe(24)
        for name, text in (("admin.token", token + "\n"), ("tokens.csv", f'{token},admin-token,1,"system:masters"\n'),
                           ("audit-policy.json", json.dumps(AUDIT_POLICY))):
            (self.folder / name).write_text(text)
            (self.folder / name).chmod(0o600)
        etcd, peer, apiserver = free_ports(3)
        server = f"https://127.0.0.1:{apiserver}"
        kubeconfig.write(self.admin_kubeconfig(), server, self.pki / "ca.crt",
                         {"client-certificate-data": kubeconfig.encoded(self.pki / "admin.crt"),
                          "client-key-data": kubeconfig.encoded(self.pki / "admin.key")})
        kubeconfig.write(self.folder / "admin-token.kubeconfig", server, self.pki / "ca.crt", {"token": token})
        settings = {"name": self.name, "ports": {"etcd": etcd, "etcd_peer": peer, "apiserver": apiserver},
                    "audit_log": audit_log, "flags": flags}
        half = self.settings_file.with_suffix(".new")
        half.write_text(json.dumps(settings, indent=2) + "\n")
        half.rename(self.settings_file)  # last: a folder without it is half-made, and made anew

    def start_all(self, programs: pathlib.Path) -> None:
        self.start("etcd", programs)
        self.start("apiserver", programs)
        # Also where an earlier `up` was killed before this step.
        if not all(established(self.client(), name) for name in definition_names()):
            install(self.client(), self.wait_for)

    def start(self, target: str, programs: pathlib.Path) -> None:
        """Starts or resumes it if need be, and waits until it serves."""
        process = self.process(target)
        if process.paused():
            process.send(signal.SIGCONT)
        if process.pid() is None:
            say(f"starting {target} of cluster '{self.name}'")
            process.start(self.etcd_command(programs) if target == "etcd" else self.apiserver_command(programs))
        self.wait_ready(target)

    def wait_ready(self, target: str) -> None:
        if target == "etcd":
            etcd = Client(self.etcd_url(), timeout=5)
            self.wait_for("etcd is healthy", lambda: etcd.ask("GET", "/health")[0] == 200, self.etcd)
            if self.apiserver.pid() is None or self.apiserver.paused():
                return
        client = self.client(timeout=5)
        self.wait_for("/readyz", lambda: client.ask("GET", "/readyz")[0] == 200, self.apiserver)
        # Both are made by the server itself, a moment after it is ready.
        for path in ("/api/v1/namespaces/default",
                     "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"):
            self.wait_for(path, lambda: client.ask("GET", path)[0] == 200, self.apiserver)

    def wait_for(self, what: str, ready: typing.Callable[[], bool], process: Process | None = None) -> None:
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                if ready():
                    return
            except (OSError, ValueError):  # refused, reset, timed out, TLS not up yet
                pass
            if process is not None and process.pid() is None:
                raise ClusterError(f"{process.name} ended; its last lines:\n{process.last_lines()}")
            if time.monotonic() > deadline:
                lines = f"; last lines of {process.name}:\n{process.last_lines()}" if process else ""
                raise ClusterError(f"waited {START_SECONDS} s in vain for: {what}{lines}")
            time.sleep(0.05)

    def stop_all(self, patience: float) -> None:
        self.apiserver.stop(patience)
        self.etcd.stop(patience)

    def remove(self) -> None:
        self.stop_all(0)
        self.end_strays()
        shutil.rmtree(self.folder, ignore_errors=True)

    def end_strays(self) -> None:
        """Processes on this folder whose pid file is gone, after somebody removed files by hand."""
        for entry in pathlib.Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    words = (entry / "cmdline").read_bytes().split(b"\0")
                except OSError:
                    continue
                if (os.path.basename(words[0]) in (b"etcd", b"kube-apiserver")
                        and any(word.startswith(b"--") and f"={self.folder}/".encode() in word for word in words)):
                    os.kill(int(entry.name), signal.SIGKILL)

    def down(self) -> None:
        with self.locked():
            self.stop_all(STOP_SECONDS)
            self.remove()
            (state_root() / f".{self.name}.lock").unlink(missing_ok=True)

    # --- faults
    def compact(self) -> int:
        """Makes etcd forget every version but the newest; gives that version."""
        etcd = Client(self.etcd_url())
        status, answer = etcd.ask("POST", "/v3/maintenance/status", {})
        if status != 200:
            raise ClusterError(f"etcd does not tell its revision: {status} {answer}")
        revision = answer["header"]["revision"]
        status, answer = etcd.ask("POST", "/v3/kv/compaction", {"revision": revision, "physical": True})
        if status != 200 and "has been compacted" not in str(answer):
            raise ClusterError(f"etcd does not compact: {status} {answer}")
        return int(revision)

    # --- command lines
    def etcd_command(self, programs: pathlib.Path) -> list[str]:
        peer = f"http://127.0.0.1:{self.settings()['ports']['etcd_peer']}"
        return [str(programs / "etcd"), f"--name={self.name}", f"--data-dir={self.folder}/etcd",
                f"--listen-client-urls={self.etcd_url()}", f"--advertise-client-urls={self.etcd_url()}",
                f"--listen-peer-urls={peer}", f"--initial-advertise-peer-urls={peer}",
                f"--initial-cluster={self.name}={peer}",
                "--unsafe-no-fsync", "--quota-backend-bytes=4294967296", "--log-level=warn"]

    def apiserver_command(self, programs: pathlib.Path) -> list[str]:
        settings, pki = self.settings(), self.pki
        audit = [f"--audit-policy-file={self.folder}/audit-policy.json", f"--audit-log-path={self.audit_log()}",
                 "--audit-log-mode=batch", "--audit-log-batch-max-wait=200ms"]
        return [str(programs / "kube-apiserver"), f"--etcd-servers={self.etcd_url()}",
                f"--secure-port={settings['ports']['apiserver']}", "--bind-address=127.0.0.1",
                "--advertise-address=127.0.0.1", "--external-hostname=localhost",
                f"--cert-dir={self.folder}/serving", f"--tls-cert-file={pki}/apiserver.crt",
                f"--tls-private-key-file={pki}/apiserver.key", f"--client-ca-file={pki}/ca.crt",
                f"--token-auth-file={self.folder}/tokens.csv", "--authorization-mode=RBAC",
                f"--service-account-key-file={pki}/service-account.pub",
                f"--service-account-signing-key-file={pki}/service-account.key",
                "--service-account-issuer=https://kubernetes.default.svc",
                f"--requestheader-client-ca-file={pki}/front-proxy-ca.crt",
                "--requestheader-allowed-names=front-proxy-client",
                "--requestheader-extra-headers-prefix=X-Remote-Extra-", "--requestheader-group-headers=X-Remote-Group",
                "--requestheader-username-headers=X-Remote-User",
                f"--proxy-client-cert-file={pki}/front-proxy-client.crt",
                f"--proxy-client-key-file={pki}/front-proxy-client.key",
                "--service-cluster-ip-range=127.0.128.0/24", "--disable-admission-plugins=ServiceAccount",
                "--endpoint-reconciler-type=none", "--profiling=false",
                *(audit if settings["audit_log"] else []), *settings["flags"]]
