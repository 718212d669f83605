#!/usr/bin/env python3
"""Runs the built server as a person would: options, bad fleets, requests, signals.

Usage: server_test.py PATH-OF-agones-alloc-server [WORD-OF-A-CASE]
Prints one line a case and a summary, and exits with 1 when a case failed. Needs nothing but Python.
"""
import sys

sys.dont_write_bytecode = True  # nothing is written into the source tree

import concurrent.futures  # noqa: E402
import http.client  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
import pathlib  # noqa: E402
import re  # noqa: E402
import resource  # noqa: E402
import signal  # noqa: E402
import socket  # noqa: E402
import ssl  # noqa: E402
import subprocess  # noqa: E402
import time  # noqa: E402

import kit  # noqa: E402
from kit import FLEET, KUBERNETES, PATIENCE, REST, ROOT, SERVER, Running, case, clean_environment, expect, fleet_file, run  # noqa: E402


def write(path, text):
    path.write_text(text)
    return str(path)


@case
def help_lists_every_option_in_groups_with_defaults(folder):
    done = run("--help")
    expect(done.returncode == 0 and done.stderr == "", "code 0, nothing on standard error")
    for word in ("Serving", "Kubernetes", "Allocation", "Simulated fleets", "Limits", "Logging", "--fleets", "--listen", "127.0.0.1:8080",
                 "--max-body-bytes", "262144", "AGONES_ALLOC_LOG_LEVEL", "Exit codes", "Example"):
        expect(word in done.stdout, f"--help has no {word}")
    expect(max(map(len, done.stdout.splitlines())) <= 200, "lines are of a length that can be read")


@case
def the_reference_of_options_is_what_help_says(folder):
    # An option begins its line, its text goes on below; the reference has a row for each.
    told, name = {}, ""
    for line in run("--help").stdout.splitlines():
        found = re.match(r"  (?:-\w,)?(--[\w-]+)", line)
        if found or not line.startswith("    "):
            name = found.group(1) if found else ""
        if name:
            told[name] = f"{told.get(name, '')} {line.strip()}"
    written = {}
    for line in (ROOT / "docs" / "reference-options.md").read_text().splitlines():
        row = re.match(r"\| `(--[\w-]+)` \| (.*?) \| (.*?) \| (.*) \|$", line)
        if row:
            written[row.group(1)] = [cell.strip("` ").replace("\\|", "|") for cell in row.groups()[1:]]
    expect(set(told) == set(written), f"only in one of them: {set(told) ^ set(written)}")
    for name, (kind, default, meaning) in written.items():
        for part in (kind, f"={default} " if default else "", meaning):
            expect(part in told[name], f"{name}: {part!r} is not in {told[name]!r}")


@case
def version_is_printed(folder):
    done = run("--version")
    expect(done.returncode == 0 and re.fullmatch(r"agones-alloc-server \d+\.\d+\.\d+\n", done.stdout), done.stdout)


@case
def bad_options_are_refused_in_one_line_that_names_the_option(folder):
    fleet = fleet_file(folder)
    config = pathlib.Path(folder) / "bad.toml"
    config.write_text("nosuch=1\n")
    table = [
        ([], "--fleets is required"),
        (["--fleets", fleet, "--nosuch"], "--nosuch"),
        (["--fleets", fleet, "--kubeconfig", "nosuch"], "--fleets is of embedded fleets"),
        (["--fleets", fleet, "--namespace", "games"], "--namespace is of a cluster"),
        (["--fleets", fleet, "--context", "there"], "--context needs --kubeconfig"),
        (["--in-cluster", "--kubeconfig", "nosuch"], "--in-cluster and --kubeconfig exclude each other"),
        (["--kubeconfig", "nosuch"], "nosuch"),
        (["--fleets", fleet, "--authorize-direct-callers"], "--authorize-direct-callers need --tls-cert"),
        (["--fleets", fleet, "--authorize-direct-callers", "--tls-cert", "c", "--tls-key", "k"], "--authorize-direct-callers asks a cluster"),
        (["--in-cluster", "--authorize-direct-callers", "--allow-anonymous", "--tls-cert", "c", "--tls-key", "k"],
         "--authorize-direct-callers and --allow-anonymous exclude each other"),
        (["--fleets", fleet, "--listen", "8080"], "--listen"),
        (["--fleets", fleet, "--listen", "127.0.0.1:70000"], "--listen"),
        (["--fleets", fleet, "--listen", "::1:80"], "--listen"),
        (["--fleets", fleet, "--listen", "0.0.0.0:0"], "--allow-plaintext-non-loopback"),
        (["--fleets", fleet, "--nodes", "0"], "--nodes"),
        (["--fleets", fleet, "--nodes", "many"], "--nodes"),
        (["--fleets", fleet, "--ports", "8000-7000"], "--ports"),
        (["--fleets", fleet, "--ports", "7000"], "--ports"),
        (["--fleets", fleet, "--start-up", "soon"], "--start-up"),
        (["--fleets", fleet, "--session-length", "3s-1s"], "--session-length"),
        (["--fleets", fleet, "--speed", "0"], "--speed"),
        (["--fleets", fleet, "--shut-down", "later"], "--shut-down"),
        (["--fleets", fleet, "--start-failure", "1.5"], "--start-failure"),
        (["--fleets", fleet, "--session-start-failure", "x"], "--session-start-failure"),
        (["--fleets", fleet, "--node-prefix", "No_de"], "node_prefix"),
        (["--fleets", fleet, "--feature-gates", "Nope=true"], 'Feature Gate "Nope" is not a valid Feature Gate'),
        (["--fleets", fleet, "--feature-gates", "CountsAndLists=maybe"], "CountsAndLists"),
        (["--fleets", fleet, "--http-unallocated-status-code", "418"], "--http-unallocated-status-code"),
        (["--fleets", fleet, "--ranking", "best"], "--ranking"),
        (["--fleets", fleet, "--top-n", "0"], "--top-n"),
        (["--fleets", fleet, "--replica-share", "3/3"], "--replica-share"),
        (["--fleets", fleet, "--replica-share", "1"], "--replica-share"),
        (["--fleets", fleet, "--max-body-bytes", "0"], "--max-body-bytes"),
        (["--fleets", fleet, "--max-yaml-bytes", "0"], "--max-yaml-bytes"),
        (["--fleets", fleet, "--max-selectors", "0"], "--max-selectors"),
        (["--fleets", fleet, "--max-priorities", "10001"], "--max-priorities"),
        (["--fleets", fleet, "--max-label-values", "x"], "--max-label-values"),
        (["--fleets", fleet, "--max-writes", "0"], "--max-writes"),
        (["--fleets", fleet, "--max-request-shapes", "0"], "--max-request-shapes"),
        (["--fleets", fleet, "--max-servers", "0"], "--max-servers"),
        (["--fleets", fleet, "--header-timeout", "0s"], "--header-timeout"),
        (["--fleets", fleet, "--header-timeout", "10"], "--header-timeout"),
        (["--fleets", fleet, "--log-format", "xml"], "--log-format"),
        (["--fleets", fleet, "--log-level", "loud"], "--log-level"),
        (["--fleets", fleet, "--shutdown-grace", "2d"], "--shutdown-grace"),
        (["--fleets", fleet, "--config", folder + "/nosuch.toml"], "nosuch.toml"),
        (["--fleets", fleet, "--config", ""], "--config: must not be empty"),
        (["--fleets", fleet, "--config="], "--config: must not be empty"),
        (["--fleets", fleet, "--fleets", ""], "--fleets: must not be empty"),
        (["--fleets", fleet, "--policies", ""], "--policies: must not be empty"),
        (["--in-cluster", "--namespace", ""], "--namespace: must not be empty"),
        (["--in-cluster", "--namespace", "Games"], '--namespace: "Games" is no name of a namespace'),
        (["--fleets", fleet, "--default-namespace", "A B"], '--default-namespace: "A B" is no name of a namespace'),
        *((["--fleets", fleet, f"--cors-origin={word}"], f'--cors-origin: "{word}" is no origin as browsers send it')
          for word in ("play.example", "https://", "://play.example", "https://play.example/", "https://play.example/game", "https://*.example",
                       "https://Play.example", "HTTPS://play.example", "https://play.example:443", "http://play.example:80", "http://a:070",
                       "http://a:", "http://a:x", "http://a:65536", "http://u@a", "http://a?b", "http://a b", "http://[::1", "http://[::1]x",
                       "http://[]", "null", "*")),
        (["--fleets", fleet, "--cors-origin=http://[::1]:80"], "--cors-origin"),
        (["--fleets", fleet, "--gate", "foo"], 'agones-alloc-server: --gate: Invalid value: "foo"'),
        (["--fleets", fleet, "--config", str(config)], "nosuch"),
    ]
    for options, word in table:
        done = run(*options)
        expect(done.returncode == 2, f"{options}: code {done.returncode}")
        expect(word in done.stderr, f"{options}: {done.stderr!r} does not name {word}")
        expect(done.stderr.count("\n") == 1 and done.stdout == "", f"{options}: one line: {done.stderr!r}")


@case
def options_come_from_command_line_file_and_environment_in_that_order(folder):
    fleet = fleet_file(folder)
    config = pathlib.Path(folder) / "good.toml"
    config.write_text(f'fleets="{fleet}"\nseed=7\nlog-format="text"\n')
    with Running("--config", str(config), "--seed", "8") as server:
        expect("seed 8" in "".join(server.lines) or server.stop() == 0 and "seed 8" in "".join(server.lines), server.lines)
    with Running("--config", str(config), environment={"AGONES_ALLOC_SEED": "9", "AGONES_ALLOC_SPEED": "2.5"}) as server:
        server.stop()
        expect("seed 7" in "".join(server.lines) and "speed 2.5" in "".join(server.lines), server.lines)
    with Running(environment={"AGONES_ALLOC_FLEETS": fleet, "AGONES_ALLOC_SEED": "9"}) as server:
        server.stop()
        expect("seed 9" in "".join(server.lines), server.lines)
    done = run(environment={"AGONES_ALLOC_FLEETS": fleet, "AGONES_ALLOC_NODES": "x"})
    expect(done.returncode == 2 and "--nodes" in done.stderr, done.stderr)


@case
def a_bad_configuration_file_is_named_with_its_line_wherever_its_name_comes_from(folder):
    fleet = fleet_file(folder)
    config = pathlib.Path(folder) / "bad.toml"
    table = [("seed=abc\n", 1, "--seed"), ("speed=2\n# x\n\nnosuch=1\n", 4, "nosuch"), ("nodes = 0\n", 1, "--nodes"),
             ("speed=2\nlog-level=\"loud\"\n", 2, "--log-level")]
    for text, line, word in table:
        config.write_text(text)
        for done in (run("--fleets", fleet, environment={"AGONES_ALLOC_CONFIG": str(config)}),
                     run("--fleets", fleet, "--config", str(config)), run("--fleets", fleet, f"--config={config}")):
            expect(done.returncode == 2, f"{text!r}: code {done.returncode}")
            expect(f"{config}:{line}: " in done.stderr and word in done.stderr, f"{text!r}: {done.stderr!r}")
            expect(done.stderr.count("\n") == 1, f"{text!r}: one line: {done.stderr!r}")
    for text, said in (("speed=2\nSeed=5\n", ":2: Seed: is no option; a line is NAME=VALUE"), ("max_wait=1s\n", ":1: max_wait: is no option"),
                       ("\nseed: 5\n", ":2: seed: 5: is no option"), ('{"seed": 5}\n', ':1: {"seed": 5}: is no option'),
                       ("[server]\nseed=5\n", ":1: [server]: sections are not known"), ("server.seed=5\n", ": [server]: sections are not known"),
                       ("\ufeffseed=5\n", ": the file: begins with a byte order mark"), ("config=x.toml\n", ":1: config: cannot be given in a configuration file"),
                       ("help=true\n", ":1: help: cannot be given in a configuration file")):
        config.write_text(text)
        done = run("--fleets", fleet, "--config", str(config))
        expect(done.returncode == 2 and f"agones-alloc-server: {config}{said}" in done.stderr, f"{text!r}: {done.stderr!r}")
    done = run("--fleets", fleet, environment={"AGONES_ALLOC_CONFIG": folder + "/nosuch.toml"})
    expect(done.returncode == 2 and "nosuch.toml" in done.stderr, done.stderr)
    config.write_text("nodes=2\n")
    done = run("--fleets", fleet, "--nodes", "many", "--config", str(config))
    expect("bad.toml" not in done.stderr and "--nodes" in done.stderr, f"the command line's mistake: {done.stderr!r}")
    config.write_text(f'fleets="{fleet}"\nseed=5\n')
    with Running(environment={"AGONES_ALLOC_CONFIG": str(config)}) as server:
        server.stop()
        expect("seed 5" in "".join(server.lines), server.lines)
    other = pathlib.Path(folder) / "other.toml"
    other.write_text("seed=6\n")
    with Running("--config", str(other), "--fleets", fleet, environment={"AGONES_ALLOC_CONFIG": str(config)}) as server:
        server.stop()
        expect("seed 6" in "".join(server.lines), server.lines)


@case
def variables_that_are_no_options_are_warned_of(folder):
    of_a_service = {"AGONES_ALLOC_SERVICE_HOST": "10.0.0.1", "AGONES_ALLOC_SERVICE_PORT_HTTP": "80", "AGONES_ALLOC_PORT": "tcp://10.0.0.1:80",
                    "AGONES_ALLOC_PORT_80_TCP_ADDR": "10.0.0.1", "AGONES_ALLOC_SERVER_PORT": "tcp://10.0.0.2:80"}
    others = {"AGONES_ALLOC_SEEDS": "5", "AGONES_ALLOC_MAXWAIT": "", "AGONES_ALLOC_LISTEN_PORT": "80"}
    of_options = {"AGONES_ALLOC_FLEETS": fleet_file(folder), "AGONES_ALLOC_PORTS": "7000-7100", "AGONES_ALLOC_CONFIG": ""}
    with Running("--log-format", "json", environment={**of_a_service, **others, **of_options}) as server:
        server.stop()
        lines = [json.loads(line) for line in server.lines if line.startswith("{")]
        expect([line["variable"] for line in lines if "variable" in line] == ["AGONES_ALLOC_MAXWAIT", "AGONES_ALLOC_SEEDS"], server.lines)


@case
def numbers_are_told_with_their_exact_range(folder):
    fleet = fleet_file(folder)
    for word in ("abc", "-1", "18446744073709551616", "1.5", ""):
        done = run("--fleets", fleet, f"--seed={word}")
        expect(done.returncode == 2 and "--seed" in done.stderr, f"{word!r}: {done.stderr!r}")
        if word:
            expect(f"--seed: {word} is out of range: a number from 0 to 18446744073709551615 is wanted" in done.stderr, done.stderr)
    with Running("--fleets", fleet, "--seed=18446744073709551615") as server:
        server.stop()
        expect("seed 18446744073709551615" in "".join(server.lines), server.lines)


@case
def silent_clients_lock_nobody_out_when_descriptors_are_few(folder):
    with Running("--fleets", fleet_file(folder, replicas=3), "--max-connections", "1000000", descriptors=100) as server:
        # The limit is raised as far as the system lets it; whichever it is, the silent ones go first.
        server.wait_ready(3)
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        warned = "--max-connections is more than the descriptors" in "".join(server.lines)
        expect(warned == (hard != resource.RLIM_INFINITY and hard < 1000064), server.lines)
        silent = [socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) for _ in range(150)]
        expect(server.allocate(REST)[0] == 200, "a client that asks is served")
        expect('agones_alloc_http_connections 151' in server.ask("GET", "/metrics")[1], "the soft limit was raised")
        for one in silent:
            one.close()


@case
def closed_output_does_not_end_it(folder):
    process = subprocess.Popen([SERVER, "--listen", "127.0.0.1:0", "--fleets", fleet_file(folder), "--log-level", "debug"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=clean_environment())
    try:
        port = None
        for line in process.stdout:
            found = re.search(rb"http://127\.0\.0\.1:(\d+)", line)
            if found:
                port = int(found.group(1))
                break
        process.stdout.close()
        process.stderr.close()
        for _ in range(3):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
            connection.request("GET", "/live")
            expect(connection.getresponse().status == 200, "it answers")
            connection.close()
        process.terminate()
        expect(process.wait(PATIENCE) == 0, "code 0")
    finally:
        process.kill()
        process.wait(PATIENCE)


@case
def a_client_does_not_choose_the_fleet_it_is_counted_for(folder):
    with Running("--fleets", fleet_file(folder, replicas=3)) as server:
        server.wait_ready(3)
        for number in range(3):
            status, text, _ = server.allocate(KUBERNETES, {"metadata": {"labels": {"agones.dev/fleet": f"mine{number}"}}})
            expect(json.loads(text)["status"]["state"] == "Allocated", text)
        text = server.ask("GET", "/metrics")[1]
        expect('fleet_name="simple"' in text and "mine" not in text, text)


@case
def log_lines_are_utf8_whatever_a_client_sent(folder):
    with Running("--fleets", fleet_file(folder), "--log-format", "json", "--log-level", "debug") as server:
        for path in (b"/\xff\xfe", b"/\x80", b"/" + b"a" * 1998 + "\u20ac".encode(), "/\u20ac".encode(), b"/\xc2\x85"):
            with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as client:
                client.sendall(b"GET " + path + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                while client.recv(4096):
                    pass
        expect(server.stop() == 0, "code 0")
        paths = [json.loads(line).get("path") for line in server.lines if '"request"' in line]
        for wanted in ("/\ufffd\ufffd", "/\ufffd", "/" + "a" * 1998, "/\u20ac", "/?"):
            expect(wanted in paths, f"no {wanted!r} in {paths}")


@case
def bad_fleets_are_refused_with_file_line_and_field(folder):
    bad = pathlib.Path(folder) / "bad.yaml"
    table = [
        (FLEET.format(name="a", replicas=-1, start_up="0s"), "spec.replicas"),
        (FLEET.format(name="a", replicas=1, start_up="soon"), "agones-alloc.dev/start-up"),
        (FLEET.format(name="a", replicas=1, start_up="0s") + "---" + FLEET.format(name="a", replicas=1, start_up="0s"), "default/a"),
        ("kind: [", "bad.yaml:1"),
    ]
    for text, word in table:
        bad.write_text(text)
        done = run("--fleets", str(bad))
        expect(done.returncode == 2, f"{word}: code {done.returncode}")
        expect(re.search(r"bad\.yaml:\d+: ", done.stderr) and word in done.stderr, f"{word}: {done.stderr!r}")
    bad.unlink()
    done = run("--fleets", folder + "/nosuch.yaml")
    expect(done.returncode == 2 and "nosuch.yaml" in done.stderr, done.stderr)


@case
def an_unreadable_file_is_named(folder):
    pathlib.Path(folder).chmod(0o755)  # for another user, too
    file = pathlib.Path(fleet_file(folder))
    server, other = pathlib.Path(SERVER).resolve(), []
    file.chmod(0)
    if os.geteuid() == 0:  # whom no mode keeps out
        seen_by_all = all(parent.stat().st_mode & 0o001 for parent in server.parents)
        other = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if seen_by_all else ["setpriv", "--bounding-set=-all"]
    done = subprocess.run([*other, str(server), "--fleets", str(file)], capture_output=True, text=True, timeout=PATIENCE,
                          env=clean_environment(), cwd="/")
    expect(done.returncode == 2, f"code {done.returncode}: {done.stderr}")
    expect(done.stderr == f"agones-alloc-server: {file}: cannot be read: Permission denied\n", done.stderr)


@case
def two_objects_of_one_name_in_two_sources_are_refused_with_both_places(folder):
    one, two = fleet_file(folder, file="one.yaml"), fleet_file(folder, file="two.yaml")
    done = run("--fleets", one, "--fleets", two, "--log-level", "warning")
    expect(done.returncode == 2 and done.stdout == "", f"{done.returncode} {done.stdout}")
    expect(done.stderr == f"agones-alloc-server: {two}:5: metadata.name: there are two of Fleet default/simple: "
                          f"the first is at {one}:5\n", done.stderr)
    policies = pathlib.Path(folder) / "policies.yaml"
    made = "apiVersion: multicluster.agones.dev/v1\nkind: GameServerAllocationPolicy\nmetadata:\n  name: {}\nspec: {{priority: 1, weight: 1}}\n"
    policies.write_text(made.format("east"))
    mixed = pathlib.Path(folder) / "mixed.yaml"
    mixed.write_text("---\n" + made.format("east") + "---\n" + made.format("west"))
    words = "metadata.name: there are two of GameServerAllocationPolicy default/east: the first is at"
    for option in ("--fleets", "--policies"):
        done = run("--fleets", one, option, str(mixed), "--policies", str(policies), "--log-level", "warning")
        expect(done.returncode == 2, f"{option}: code {done.returncode}")
        expect(done.stderr == f"agones-alloc-server: {policies}:4: {words} {mixed}:5\n", f"{option}: {done.stderr}")
    write(policies, made.format("north"))
    with Running("--fleets", one, "--fleets", str(mixed), "--policies", str(policies)) as server:
        expect(server.stop() == 0 and "policies for several clusters: 3" in "".join(server.lines), server.lines)


@case
def a_fleet_larger_than_the_server_allows_is_refused_with_its_place(folder):
    fleet = fleet_file(folder, replicas=10)
    done = run("--fleets", fleet, "--max-servers", "4", "--log-level", "warning")
    expect(done.returncode == 2 and done.stdout == "", f"{done.returncode} {done.stdout}")
    expect(done.stderr == f"agones-alloc-server: {fleet}:9: spec.replicas: 10 must be between 0 and 4 (--max-servers)\n", done.stderr)


@case
def sources_without_fleets_and_objects_that_are_left_out_are_warned_of(folder):
    fleet = fleet_file(folder, replicas=1)
    empty = write(pathlib.Path(folder) / "empty.yaml", "# to come\n")
    misspelt = write(pathlib.Path(folder) / "misspelt.yaml",
                     FLEET.format(name="b", replicas=1, start_up="0s").replace("kind: Fleet", "kind: Flete"))
    with Running("--fleets", fleet, "--fleets", empty, "--fleets", misspelt, "--log-format", "json") as server:
        expect(server.stop() == 0, "code 0")
        warned = [json.loads(line)["message"] for line in server.lines if json.loads(line)["severity"] == "warning"]
        told = [json.loads(line)["message"] for line in server.lines if json.loads(line)["severity"] == "info"]
    nothing = "holds no Fleet, no GameServer and no GameServerAllocationPolicy"
    expect(warned == [f'{misspelt}:2: left out: Flete "b" (agones.dev/v1) is of no kind that is read',
                      f"{empty}: {nothing}", f"{misspelt}: {nothing}"], warned)
    expect(any("kept, but not simulated" in line and line.startswith(fleet) for line in told), told)


@case
def a_fleet_that_does_not_fit_is_warned_of_once_with_the_reason(folder):
    fixed = FLEET.replace("{{name: default, containerPort: 7654}}", "{{name: default, portPolicy: Static, hostPort: 7777}}")
    file = write(pathlib.Path(folder) / "fixed.yaml", fixed.format(name="fixed", replicas=5, start_up="0s"))
    with Running("--fleets", file, "--nodes", "2", "--max-nodes", "2", "--session-length", "1ms", "--log-format", "json") as server:
        server.wait_ready(2)
        for _ in range(10):  # sessions that end make room for others
            server.allocate(REST)
        expect(server.stop() == 0, "code 0")
        found = [json.loads(line) for line in server.lines if "no room" in line]
    expect(len(found) == 1, found)
    expect(found[0]["severity"] == "warning" and found[0]["fleet"] == "default/fixed" and found[0]["present"] == "2", found)
    expect(found[0]["reason"] == "host port 7777 is taken on every node that has room: 2 nodes, and there may be no more", found)


def states(server):
    items = json.loads(server.ask("GET", "/apis/agones.dev/v1/namespaces/default/gameservers")[1])["items"]
    return [one["status"]["state"] for one in items]


@case
def how_servers_start_and_end_can_be_set(folder):
    fleet = fleet_file(folder, replicas=3)
    config = write(pathlib.Path(folder) / "life.toml", 'shut-down="1h"\nnode-prefix="rack-"\n')
    with Running("--fleets", fleet, "--config", config, "--session-length", "1ms") as server:
        server.wait_ready(3)
        status, text, _ = server.allocate(REST)
        expect(status == 200 and json.loads(text)["nodeName"].startswith("rack-"), text)
        kit.until(lambda: states(server).count("Shutdown") == 1, "it does not shut down")
        kit.until(lambda: states(server).count("Ready") == 3, "it has no replacement")
        expect(len(states(server)) == 4, "what is shutting down is still there")
    slow = fleet_file(folder, replicas=3, start_up="1s")  # else they would fail without end
    with Running("--fleets", slow, environment={"AGONES_ALLOC_START_FAILURE": "1", "AGONES_ALLOC_SHUT_DOWN": "1h"}) as server:
        kit.until(lambda: states(server).count("Unhealthy") >= 3, "they do not fail")
        expect(server.ready_servers() == 0, "none is ready")


@case
def a_port_in_use_is_named(folder):
    fleet = fleet_file(folder)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        place = f"127.0.0.1:{taken.getsockname()[1]}"
        done = run("--fleets", fleet, "--listen", place)
    expect(done.returncode == 1 and place in done.stderr and "in use" in done.stderr, done.stderr)
    done = run("--fleets", fleet, "--listen", "example.invalid:80", "--allow-plaintext-non-loopback")
    expect(done.returncode == 1 and "numeric" in done.stderr, done.stderr)


def sorted_answers(path, answers):
    """The names of the servers that were handed out, and the answers without one."""
    if path == KUBERNETES:
        expect(all(status == 201 for status, _, _ in answers), [a[0] for a in answers])
        parsed = [(json.loads(text)["status"], answer) for _, text, answer in answers]
        return ([status["gameServerName"] for status, _ in parsed if status["state"] == "Allocated"],
                [answer for status, answer in parsed if status["state"] == "UnAllocated"])
    return ([json.loads(text)["gameServerName"] for status, text, _ in answers if status == 200],
            [answer for status, _, answer in answers if status == 429])


@case
def twenty_clients_on_ten_servers_get_ten_servers_on_both_paths(folder):
    # Sessions end at once, and their replacements take far longer to start than the twenty requests take.
    fleet = fleet_file(folder, replicas=10, start_up="6s")
    with Running("--fleets", fleet, "--session-length", "1ms") as one, Running("--fleets", fleet, "--session-length", "1ms") as two:
        given = {}
        for path, server in ((KUBERNETES, one), (REST, two)):
            server.wait_ready(10)
            with concurrent.futures.ThreadPoolExecutor(20) as pool:
                answers = list(pool.map(lambda _: server.allocate(path), range(20)))
            names, none = sorted_answers(path, answers)
            expect(len(names) == 10 and len(set(names)) == 10, f"{path}: {sorted(names)}")
            expect(len(none) == 10, f"{path}: {len(none)} without a server")
            for answer in none:
                field = answer.getheader("Agones-Alloc-Breakdown") or ""
                expect(re.match(r"namespace default=\d+; ", field) and field.endswith("=0"), f"{path}: breakdown {field!r}")
            given[path] = names
        for path, server in ((KUBERNETES, one), (REST, two)):
            server.wait_ready(10)
            again, _ = sorted_answers(path, [server.allocate(path)])
            expect(len(again) == 1 and again[0] not in given[path], f"{path}: {again} is a replacement")


@case
def a_mistyped_label_shows_in_the_breakdown(folder):
    with Running("--fleets", fleet_file(folder, replicas=3)) as server:
        server.wait_ready(3)
        status, _, answer = server.allocate(KUBERNETES, {"selectors": [{"matchLabels": {"agones.dev/fleet": "simpel"}}]})
        expect(status == 201, status)
        field = answer.getheader("Agones-Alloc-Breakdown")
        expect("namespace default=3; label agones.dev/fleet=simpel=0" in field, field)


@case
def ranking_and_top_n_change_which_server_is_chosen(folder):
    # Five on one node. By name a comes first, by age c.
    ages = {"a": "2024-01-03", "b": "2024-01-01", "c": "2024-01-05", "d": "2024-01-02", "e": "2024-01-04"}
    made = [{"apiVersion": "agones.dev/v1", "kind": "GameServer",
             "metadata": {"name": name, "creationTimestamp": f"{day}T00:00:00Z"},
             "spec": {"ports": [{"name": "default", "containerPort": 7654}]}} for name, day in ages.items()]
    file = write(pathlib.Path(folder) / "servers.json", json.dumps({"apiVersion": "v1", "kind": "List", "items": made}))

    def chosen(server, query=""):
        status, text, _ = server.ask("POST", KUBERNETES + query, '{"spec":{}}', {"Content-Type": "application/json"})
        expect(status == 201, text)
        return json.loads(text)["status"]["gameServerName"]

    def known(server):
        answer = server.allocate(KUBERNETES, {"selectors": [{"matchLabels": {"is": "nowhere"}}]})[2]
        return (answer.getheader("Agones-Alloc-Breakdown") or "").startswith("namespace default=5;")

    for options, order in (((), "abcde"), (("--ranking", "packed"), "abcde"), (("--ranking", "newest"), "ceadb")):
        with Running("--fleets", file, *options) as server:
            kit.until(lambda: known(server), "the five are not there")
            expect("".join(chosen(server) for _ in range(5)) == order, f"{options}: not {order}")
    for options, wanted in ((("--top-n", "1"), set("c")), (("--top-n", "2"), set("ce")), (("--top-n", "5"), set("abcde"))):
        with Running("--fleets", file, "--ranking", "newest", *options) as server:
            kit.until(lambda: known(server), "the five are not there")
            found = {chosen(server, "?dryRun=All") for _ in range(100)}
            expect(found == wanted, f"{options}: {sorted(found)}")


@case
def a_dry_run_hands_nothing_out(folder):
    with Running("--fleets", fleet_file(folder, replicas=1)) as server:
        server.wait_ready(1)
        for _ in range(3):
            status, text, _ = server.ask("POST", KUBERNETES + "?dryRun=All", '{"spec":{}}', {"Content-Type": "application/json"})
            expect(status == 201 and json.loads(text)["status"]["state"] == "Allocated", text)
        expect(json.loads(server.allocate(KUBERNETES)[1])["status"]["state"] == "Allocated", "the server is still there")
        expect(json.loads(server.allocate(KUBERNETES)[1])["status"]["state"] == "UnAllocated", "and now it is not")


@case
def probes_and_metrics_answer(folder):
    with Running("--fleets", fleet_file(folder, replicas=2)) as server:
        server.wait_ready(2)
        server.allocate(REST)
        expect(server.ask("GET", "/live")[0] == 200, "live")
        status, text, _ = server.ask("GET", "/ready?full=1")
        expect(status == 200 and set(json.loads(text).values()) == {"OK"}, text)
        status, text, answer = server.ask("GET", "/metrics")
        expect(status == 200 and answer.getheader("Content-Type").startswith("text/plain"), "metrics")
        for line in ('agones_gameserver_allocations_duration_seconds_count{', 'fleet_name="simple"', 'status="Allocated"',
                     'scheduling_strategy="Packed"', "agones_gameserver_allocations_retry_total_bucket{", 'le="5"',
                     'agones_alloc_allocations_total{outcome="allocated"} 1', "agones_alloc_http_connections ",
                     'agones_fleets_replicas_count{name="simple",namespace="default",type="allocated"} 1',
                     'agones_healthcheck_status{check="allocator"} 0', "process_start_time_seconds "):
            expect(line in text, f"/metrics has no {line}")


@case
def a_bad_request_harms_nobody(folder):
    with Running("--fleets", fleet_file(folder, replicas=1), "--max-body-bytes", "1000", "--header-timeout", "100ms") as server:
        server.wait_ready(1)
        expect(server.ask("POST", REST, "x" * 1001)[0] == 413, "too large")
        expect(server.ask("POST", KUBERNETES, "[" * 900, {"Content-Type": "application/json"})[0] == 400, "too deep")
        with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as slow:
            slow.sendall(b"GET / HT")
            expect(slow.recv(100).startswith(b"HTTP/1.1 408"), "too slow")
        with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as garbage:
            garbage.sendall(b"\x16\x03\x01 what is this\r\n\r\n")
            expect(garbage.recv(100).startswith(b"HTTP/1.1 400"), "garbage")
        expect(server.allocate(REST)[0] == 200, "the server is still there for others")


@case
def bounds_of_requests_can_be_set(folder):
    fleet = fleet_file(folder, replicas=1)
    many = [{"matchLabels": {"a": str(i)}} for i in range(3)]
    values = [{"matchExpressions": [{"key": "a", "operator": "In", "values": ["1", "2", "3"]}]}]
    rooms = [{"type": "Counter", "key": f"rooms{i}", "order": "Ascending"} for i in range(3)]
    table = [("max-selectors", {"selectors": many}), ("max-label-values", {"selectors": values}),
             ("max-priorities", {"priorities": rooms})]
    for option, spec in table:
        for bound, code in ((2, 422), (3, 201)):
            with Running("--fleets", fleet, f"--{option}", str(bound)) as server:
                status, text, _ = server.allocate(KUBERNETES, spec)
                expect(status == code, f"--{option} {bound}: {text}")
                expect(code == 201 or "has 3 entries, at most 2 are accepted" in text, text)
    config = pathlib.Path(folder) / "bounds.toml"
    config.write_text("max-yaml-bytes=19\n")
    with Running("--fleets", fleet, "--config", str(config), environment={"AGONES_ALLOC_MAX_PRIORITIES": "1"}) as server:
        for body, code in (("spec: {}\n", 201), ("spec: {} # and more\n", 413)):
            status, text, _ = server.ask("POST", KUBERNETES, body, {"Content-Type": "application/yaml"})
            expect(status == code, f"{body!r}: {text}")
        expect(server.allocate(KUBERNETES, {"priorities": rooms})[0] == 422, "the environment counts")
    with Running("--fleets", fleet_file(folder, replicas=5), "--max-servers", "5", "--max-request-shapes", "1",
                 "--max-writes", "1") as server:
        server.wait_ready(5)
        for _ in range(2):  # more kinds of requests than may have an index
            for spec in ({}, {"selectors": [{"matchLabels": {"agones.dev/fleet": "simple"}}]}):
                status, text, _ = server.allocate(KUBERNETES, spec)
                expect(status == 201 and json.loads(text)["status"]["state"] == "Allocated", text)
    done = run("--fleets", fleet_file(folder, replicas=5), "--max-servers", "4")
    expect(done.returncode == 2 and "spec.replicas" in done.stderr, done.stderr)


@case
def logs_are_json_lines_when_asked_for_and_have_no_bodies(folder):
    with Running("--fleets", fleet_file(folder), "--log-format", "json", "--log-level", "debug") as server:
        server.ask("POST", KUBERNETES + "?token=secret", '{"spec":{"metadata":{"labels":{"a":"hush"}}}}',
                   {"Content-Type": "application/json", "Authorization": "Bearer hush"})
        expect(server.stop() == 0, "code 0")
        text = "".join(server.lines)
        for line in server.lines:
            entry = json.loads(line)
            expect({"time", "severity", "message", "source"} <= set(entry), line)
        expect("hush" not in text and "secret" not in text, "no bodies, no fields, no queries")
        expect(any(json.loads(line)["message"] == "request" for line in server.lines), "requests are logged at debug")


@case
def sigterm_fails_readiness_then_drains_and_ends_with_0(folder):
    with Running("--fleets", fleet_file(folder), "--readiness-shutdown-duration", "1h") as server:
        expect(server.ask("GET", "/ready")[0] in (200, 503), "it answers")
        server.process.send_signal(signal.SIGTERM)
        give_up = time.monotonic() + PATIENCE
        while server.ask("GET", "/ready")[0] != 503 or server.ask("GET", "/live")[0] != 200:
            expect(time.monotonic() < give_up, "readiness does not fail")
        expect("asked to shut down" in server.ask("GET", "/ready?full=1")[1], "it says why")
        expect(server.allocate(REST)[0] in (200, 429), "it still allocates")
        expect(server.stop() == 1, "a second signal ends it at once")
    for how in (signal.SIGTERM, signal.SIGINT):
        with Running("--fleets", fleet_file(folder)) as server:
            idle = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
            idle.request("GET", "/live")
            idle.getresponse().read()
            expect(server.stop(how) == 0, "code 0")
            expect("stopped" in "".join(server.lines), server.lines)


def waits_for_a_server(server):
    """A request that is under way: it waits until there is a server. (status, body) when it ends, nothing when it is cut."""
    def ask():
        try:
            status, text, _ = server.ask("POST", KUBERNETES, '{"spec":{}}', {"Content-Type": "application/json", "Prefer": "wait=50"})
            return status, json.loads(text)
        except (ConnectionError, http.client.HTTPException):
            return None

    pool = concurrent.futures.ThreadPoolExecutor(1)
    answer = pool.submit(ask)
    pool.shutdown(wait=False)
    kit.until(lambda: "agones_alloc_requests_waiting 1" in server.ask("GET", "/metrics")[1], "nobody waits")
    return answer


@case
def a_request_under_way_at_sigterm_is_answered_within_the_grace(folder):
    with Running("--fleets", fleet_file(folder, replicas=1, start_up="5s"), "--shutdown-grace", "50s") as server:
        answer = waits_for_a_server(server)
        expect(server.stop() == 0, "nothing was cut: code 0")
        status, body = answer.result(PATIENCE)
        expect(status == 201 and body["status"]["state"] == "Allocated", f"{status} {body}")
    with Running("--fleets", fleet_file(folder, replicas=1, start_up="1h"), "--shutdown-grace", "100ms") as server:
        answer = waits_for_a_server(server)
        expect(server.stop() == 1, "the grace was not enough: code 1")
        expect(answer.result(PATIENCE) is None, "it was cut")
        expect(any("--shutdown-grace was not enough" in line for line in server.lines), server.lines)


@case
def ipv6_and_several_fleet_sources_work(folder):
    fleet_file(folder, name="one", file="one.yaml", replicas=1)
    other = pathlib.Path(folder) / "more"
    other.mkdir()
    fleet_file(other, name="two", file="two.yaml", replicas=2)
    with Running("--fleets", folder + "/one.yaml", "--fleets", str(other)) as server:
        server.wait_ready(3)
        expect("fleet default/one: 1" in "".join(server.lines) and "fleet default/two: 2" in "".join(server.lines), server.lines)
    if socket.has_ipv6:
        process = subprocess.Popen([SERVER, "--fleets", folder + "/one.yaml", "--listen", "[::1]:0"], stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, env=clean_environment())
        try:
            for line in process.stdout:
                if "listening" in line or "::1" in line:
                    expect("http://[::1]:" in line, line)
                    break
        finally:
            process.terminate()
            process.wait(PATIENCE)


class Pki:
    """Authorities and certificates in a folder, made with the openssl command."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def path(self, name):
        return str(self.folder / name)

    def openssl(self, *arguments):
        done = subprocess.run(["openssl", *arguments], capture_output=True, text=True, timeout=PATIENCE)
        expect(done.returncode == 0, done.stderr)

    def authority(self, name):
        self.openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                     f"/CN={name}", "-keyout", self.path(f"{name}.key"), "-out", self.path(f"{name}.crt"))

    def issue(self, name, authority, days=1, extra=""):
        """NAME.crt and NAME.key"""
        (self.folder / "extensions").write_text(f"subjectAltName=DNS:localhost\n{extra}\n")
        self.openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={name}",
                     "-keyout", self.path(f"{name}.key"), "-out", self.path("request"))
        self.openssl("x509", "-req", "-in", self.path("request"), "-days", str(days), "-CA", self.path(f"{authority}.crt"),
                     "-CAkey", self.path(f"{authority}.key"), "-set_serial", str(time.time_ns()), "-extfile",
                     self.path("extensions"), "-out", self.path(f"{name}.crt"))

    def options(self):
        return f"--tls-cert={self.path('server.crt')}", f"--tls-key={self.path('server.key')}"

    def ask(self, port, path, own=None, body=None, headers=None):
        """Status and text over HTTPS; None when the connection is refused."""
        context = ssl.create_default_context(cafile=self.path("ca.crt"))
        if own:
            context.load_cert_chain(self.path(f"{own}.crt"), self.path(f"{own}.key"))
        connection = http.client.HTTPSConnection("localhost", port, timeout=PATIENCE, context=context)
        try:
            connection.request("POST" if body else "GET", path, body, {"Content-Type": "application/json", **(headers or {})})
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        except (ssl.SSLError, ConnectionError):
            return None
        finally:
            connection.close()


def pki(folder):
    made = Pki(folder)
    made.authority("ca")
    made.authority("clients")
    made.issue("server", "ca")
    made.issue("me", "clients")
    return made


@case
def over_tls_only_certificates_of_the_client_authority_may_allocate(folder):
    keys = pki(folder)
    keys.issue("stranger", "ca")
    keys.issue("late", "clients", days=-1)
    keys.issue("server-only", "clients", extra="extendedKeyUsage=serverAuth")
    with Running("--fleets", fleet_file(folder), *keys.options(), f"--client-ca={keys.path('clients.crt')}") as server:
        wish = json.dumps({"spec": {}})
        forged = {"X-Remote-User": "admin", "X-Remote-Group": "system:masters"}
        expect(keys.ask(server.port, "/live")[0] == 200, "probes need no certificate")
        for path, body in ((KUBERNETES, wish), (REST, json.dumps({"namespace": "default"}))):
            status, text = keys.ask(server.port, path, None, body, forged)
            expect(status == 401 and json.loads(text)["kind"] == "Status", f"without a certificate: {status} {text}")
            for own in ("stranger", "late", "server-only"):
                expect(keys.ask(server.port, path, own, body, forged) is None, f"{own} got in")
            expect(keys.ask(server.port, path, "me", body)[0] in (200, 201, 429), "a good one gets in")
        try:
            http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE).request("GET", "/live")
        except ConnectionError:
            pass
        expect(keys.ask(server.port, "/live")[0] == 200, "plain HTTP harms nobody")
        expect(server.stop() == 0, "ends with 0")


@case
def certificates_are_read_again_and_broken_ones_leave_the_last(folder):
    keys = pki(folder)
    with Running("--fleets", fleet_file(folder), *keys.options(), "--allow-anonymous") as server:
        def shown():
            return ssl.get_server_certificate(("127.0.0.1", server.port))

        def wait(done, what):
            give_up = time.monotonic() + PATIENCE
            while not done():
                expect(time.monotonic() < give_up, what)
                time.sleep(0.02)

        before = shown()
        context = ssl.create_default_context(cafile=keys.path("ca.crt"))
        old = http.client.HTTPSConnection("localhost", server.port, timeout=PATIENCE, context=context)
        def lives():
            old.request("GET", "/live")
            answer = old.getresponse()
            answer.read()
            return answer.status == 200

        expect(lives(), "it answers")
        pathlib.Path(keys.path("server.key")).write_text("broken")
        server.process.send_signal(signal.SIGHUP)
        wait(lambda: any("last good ones stay in use" in line for line in server.lines), "the log says so")
        expect(shown() == before, "the last good one is in use")
        keys.issue("server", "ca")
        server.process.send_signal(signal.SIGHUP)
        wait(lambda: shown() != before, "the new one is shown")
        socket_of_old = old.sock
        expect(lives() and old.sock is socket_of_old, "the old connection goes on")


@case
def certificates_that_cannot_be_used_are_named_at_the_start(folder):
    keys = pki(folder)
    fleets = ("--fleets", fleet_file(folder))
    keys.openssl("pkey", "-in", keys.path("server.key"), "-aes256", "-passout", "pass:secret", "-out", keys.path("locked.key"))
    cert = f"--tls-cert={keys.path('server.crt')}"
    for options, words in (
            ((cert, f"--tls-key={keys.path('locked.key')}", "--allow-anonymous"), ("locked.key", "is encrypted")),
            ((cert, f"--tls-key={keys.path('me.key')}", "--allow-anonymous"), ("me.key", "does not belong")),
            ((cert, "--tls-key=/nowhere/tls.key", "--allow-anonymous"), ("/nowhere/tls.key", "No such file")),
            ((*keys.options(), f"--client-ca={keys.path('me.key')}"), ("me.key", "holds no certificate")),
            ((cert, "--allow-anonymous"), ("--tls-key",)),
            (keys.options(), ("--tls-cert", "who may allocate", "--client-ca")),
            ((*keys.options(), "--requestheader"), ("--requestheader", "--kubeconfig")),
            (("--client-ca=x",), ("need --tls-cert",))):
        done = run(*fleets, *options)
        expect(done.returncode == 2 and done.stdout == "", f"{options}: {done.returncode} {done.stdout}")
        expect(all(word in done.stderr for word in words), f"{words}: {done.stderr}")


@case
def a_front_proxy_with_the_right_name_speaks_for_others_on_the_kubernetes_paths(folder):
    keys = pki(folder)
    keys.authority("proxies")
    for name in ("front", "another"):
        keys.issue(name, "proxies")
    with Running("--fleets", fleet_file(folder), *keys.options(), f"--requestheader-client-ca-file={keys.path('proxies.crt')}",
                 "--requestheader-allowed-names=front,second") as server:
        wish = json.dumps({"spec": {}})
        alice = {"X-Remote-User": "alice"}
        expect(keys.ask(server.port, KUBERNETES, "front", wish, alice)[0] == 201, "the proxy gets in")
        expect(keys.ask(server.port, KUBERNETES, "front", wish)[0] == 401, "it has to say who asks")
        expect(keys.ask(server.port, KUBERNETES, "another", wish, alice)[0] == 403, "another name does not")
        expect(keys.ask(server.port, KUBERNETES, None, wish, alice)[0] == 401, "nobody does")
        expect(keys.ask(server.port, REST, "front", json.dumps({"namespace": "default"}), alice)[0] == 403, "REST is not its")


if __name__ == "__main__":
    sys.exit(kit.run_cases())
