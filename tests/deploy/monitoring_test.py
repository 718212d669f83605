#!/usr/bin/env python3
"""The metrics, the alert rules and the board, by Debian's promtool and a real Prometheus that scrapes the built server.

Usage: monitoring_test.py PATH-OF-agones-alloc-server
Prints one line a case and a summary, and exits with 1 when a case failed. Needs promtool and prometheus.
"""
import contextlib
import json
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

sys.dont_write_bytecode = True  # nothing is written into the source tree
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "server"))

from event_receiver import Receiver  # noqa: E402
import kit  # noqa: E402
from kit import KUBERNETES, PATIENCE, ROOT, Running, case, expect, fleet_file  # noqa: E402

RULES = ROOT / "deploy/prometheus/rules.yaml"
BOARD = ROOT / "deploy/grafana/agones-alloc.json"
# Agones' own names, which dashboards of its users go by.
AGONES_NAMES = {"agones_gameserver_allocations_retry_total", "agones_fleets_replicas_count"}


def promtool(*arguments, text=None, good=True):
    program = shutil.which("promtool")
    expect(program, "promtool is not installed: tools/setup test")
    done = subprocess.run([program, *map(str, arguments)], input=text, capture_output=True, text=True, timeout=PATIENCE, check=False,
                          cwd=RULES.parent)
    expect((done.returncode == 0) == good, f"promtool {' '.join(map(str, arguments))}: {done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def used(server):
    """Some of everything that can be counted, so that its series are there."""
    server.wait_ready(3)
    for _ in range(5):
        server.allocate(KUBERNETES)
    server.allocate(KUBERNETES, {"selectors": [{"matchLabels": {"no": "such"}}]})
    server.ask("GET", "/nothing")
    return server.ask("GET", "/metrics")[1]


@contextlib.contextmanager
def with_everything(folder):
    """A server that tells events, has readiness gates and serves gRPC, where it was built with it."""
    with Receiver(lambda number, handler: 400 if number == 0 else 204) as hook:
        options = ["--event-sink", hook.url("name=hook types=gameserver"), "--gate", "watch; timeout=5m"]
        if "built without gRPC" not in kit.run("--fleets", "no/such/folder", "--grpc-listen", "127.0.0.1:0").stderr:
            options += ["--grpc-listen", "127.0.0.1:0"]
        with Running("--fleets", fleet_file(folder, 3), "--session-length", "never", *options) as server:
            yield server


def expressions():
    """(panel's title, expression) of the board, with its variables filled in."""
    found = []
    for panel in json.loads(BOARD.read_text())["panels"]:
        for target in panel.get("targets", []):
            expression = target["expr"].replace("$__rate_interval", "1m")
            found.append((panel["title"], re.sub(r"\$\w+", ".*", expression)))
    return found


def names_in(expression):
    """Metrics, without the names that rules record, which have colons."""
    return set(re.findall(r"\bagones_\w+\b(?!:)", expression))


@case
def the_metrics_are_well_formed_and_named_as_prometheus_wants_them(folder):
    with with_everything(folder) as server:
        used(server)
        # What has happened by then has its series.
        text = kit.until(lambda: all(word in (told := server.ask("GET", "/metrics")[1]) for word in (
            'agones_alloc_events_total{result="sent",sink="hook"}', "agones_alloc_gate_ended_total{", "agones_alloc_gate_ready_seconds_bucket{"))
            and told, lambda: server.ask("GET", "/metrics")[1])
    done = subprocess.run([shutil.which("promtool"), "check", "metrics"], input=text, capture_output=True, text=True, timeout=PATIENCE,
                          check=False)
    expect(done.returncode in (0, 3), f"they cannot be read: {done.stderr}")
    told = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    strange = [line for line in told if line.split()[0] not in AGONES_NAMES]
    expect(not strange, "\n".join(strange))
    broken = promtool("check", "metrics", text=text + "\nagones_alloc_http_connections{ 5\n", good=False)
    expect("error" in broken.lower() or "expected" in broken.lower(), f"a fault is seen: {broken}")


@case
def the_alert_rules_are_valid_and_fire_when_they_should(_):
    promtool("check", "rules", RULES)
    expect("SUCCESS" in promtool("test", "rules", RULES.parent / "rules_test.yaml"), "their tests")


@case
def the_rules_and_the_board_ask_for_metrics_that_there_are(folder):
    with with_everything(folder) as server:
        there = names_in(used(server))
    documented = names_in((ROOT / "docs/wire-formats.md").read_text() + (ROOT / "docs/multicluster.md").read_text()
                          + (ROOT / "docs/promises.md").read_text())
    asked = names_in(RULES.read_text() + "".join(expression for _, expression in expressions()))
    expect(len(asked) > 15, f"they ask for much: {asked}")
    for name in asked:
        plain = re.sub(r"_(bucket|count|sum)$", "", name)
        expect({name, plain} & (there | documented), f"nothing is called {name}")


@case
def the_board_is_complete(folder):
    board = json.loads(BOARD.read_text())
    panels = board["panels"]
    expect(len({panel["id"] for panel in panels}) == len(panels), "ids are unique")
    places = set()
    for panel in panels:
        place = panel["gridPos"]
        cells = {(x, y) for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + place["h"])}
        expect(not cells & places and place["x"] + place["w"] <= 24, f"{panel['title']} lies over another panel")
        places |= cells
        expect(panel["type"] == "row" or (panel["description"] and panel["targets"]), f"{panel['title']} says what it shows")
    variables = {one["name"] for one in board["templating"]["list"]}
    for reference in set(re.findall(r"\$\{?(\w+)", BOARD.read_text())) - {"__rate_interval", "__all"}:
        expect(reference in variables, f"there is no variable {reference}")
    listed = "\n".join(f"      - {{record: 'board:panel{number}', expr: {json.dumps(expression)}}}"
                       for number, (_, expression) in enumerate(expressions()))
    path = pathlib.Path(folder) / "board.yaml"
    path.write_text(f"groups:\n  - name: board\n    rules:\n{listed}\n")
    promtool("check", "rules", path)


class Prometheus:
    """A real one, scraping a server each half second."""

    def __init__(self, folder, port):
        program = shutil.which("prometheus")
        expect(program, "prometheus is not installed: tools/setup test")
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        config = pathlib.Path(folder) / "prometheus.yml"
        config.write_text(json.dumps({
            "global": {"scrape_interval": "500ms", "scrape_timeout": "500ms", "evaluation_interval": "1s"}, "rule_files": [str(RULES)],
            "scrape_configs": [{"job_name": "agones-alloc-server", "static_configs": [{"targets": [f"127.0.0.1:{port}"]}]}]}))
        self.log = open(pathlib.Path(folder) / "prometheus.log", "w+", encoding="utf-8")
        self.process = subprocess.Popen([program, f"--config.file={config}", f"--storage.tsdb.path={folder}/data",
                                         f"--web.listen-address=127.0.0.1:{self.port}"], stdout=self.log, stderr=self.log)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(PATIENCE)
        self.log.close()

    def ask(self, path, **query):
        url = f"http://127.0.0.1:{self.port}/api/v1/{path}?{urllib.parse.urlencode(query)}"
        with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
            return json.load(answer)["data"]

    def value(self, query):
        found = self.ask("query", query=query)["result"]
        return float(found[0]["value"][1]) if found else None

    def wait_for(self, query, wanted):
        give_up = time.monotonic() + PATIENCE
        found = None
        while time.monotonic() < give_up:
            try:
                found = self.value(query)
            except (OSError, urllib.error.URLError):
                pass
            if found is not None and wanted(found):
                return
            expect(self.process.poll() is None, pathlib.Path(self.log.name).read_text(encoding="utf-8"))
            time.sleep(0.1)
        raise AssertionError(f"{query} is {found}")


@case
def a_real_prometheus_scrapes_it_evaluates_the_rules_and_answers_the_board(folder):
    with with_everything(folder) as server, Prometheus(folder, server.port) as prometheus:
        used(server)
        prometheus.wait_for('up{job="agones-alloc-server"}', lambda found: found == 1)
        prometheus.wait_for('agones_fleets_replicas_count{name="simple",type="allocated"}', lambda found: found == 3)
        prometheus.wait_for('agones_alloc_allocations_total{outcome="exhausted"}', lambda found: found == 3)
        prometheus.wait_for('agones_alloc_directory_cluster_stale{cluster="local"}', lambda found: found == 0)
        target = prometheus.ask("targets")["activeTargets"][0]
        expect(target["health"] == "up" and not target["lastError"], target)
        prometheus.wait_for("agones_alloc:allocations:rate5m", lambda found: found >= 0)
        rules = [rule for group in prometheus.ask("rules")["groups"] for rule in group["rules"]]
        expect(len(rules) >= 15 and all(rule["health"] == "ok" for rule in rules), [rule for rule in rules if rule["health"] != "ok"])
        prometheus.wait_for('ALERTS{alertname="AgonesFleetWithoutReadyServers",alertstate="pending"}', lambda found: found == 1)
        empty = [title for title, expression in expressions()
                 if not prometheus.ask("query", query=expression)["result"] and "cluster_" not in expression]
        expect(not empty or empty == ["Connections"], f"panels without data: {empty}")


if __name__ == "__main__":
    sys.exit(kit.run_cases())
