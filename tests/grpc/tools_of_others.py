"""Clients and messages made by others: grpcurl, built once by the Go tool chain, and the proto of the published agones crate."""
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "kube"))

from cluster import binaries, lock  # noqa: E402

CRATE = "1.61.0"
CARGO = """[package]
name = "fetch"
version = "0.0.0"
edition = "2021"
[dependencies]
agones = "={version}"
"""


class NotThere(Exception):
    """A registry cannot be reached, or a tool is missing: says which."""


def cache_root() -> pathlib.Path:
    return binaries.cache_root().parent / "grpc"


def kept(name: str, make) -> pathlib.Path:
    """The folder of that name in the cache; made by `make(work)` in a folder that becomes it."""
    result = cache_root() / name
    if result.is_dir():
        return result
    with lock.held(cache_root() / ".lock", "another process that fetches tools for the gRPC tests"):
        if not result.is_dir():
            work = pathlib.Path(tempfile.mkdtemp(prefix=".making-", dir=cache_root()))
            try:
                made = work / "made"
                made.mkdir()
                make(work, made)
                made.rename(result)
            finally:
                shutil.rmtree(work, ignore_errors=True)
    return result


def run(command, **how):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, **how)
    if done.returncode != 0:
        raise NotThere(f"{pathlib.Path(str(command[0])).name} failed: {(done.stdout + done.stderr)[-1500:]}")


def grpcurl() -> pathlib.Path:
    module = HERE / "modules/grpcurl"
    digest = hashlib.sha256((module / "go.mod").read_bytes() + (module / "go.sum").read_bytes()).hexdigest()[:16]

    def make(work, made):
        environment = {**os.environ, "CGO_ENABLED": "0", "GOWORK": "off", "GOTOOLCHAIN": "local"}
        run([binaries.find_go(work), "build", "-trimpath", "-o", made / "grpcurl", "github.com/fullstorydev/grpcurl/cmd/grpcurl"],
            cwd=module, env=environment)

    return kept(f"grpcurl-{digest}", make) / "grpcurl"


def agones_protos() -> pathlib.Path:
    """The folder of the crate's .proto files."""
    def make(work, made):
        cargo = shutil.which("cargo") or str(pathlib.Path.home() / ".cargo/bin/cargo")
        if not os.path.exists(cargo):
            raise NotThere("cargo is not installed")
        (work / "src").mkdir()
        (work / "src/lib.rs").write_text("")
        (work / "Cargo.toml").write_text(CARGO.format(version=CRATE))
        run([cargo, "vendor", "--quiet", "vendor"], cwd=work)
        shutil.copytree(work / "vendor/agones/proto", made, dirs_exist_ok=True)

    return kept(f"agones-{CRATE}", make)
