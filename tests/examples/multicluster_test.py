#!/usr/bin/env python3
"""examples/multicluster/run on ports of its own.

Usage: multicluster_test.py PATH-OF-agones-alloc-server
"""
import contextlib
import os
import pathlib
import socket
import subprocess
import sys

RUN = pathlib.Path(__file__).resolve().parents[2] / "examples/multicluster/run"


def free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        taken = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [one.getsockname()[1] for one in taken]


def main() -> int:
    ports = " ".join(map(str, free_ports(3)))
    done = subprocess.run([str(RUN), sys.argv[1]], env={**os.environ, "PORTS": ports}, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=100, check=False)
    print(done.stdout)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
