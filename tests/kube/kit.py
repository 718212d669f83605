"""What the scripts of this folder share: named cases, tools/cluster in a state folder of its own, objects to write."""
import contextlib
import http.client
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import typing

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from cluster.client import Client  # noqa: E402
from cluster.instance import Cluster  # noqa: E402

MERGE = "application/merge-patch+json"
SERVERS = "/apis/agones.dev/v1/namespaces/default/gameservers"
cases: list[tuple[str, typing.Callable[[], None]]] = []


def case(name: str) -> typing.Callable:
    """Adds the function as a case; they run in the order of the file."""
    def add(function):
        cases.append((name, function))
        return function
    return add


def run_cases() -> int:
    """In a state folder that goes with its clusters, even when the run is terminated; prints a line per case."""
    def end(*_):
        sys.exit("terminated")

    signal.signal(signal.SIGTERM, end)
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="agones_alloc-kube-test-") as folder:
        os.environ["XDG_STATE_HOME"] = folder
        try:
            for name, function in cases:
                started = time.monotonic()
                try:
                    function()
                except Exception:  # one case must not hide the others
                    failed += 1
                    print(f"FAILED {name}\n{traceback.format_exc()}", flush=True)
                else:
                    passed += 1
                    print(f"passed {name} ({time.monotonic() - started:.1f} s)", flush=True)
        finally:
            tool("down", "--all")
    print(f"{passed} passed, {failed} failed", flush=True)
    return 1 if failed or not passed else 0


def tool(*arguments: str, good: bool = True, environment: dict | None = None) -> str:
    """Runs tools/cluster; gives its standard output, or both outputs where it is expected to fail."""
    done = subprocess.run([sys.executable, str(ROOT / "tools/cluster"), *arguments], text=True, check=False,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=1800,
                          env={**os.environ, **(environment or {})})
    if (done.returncode == 0) != good:
        raise AssertionError(f"tools/cluster {' '.join(arguments)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout if good else done.stdout + done.stderr


def expect(condition: typing.Any, *shown: typing.Any) -> None:
    if not condition:
        raise AssertionError("not as expected: " + " | ".join(str(part)[:1500] for part in shown))


def same(found: typing.Any, wanted: typing.Any) -> None:
    expect(found == wanted, f"found {found!r}", f"wanted {wanted!r}")


def client(name: str = "default", timeout: float = 30, kept: bool = False) -> Client:
    return Cluster(name).client(timeout, kept)


def processes_of(folder: pathlib.Path) -> list[int]:
    """Whatever names the folder on its command line."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            with contextlib.suppress(OSError):
                if str(folder).encode() in (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
    return found


def game_server(name: str, state: str = "Ready", **status: typing.Any) -> dict:
    return {
        "apiVersion": "agones.dev/v1", "kind": "GameServer",
        "metadata": {"name": name, "labels": {"agones.dev/fleet": "simple"}},
        "spec": {"ports": [{"name": "default", "containerPort": 7654, "portPolicy": "Dynamic", "protocol": "UDP"}],
                 "template": {"spec": {"containers": [{
                     "name": "game", "image": "registry.example/game:1",
                     "resources": {"requests": {"cpu": "20m", "memory": 67108864}}}]}}},
        "status": {"state": state, "address": "192.0.2.7", "nodeName": "node-1",
                   "ports": [{"name": "default", "port": 7001}], **status},
    }


def created(name: str, state: str = "Ready", **status: typing.Any) -> dict:
    code, answer = client().ask("POST", SERVERS, game_server(name, state, **status))
    same(code, 201)
    return answer


def patch(name: str, content: dict, path: str = SERVERS) -> tuple[int, typing.Any]:
    return client().ask("PATCH", f"{path}/{name}", content, MERGE)


def refused(answer: tuple[int, dict], code: int, reason: str, field: str = "") -> None:
    """It is that Status, and one of its causes is about the field."""
    same((answer[0], answer[1].get("reason")), (code, reason))
    causes = answer[1].get("details", {}).get("causes", [])
    expect(not field or any(cause.get("field") == field for cause in causes), field, answer[1])


def events(path: str, number: int, seconds: float = 20) -> list[dict]:
    """The first events of a watch. Just after its start the API server answers 429 until its cache is filled."""
    deadline = time.monotonic() + seconds
    while True:
        with client(timeout=seconds).open("GET", path) as answer:
            if answer.status == 429 and time.monotonic() < deadline:
                time.sleep(0.1)
                continue
            same(answer.status, 200)
            return [json.loads(answer.readline()) for _ in range(number)]


def pids(name: str = "default") -> list[int | None]:
    one = Cluster(name)
    return [one.etcd.pid(), one.apiserver.pid()]


def answers(seconds: float = 5) -> bool:
    """Whether a write goes through within that time."""
    try:
        return client(timeout=seconds).ask("PATCH", f"{SERVERS}/columns", {
            "metadata": {"annotations": {"at": str(time.monotonic_ns())}}}, MERGE)[0] == 200
    except (OSError, http.client.HTTPException):
        return False
