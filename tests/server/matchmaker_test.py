#!/usr/bin/env python3
"""The example of a matchmaker's client against the built server on embedded fleets, which is killed and started again.

Usage: matchmaker_test.py PATH-OF-agones-alloc-server PATH-OF-matchmaker_client
Prints one line a case and a summary, and exits with 1 when a case failed.
"""
import pathlib
import re
import signal
import socket
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # nothing is written into the source tree
CLIENT = sys.argv.pop() if len(sys.argv) == 3 else sys.exit(__doc__)

import kit  # noqa: E402
from kit import PATIENCE, Running, case, expect, fleet_file  # noqa: E402


def embedded(folder, replicas, *options, port=0):
    return Running("--fleets", fleet_file(folder, replicas), "--session-length", "never", *options, port=port)


def play(*arguments):
    done = subprocess.run([CLIENT, *arguments], capture_output=True, text=True, timeout=2 * PATIENCE)
    return done.returncode, done.stdout + done.stderr


def ports_free(count):
    """Ports that nobody listens on now."""
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    found = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return found


@case
def every_session_has_a_server_of_its_own_and_gives_it_back(folder):
    with embedded(folder, 4) as server:
        server.wait_ready(4)
        code, text = play(f"http://127.0.0.1:{server.port}", "40")
        expect(code == 0 and "40 of 40 sessions had a server" in text, text)
        names = re.findall(r"^(\S+) at \d+\.\d+\.\d+\.\d+:\d+ after \d+ requests$", text, re.M)
        expect(len(names) == 40 and len(set(names)) <= 4, text)
        expect("not released" not in text and "not undone" not in text, text)
        expect(server.ready_servers() == 4, "all are free again")


@case
def a_server_that_is_killed_and_started_again_is_waited_for(folder):
    port, = ports_free(1)
    first = embedded(folder, 8, port=port)
    first.wait_ready(8)
    client = subprocess.Popen([CLIENT, f"http://127.0.0.1:{port}", "200"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        for _ in range(20):
            client.stdout.readline()
        first.stop(signal.SIGKILL)
        time.sleep(0.5)
        with embedded(folder, 8, port=port) as second:
            text, _ = client.communicate(timeout=2 * PATIENCE)
            expect(client.returncode == 0 and "200 of 200 sessions had a server" in text, text)
            # Those of the first server are gone with it; of the second, none may be left allocated.
            give_up = time.monotonic() + PATIENCE
            while second.ready_servers() < 8:
                expect(time.monotonic() < give_up, f"{second.ready_servers()} of 8 are free")
                time.sleep(0.1)
    finally:
        client.kill()
        client.wait()


@case
def with_two_addresses_the_one_that_answers_is_used(folder):
    dead, = ports_free(1)
    with embedded(folder, 4) as server:
        server.wait_ready(4)
        code, text = play(f"http://127.0.0.1:{dead},http://127.0.0.1:{server.port}", "20")
        expect(code == 0 and "20 of 20" in text, text)


@case
def over_mutual_tls(folder):
    certs = pathlib.Path(folder) / "certs"
    kit.certificates(pathlib.Path(folder))
    with embedded(folder, 4, "--tls-cert", str(certs / "server/tls.crt"), "--tls-key", str(certs / "server/tls.key"),
                  "--client-ca", str(certs / "ca.crt")) as server:
        time.sleep(0.2)
        code, text = play(f"https://127.0.0.1:{server.port}", "20", str(certs / "ca.crt"), str(certs / "clients/client/tls.crt"),
                          str(certs / "clients/client/tls.key"))
        expect(code == 0 and "20 of 20" in text, text)


@case
def too_many_requests_of_one_client_are_told_so_and_come_through_in_the_end(folder):
    with embedded(folder, 8, "--max-requests-per-client", "2") as server:
        server.wait_ready(8)
        code, text = play(f"http://127.0.0.1:{server.port}", "60")
        expect(code == 0 and "60 of 60" in text, text)
        metrics = server.ask("GET", "/metrics")[1]
        refused = float(re.search(r"^agones_alloc_http_requests_refused_total (\S+)", metrics, re.M).group(1))
        expect(refused > 0, "nothing was refused")
        expect(re.search(r"^agones_alloc_http_requests_in_flight 0$", metrics, re.M), "something is under way still")


@case
def arguments_that_make_no_sense_are_refused(folder):
    for arguments in ((), ("ftp://x",), ("127.0.0.1:1", "1", "a", "b", "c"), ("http://127.0.0.1:1", "soon")):
        code, text = play(*arguments)
        expect(code == 2 and text, f"{arguments}: {code} {text}")


if __name__ == "__main__":
    sys.exit(kit.run_cases())
