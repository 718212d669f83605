#!/usr/bin/env python3
"""tools/serve as a person uses it: once, on a busy port, until Ctrl-C."""
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import urllib.request

SERVE = pathlib.Path(__file__).resolve().parents[2] / "tools/serve"
PATIENCE = 240  # seconds for what takes a few; a loaded machine is no failure


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def serve(*options: str) -> subprocess.CompletedProcess:
    return subprocess.run([str(SERVE), *options], text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=PATIENCE, check=False)


def expect(right: bool, what: str, output: str) -> None:
    if not right:
        sys.exit(f"FAILED: {what}\n{output}")
    print(f"as it should be: {what}")


def once() -> None:
    port = free_port()
    done = serve("--once", "--listen", f"127.0.0.1:{port}")
    expect(done.returncode == 0, "--once ends well", done.stdout)
    expect('"state": "Allocated"' in done.stdout, "--once shows an allocation", done.stdout)
    expect(re.search(rf"^  curl .*http://127\.0\.0\.1:{port}/apis/", done.stdout, re.MULTILINE) is not None,
           "--once prints the command for the next one", done.stdout)
    with socket.socket() as probe:
        expect(probe.connect_ex(("127.0.0.1", port)) != 0, "--once leaves no server behind", done.stdout)


def busy_port() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = serve("--once", "--listen", f"127.0.0.1:{port}")
    expect(done.returncode != 0 and f"port {port}" in done.stdout and "in use" in done.stdout, "a busy port is named", done.stdout)


def until_interrupted() -> None:
    port = free_port()
    with subprocess.Popen([str(SERVE), f"--listen=127.0.0.1:{port}"], text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True) as process:
        signal.alarm(PATIENCE)
        output = ""
        for line in process.stdout:
            output += line
            if "until Ctrl-C" in line:
                break
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/live", timeout=30) as answer:
            expect(answer.status == 200, "it serves until it is stopped", output)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        output += process.stdout.read()
        expect(process.wait() == 0, "Ctrl-C stops it cleanly", output)
        signal.alarm(0)
    with socket.socket() as probe:
        expect(probe.connect_ex(("127.0.0.1", port)) != 0, "Ctrl-C leaves no server behind", output)


# What builds the server for as long as it takes; after that nothing here takes long.
subprocess.run([str(SERVE.parent / "build"), "examples/agones-alloc-server"], stdin=subprocess.DEVNULL, check=True)
once()
busy_port()
until_interrupted()
