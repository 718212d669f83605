#!/usr/bin/env python3
"""The readiness gate of the built server in front of a real API server: `gate_test.py PROGRAM`. Prints a line per case."""
import sys

sys.dont_write_bytecode = True  # nothing is written into the source tree

import kit  # noqa: E402
from cases import gate  # noqa: E402, F401  adds its cases


@kit.case("a cluster is up")
def _():
    kit.tool("up", "--audit-log")
    kit.tool("status", "--name", "default")


if __name__ == "__main__":
    kit.cases.insert(0, kit.cases.pop())
    sys.exit(kit.run_cases())
