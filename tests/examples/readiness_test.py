#!/usr/bin/env python3
"""examples/game_server_readiness/run on ports of its own.

Usage: readiness_test.py PATH-OF-agones-alloc-server
"""
import contextlib
import os
import pathlib
import socket
import subprocess
import sys

RUN = pathlib.Path(__file__).resolve().parents[2] / "examples/game_server_readiness/run"


def free_ports() -> list[int]:
    """Three, of which the last two follow each other."""
    while True:
        with contextlib.ExitStack() as stack, contextlib.suppress(OSError):
            one, two = (stack.enter_context(socket.create_server(("127.0.0.1", 0))).getsockname()[1] for _ in range(2))
            stack.enter_context(socket.create_server(("127.0.0.1", two + 1)))
            return [one, two, two + 1]


def main() -> int:
    ports = " ".join(map(str, free_ports()))
    done = subprocess.run([str(RUN), sys.argv[1]], env={**os.environ, "PORTS": ports}, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=100, check=False)
    print(done.stdout)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
