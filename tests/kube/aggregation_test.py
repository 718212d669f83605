#!/usr/bin/env python3
"""What deploy/kubernetes installs, and the built server behind a real API server:
`aggregation_test.py PROGRAM [EXAMPLE CONTROLLER]`."""
import sys

sys.dont_write_bytecode = True  # nothing is written into the source tree

import kit  # noqa: E402


@kit.case("a cluster is up")
def _():
    kit.tool("up")


from cases import deployment  # noqa: E402, F401  adds its cases after that one

if __name__ == "__main__":
    sys.exit(kit.run_cases())
