#!/usr/bin/env python3
"""The built server while the API server, etcd, the watch, credentials or the clock fail: `trouble_test.py PROGRAM MOVED_CLOCK`,
the latter being moved_clock.cpp as a shared library. Prints a line per case."""
import sys

sys.dont_write_bytecode = True  # nothing is written into the source tree

import kit  # noqa: E402


@kit.case("a cluster is up")
def _():
    kit.tool("up")


# Each adds its cases after that one, in this order.
from cases import allocation_faults, watch_faults, write_faults, webhook_faults, credential_faults  # noqa: E402, F401

if __name__ == "__main__":
    sys.exit(kit.run_cases())
