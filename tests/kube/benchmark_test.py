#!/usr/bin/env python3
"""build/benchmarks/kube on a real API server, briefly, so that it keeps working: `benchmark_test.py BENCHMARK PROGRAM`."""
import json
import subprocess
import sys

sys.dont_write_bytecode = True  # nothing is written into the source tree

import kit  # noqa: E402
from cluster.instance import Cluster  # noqa: E402
from kit import case, expect, same  # noqa: E402

BENCHMARK, PROGRAM = sys.argv[1:3]


def run(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([BENCHMARK, *arguments], text=True, check=False, capture_output=True, timeout=900,
                          stdin=subprocess.DEVNULL)


@case("a cluster is up")
def _():
    kit.tool("up")


@case("every measure is taken, no server is lost, and nothing is left behind")
def _():
    done = run("--kubeconfig", str(Cluster("default").admin_kubeconfig()), "--servers", "60", "--callers", "8", "--allocations", "40",
               "--rounds", "1", "--server-program", PROGRAM, "--json")
    expect(done.returncode == 0, done.stdout, done.stderr)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    same([line["measure"] for line in lines], ["rate", "alone", "events", "replicas", "replicas", "start", "server"])
    rate, alone, events, one, three, start, server = lines
    for field in ("per_second", "raw_patch_per_second", "ratio", "p50_ms", "raw_p50_ms"):
        expect(rate[field] > 0 and alone[field] > 0, field, rate, alone)
    same([line["unallocated_while_ready"] for line in lines[:5]], [0] * 5)
    same((rate["allocations"], rate["patches"], rate["conflicts"]), (40, 40, 0))
    same((events["allocations"], events["events_written"]), (40, 40))
    same((one["replicas"], one["patches"], three["replicas"], three["allocations"]), (1, 40, 3, 40))
    expect(start["ratio"] > 0 and server["ready_mb"] > 1, start, server)
    items = kit.client().ask("GET", "/apis/agones.dev/v1/gameservers")[1]["items"]
    same([item["metadata"]["name"] for item in items], [])


@case("what it is told wrongly is refused by name")
def _():
    for wrong, named in ((["--servers", "0"], "--servers"), (["--callers", "2000"], "--callers"), (["--measure", "speed"], "--measure")):
        done = run("--kubeconfig", "nosuch", *wrong)
        expect(done.returncode != 0 and named in done.stderr, done.stderr)
    done = run("--kubeconfig", "nosuch")
    expect(done.returncode == 2 and "nosuch" in done.stderr, done.stderr)


if __name__ == "__main__":
    sys.exit(kit.run_cases())
