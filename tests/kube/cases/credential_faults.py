"""Credentials and certificates that end while the server runs, and a clock that jumps."""
import contextlib
import datetime
import json
import pathlib
import ssl
import sys
import tempfile
import time

import kit
from cases.allocation_faults import all_accounted, rest
from cluster import binaries
from cluster.certificates import SERVER_NAMES
from cluster.client import Client
from cluster.instance import Cluster
from kit import case, expect, same, tool
from running_server import rests
from serving import Results, Server, allocate_all, fill, number, stored

MOVED_CLOCK = sys.argv[2] if len(sys.argv) > 2 else "build/tests/kube/libmoved_clock.so"


def none_is_served(server: Server, results: Results, seconds: float) -> None:
    """Every call fails, in time, with little effort, and no server changes."""
    before, cpu = stored(), server.cpu_seconds()
    allocated = results.states["Allocated"]
    allocate_all(server, 4, number(12), results)
    same((results.states["Allocated"], results.states["UnAllocated"]), (allocated, 0))
    expect(results.slowest < seconds, results.slowest)
    expect(server.cpu_seconds() - cpu < 3, "spins", server.cpu_seconds() - cpu)
    same(stored(), before)


def write(path: pathlib.Path, text: str) -> None:
    """In one step, as the kubelet does."""
    half = path.with_suffix(".new")
    half.write_text(text)
    half.rename(path)


@case("a pod's token that is revoked and replaced in its file: callers are told, and served again with the new one")
def _():
    fill(40)
    one = Cluster("default")
    tool("kubectl", "create", "clusterrolebinding", "rotating", "--clusterrole=cluster-admin",
         "--serviceaccount=default:rotating")

    def token() -> str:
        tool("kubectl", "delete", "serviceaccount", "rotating", "--ignore-not-found")
        tool("kubectl", "create", "serviceaccount", "rotating")
        return tool("kubectl", "create", "token", "rotating").strip()

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        old = token()
        write(folder / "token", old)
        write(folder / "ca.crt", (one.pki / "ca.crt").read_text())
        place = {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": one.server().rpartition(":")[2]}
        with Server("--in-cluster", f"--service-account-folder={folder}", "--request-timeout=2s",
                    environment=place) as server:
            server.wait_ready()
            results = allocate_all(server, 4, number(10))
            same(results.states["Allocated"], 10)
            new = token()  # the account is another one now
            deadline = time.monotonic() + 30
            while Client(one.server(), one.pki, token=old).ask("GET", f"{kit.SERVERS}?limit=1")[0] != 401:
                expect(time.monotonic() < deadline, "the old token is still good")
                time.sleep(0.2)
            none_is_served(server, results, 3.5)
            write(folder / "token", new)
            rest(server, results, 20)
        expect(not any(old in line or new in line for line in server.log), "a token in the log")
    all_accounted(results, 40)


@contextlib.contextmanager
def expired_serving_certificate():
    """The API server shows one; afterwards, its own again."""
    one = Cluster("default")
    kept = {suffix: (one.pki / f"apiserver.{suffix}").read_bytes() for suffix in ("crt", "key")}
    tool("kill", "apiserver")
    try:
        tool("certificate", str(one.pki / "apiserver"), "--cn=kube-apiserver", f"--names={SERVER_NAMES}",
             "--usage=serverAuth", "--days=-1")
        one.apiserver.start(one.apiserver_command(binaries.folder()))  # not by the tool, which would wait for a good one
        deadline = time.monotonic() + 60
        port = int(one.server().rpartition(":")[2])
        while True:
            with contextlib.suppress(OSError):
                ssl.get_server_certificate(("127.0.0.1", port), timeout=5)
                break
            expect(time.monotonic() < deadline, one.apiserver.last_lines())
            time.sleep(0.1)
        yield
    finally:
        one.apiserver.stop(0)
        for suffix, content in kept.items():
            (one.pki / f"apiserver.{suffix}").write_bytes(content)
        tool("start", "apiserver")


@case("an API server that shows an expired certificate is not believed; with a good one, all goes on")
def _():
    fill(40)
    with Server("--request-timeout=2s") as server:
        server.wait_ready()
        results = allocate_all(server, 4, number(10))
        with expired_serving_certificate():
            none_is_served(server, results, 3.5)
            server.wait_log("certificate has expired")
        rest(server, results)
    all_accounted(results, 40)


def moved(file: pathlib.Path) -> dict[str, str]:
    """The environment of a process whose clock is off by the seconds in the file."""
    return {"LD_PRELOAD": str(pathlib.Path(MOVED_CLOCK).resolve()), "MOVED_CLOCK": str(file)}


@case("a client certificate that expires and is replaced: callers are told, and served again with the new one")
def _():
    fill(40)
    one = Cluster("default")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write(folder / "kubeconfig", json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "it",
            "clusters": [{"name": "it", "cluster": {"server": one.server(), "certificate-authority": str(one.pki / "ca.crt")}}],
            "users": [{"name": "it", "user": {"client-certificate": "client.crt", "client-key": "client.key"}}],
            "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}]}))
        life = 12
        write(folder / "clock", str(life - 86400))  # issued a day ago but for that many seconds, for a day
        issue = ["--cn=short", "--group=system:masters", "--usage=clientAuth"]
        tool("certificate", str(folder / "client"), *issue, "--days=1", environment=moved(folder / "clock"))
        end = time.monotonic() + life
        with Server("--request-timeout=2s", kubeconfig=folder / "kubeconfig") as server:
            server.wait_ready()
            results = allocate_all(server, 4, number(10))
            same(results.states["Allocated"], 10)
            time.sleep(max(0, end + 1 - time.monotonic()))
            none_is_served(server, results, 3.5)
            tool("certificate", str(folder / "client"), *issue)
            rest(server, results, 20)
    all_accounted(results, 40)


@case("a clock that jumps a month ahead and back behind: nothing waits for it, and only the stamps show it")
def _():
    fill(80)
    with tempfile.TemporaryDirectory() as name:
        clock = pathlib.Path(name, "clock")
        write(clock, "0")
        with Server(environment=moved(clock)) as server:
            server.wait_ready()
            results = Results()
            for turn, seconds in enumerate((0, 30 * 86400, -60, 0)):
                write(clock, str(seconds))
                kit.created(f"late-{turn}")
                allocate_all(server, 4, number(20), results)
                same(dict(results.states), {"Allocated": 20 * (turn + 1)})
                for _, stamp in results.stamps[-20:]:
                    told = datetime.datetime.fromisoformat(stamp[:19] + "+00:00").timestamp()
                    expect(abs(told - time.time() - seconds) < 30, stamp, seconds)
            rest(server, results)
            rests(server)
    expect(results.slowest < 9, results.slowest)
    all_accounted(results, 84)
