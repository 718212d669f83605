#!/usr/bin/env python3
"""examples/kubernetes/run, as a person runs it: `walk_through_test.py PROGRAM`. Prints a line per case."""
import os
import re
import signal
import subprocess
import sys

sys.dont_write_bytecode = True  # nothing is written into the source tree

import kit  # noqa: E402
from cluster.instance import names, state_root  # noqa: E402
from kit import ROOT, case, expect, same  # noqa: E402
from running_server import PROGRAM  # noqa: E402

RUN = ROOT / "examples/kubernetes/run"


@case("the walk-through allocates through the API server: 500 of 500 once each, as kubectl sees it, and the 501st is told UnAllocated")
def _():
    done = subprocess.run([str(RUN), PROGRAM], text=True, check=False, stdin=subprocess.DEVNULL, capture_output=True, timeout=1500)
    expect(done.returncode == 0, done.returncode, done.stdout[-1500:], done.stderr)
    expect(re.search(r"^      state: Allocated$", done.stdout, re.M), done.stdout)
    expect("500 of 500 answers name a game server of their own; kubectl get gameservers has 500 Allocated\n" in done.stdout, done.stdout)
    expect(done.stdout.endswith("And another one:\n    UnAllocated \n"), done.stdout[-300:])
    same((names(), kit.processes_of(state_root())), ([], []))


@case("with --keep it serves until Ctrl-C, and then nothing is left of it")
def _():
    # Ctrl-C reaches the whole group, as from a terminal.
    with subprocess.Popen([str(RUN), "--keep", PROGRAM], text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          start_new_session=True, env={**os.environ, "SERVERS": "4"}) as run:
        shown = []
        for line in run.stdout:
            shown.append(line)
            if "kubectl get gameservers\n" == line.lstrip():
                break
        expect("Serving until Ctrl-C. In another shell:\n" in shown, shown)
        one, = names()
        states = kit.tool("--name", one, "kubectl", "get", "gameservers", "-o", "jsonpath={.items[*].status.state}")
        same(sorted(states.split()), ["Allocated"] * 3 + ["Ready"])
        os.killpg(run.pid, signal.SIGINT)
        shown += run.stdout
        same((run.wait(120), names(), kit.processes_of(state_root())), (130, [], []))


if __name__ == "__main__":
    sys.exit(kit.run_cases())
