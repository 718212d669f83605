#!/usr/bin/env python3
"""Proves tools/cluster, and that the API server it runs behaves as the adapter counts on.

Prints a line per case and ends with `N passed, N failed`. Needs what tools/setup installs, and a few minutes the
first time, when etcd and kube-apiserver are compiled.
"""
import sys

sys.dont_write_bytecode = True  # nothing is written into the source tree

import kit  # noqa: E402
from cases import tool, definitions, api_server, faults  # noqa: E402, F401  each adds its cases, in this order

if __name__ == "__main__":
    sys.exit(kit.run_cases())
