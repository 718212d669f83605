#!/usr/bin/env python3
"""The real kubectl on embedded fleets: the built server as a small cluster.

Usage: kubectl_test.py PATH-OF-agones-alloc-server [WORD-OF-A-CASE]
Prints one line a case and a summary, and exits with 1 when a case failed. kubectl is that of tools/cluster, which compiles
it on first use.
"""
import contextlib
import json
import pathlib
import re
import socket
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True  # nothing is written into the source tree
sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "kube"))  # behind this folder: it has a kit of its own

from cluster import binaries  # noqa: E402
import kit  # noqa: E402
from kit import KUBERNETES, PATIENCE, ROOT, Running, case, clean_environment, expect  # noqa: E402

FLEETS = """
apiVersion: agones.dev/v1
kind: Fleet
metadata: {name: duel, namespace: default, labels: {mode: duel}}
spec:
  replicas: 5
  template:
    metadata: {labels: {mode: duel, region: eu}}
    spec:
      ports: [{name: default, containerPort: 7654}]
      template: {spec: {containers: [{name: duel, image: example}]}}
---
apiVersion: agones.dev/v1
kind: Fleet
metadata: {name: race, namespace: default, labels: {mode: race}}
spec:
  replicas: 2
  scheduling: Distributed
  template:
    metadata: {labels: {mode: race}}
    spec:
      ports: [{name: default, containerPort: 7654}]
      template: {spec: {containers: [{name: race, image: example}]}}
---
apiVersion: agones.dev/v1
kind: Fleet
metadata: {name: lobby, namespace: halls}
spec:
  replicas: 1
  template:
    spec:
      ports: [{name: default, containerPort: 7654}]
      template: {spec: {containers: [{name: lobby, image: example}]}}
"""
ALLOCATION = """
apiVersion: allocation.agones.dev/v1
kind: GameServerAllocation
spec:
  selectors: [{matchLabels: {mode: duel}}]
  metadata: {labels: {match: m1}}
"""

class Kube:
    """A server and kubectl pointed at it, with no configuration but its address."""

    def __init__(self, folder, *options, client=None):
        """`client`: the name of a certificate, over TLS."""
        path = pathlib.Path(folder) / "fleets.yaml"
        path.write_text(FLEETS)
        self.folder = folder
        self.server = Running("--fleets", str(path), "--start-up", "1ms", "--session-length", "never", *options)
        self.client = client
        self.command = [str(binaries.built() / "kubectl"), "--cache-dir", f"{folder}/cache-{self.server.port}"]
        if client:
            pair = pathlib.Path(folder) / "certs/clients" / client
            self.command += ["--server", f"https://localhost:{self.server.port}", "--certificate-authority", f"{folder}/certs/ca.crt",
                             "--client-certificate", f"{pair}/tls.crt", "--client-key", f"{pair}/tls.key"]
        else:
            self.command += ["--server", f"http://127.0.0.1:{self.server.port}"]
        self.environment = clean_environment({"KUBECONFIG": f"{folder}/none", "HOME": str(folder)})
        self.environment.pop("KUBERNETES_SERVICE_HOST", None)

    def __enter__(self):
        self.server.__enter__()
        if not self.client:
            self.server.wait_ready(8)
        return self

    def __exit__(self, *how):
        self.server.__exit__(*how)

    def run(self, *arguments, text=None):
        return subprocess.run([*self.command, *arguments], input=text, capture_output=True, text=True, timeout=PATIENCE,
                              env=self.environment, check=False)

    def __call__(self, *arguments, text=None):
        """Standard output of a call that succeeds."""
        done = self.run(*arguments, text=text)
        expect(done.returncode == 0, f"kubectl {' '.join(arguments)}: {done.stdout}{done.stderr}")
        return done.stdout

    def fails(self, *arguments, text=None):
        """What is said of a call that fails."""
        done = self.run(*arguments, text=text)
        expect(done.returncode != 0, f"kubectl {' '.join(arguments)} should fail: {done.stdout}")
        return done.stdout + done.stderr

    def json(self, *arguments):
        return json.loads(self(*arguments, "-o", "json"))

    def names(self, *arguments):
        return sorted(line.split("/", 1)[1] for line in self("get", "gs", *arguments, "-o", "name").split())

    def allocate(self):
        return json.loads(self("create", "-f", "-", "-o", "json", text=ALLOCATION))["status"]["gameServerName"]

    @contextlib.contextmanager
    def watching(self, *arguments):
        process = subprocess.Popen([*self.command, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env=self.environment)
        try:
            yield Lines(process)
        finally:
            process.kill()
            process.wait(PATIENCE)


class Lines:
    """What a kubectl that goes on has printed so far."""

    def __init__(self, process):
        self.process, self.lines = process, []
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            self.lines.append(line)

    def wait_for(self, pattern):
        give_up = time.monotonic() + PATIENCE
        while not any(re.search(pattern, line) for line in list(self.lines)):
            expect(self.process.poll() is None or self.reader.is_alive(), f"kubectl has ended: {''.join(self.lines)}")
            expect(time.monotonic() < give_up, f"{pattern} never came: {''.join(self.lines)}")
            time.sleep(0.02)


def rows(text):
    """Cells of each line; columns are at least two spaces apart."""
    return [re.split(r"\s{2,}", line.strip()) for line in text.splitlines() if line.strip()]


def resident_megabytes(server):
    return int(re.search(r"VmRSS:\s+(\d+) kB", pathlib.Path(f"/proc/{server.process.pid}/status").read_text())[1]) / 1024


def eventually(read, wanted, what):
    give_up = time.monotonic() + PATIENCE
    while (found := read()) != wanted:
        expect(time.monotonic() < give_up, f"{what}: {found}, not {wanted}")
        time.sleep(0.05)


@case
def fleets_and_game_servers_are_tables_with_agones_columns(folder):
    with Kube(folder) as kube:
        fleets = rows(kube("get", "fleets"))
        expect(fleets[0] == ["NAME", "SCHEDULING", "DESIRED", "CURRENT", "ALLOCATED", "READY", "AGE"], fleets[0])
        expect(fleets[1][:6] == ["duel", "Packed", "5", "5", "0", "5"], fleets[1])
        expect(fleets[2][:6] == ["race", "Distributed", "2", "2", "0", "2"], fleets[2])
        expect(re.fullmatch(r"\d+[sm].*", fleets[1][6]), fleets[1])
        servers = rows(kube("get", "gs"))
        expect(servers[0] == ["NAME", "STATE", "ADDRESS", "PORT", "NODE", "AGE"], servers[0])
        expect(len(servers) == 8, servers)
        expect(re.fullmatch(r"(duel|race)-\w+-\w+", servers[1][0]) and servers[1][1] == "Ready" and servers[1][2].startswith("10.0.0.")
               and 7000 <= int(servers[1][3]) <= 8000 and servers[1][4].startswith("node-"), servers[1])
        both = kube("get", "fleets,gameservers")
        expect("fleet.agones.dev/duel" in both and "gameserver.agones.dev/duel-" in both, both)
        expect(rows(kube("get", "gs", "-o", "wide"))[0] == servers[0], "wide has no more columns, as Agones has none")
        everywhere = rows(kube("get", "flt", "-A"))
        expect(everywhere[0][0] == "NAMESPACE" and [row[:2] for row in everywhere[1:]] ==
               [["default", "duel"], ["default", "race"], ["halls", "lobby"]], everywhere)
        expect(len(rows(kube("get", "gs", "-n", "halls"))) == 2, "one of the other namespace")
        expect(rows(kube("get", "fleet", "race"))[1][0] == "race", "one by name")
        expect("No resources found" in kube.run("get", "gs", "-n", "nowhere").stderr, "none")
        labelled = rows(kube("get", "gs", "-L", "mode", "--show-labels", "-l", "mode=race"))
        expect(labelled[0][-2:] == ["MODE", "LABELS"] and labelled[1][-2] == "race" and "agones.dev/fleet=race" in labelled[1][-1], labelled)
        ordered = [row[0] for row in rows(kube("get", "gs", "--sort-by=.status.ports[0].port"))[1:]]
        expect(sorted(ordered) == [row[0] for row in servers[1:]], ordered)


@case
def objects_are_whole_as_yaml_json_and_by_path(folder):
    with Kube(folder) as kube:
        yaml = kube("get", "fleet", "duel", "-o", "yaml")
        expect("kind: Fleet" in yaml and "replicas: 5" in yaml and "image: example" in yaml, yaml)
        server = kube.json("get", "gs")["items"][0]
        expect((server["apiVersion"], server["kind"], server["status"]["state"]) == ("agones.dev/v1", "GameServer", "Ready"), server)
        expect(server["metadata"]["uid"] and server["metadata"]["resourceVersion"] and server["metadata"]["creationTimestamp"], server)
        expect(server["metadata"]["labels"]["agones.dev/fleet"] == "duel", server)
        expect(kube("get", "fleet", "duel", "-o", "jsonpath={.status.readyReplicas}") == "5", "jsonpath")
        expect(kube("get", "fleets", "-o", "name").split() == ["fleet.agones.dev/duel", "fleet.agones.dev/race"], "names")
        described = kube("describe", "fleet", "duel")
        expect(re.search(r"Name:\s+duel", described) and re.search(r"Ready Replicas:\s+5", described), described)
        described = kube("describe", "gs", server["metadata"]["name"])
        expect(re.search(r"State:\s+Ready", described), described)


@case
def selectors_and_pages(folder):
    with Kube(folder) as kube:
        everything = kube.names("-A")
        expect(len(everything) == 8, everything)
        for selector, count in (("mode=duel", 5), ("mode!=duel", 3), ("mode in (duel,race)", 7), ("mode notin (duel)", 3), ("mode", 7),
                                ("!mode", 1), ("mode=duel,region=eu", 5), ("mode=duel,region!=eu", 0)):
            found = kube.names("-A", "-l", selector)
            expect(len(found) == count, f"{selector}: {found}")
        expect(kube.names("--field-selector", f"metadata.name={everything[0]}") == [everything[0]], "by name")
        expect(len(kube.names("-A", "--field-selector", "metadata.namespace=halls")) == 1, "by namespace")
        told = kube.fails("get", "gs", "--field-selector", "status.state=Ready")
        expect("field label not supported: status.state" in told, told)
        paged = kube.run("get", "gs", "-A", "--chunk-size=3", "-v=7", "-o", "name")
        expect(len(paged.stdout.split()) == 8, paged.stdout)
        expect(len(set(re.findall(r"continue=([^&\s\"]+)", paged.stderr))) == 2, "three pages")


@case
def a_watch_shows_allocations_as_they_happen(folder):
    with Kube(folder) as kube:
        with kube.watching("get", "gs", "-w") as lines, kube.watching("get", "fleets", "-w") as fleets:
            lines.wait_for(r"^NAME +STATE")
            fleets.wait_for(r"^duel +Packed +5 +5 +0 +5")
            for index in range(3):
                name = kube.allocate()
                lines.wait_for(rf"^{name} +Allocated +10\.0\.0\.")
                fleets.wait_for(rf"^duel +Packed +5 +5 +{index + 1} +{4 - index}")
            kube("delete", "gs", name, "--wait=false")
            lines.wait_for(rf"^{name} ")
            expect(sum(line.startswith("NAME") for line in lines.lines) == 1, "one header")


@case
def a_watch_leaves_out_none_of_many_allocations(folder):
    with Kube(folder) as kube:
        kube("scale", "fleet", "duel", "--replicas=205")
        kube("wait", "fleet/duel", "--for=jsonpath={.status.readyReplicas}=205", "--timeout=50s")
        with kube.watching("get", "gs", "-w", "--watch-only", "-l", "mode=duel", "-o",
                           "jsonpath={.metadata.name} {.status.state} {.metadata.resourceVersion}{'\\n'}") as lines:
            taken = []
            while not lines.lines:  # kubectl says nothing when its watch begins: what it hears first shows it
                taken.append(kube.allocate())
                expect(len(taken) < 100, "it hears nothing")
            unheard = len(taken)
            for _ in range(100):
                status, text, _ = kube.server.allocate(KUBERNETES, {"selectors": [{"matchLabels": {"mode": "duel"}}]})
                expect(status == 201, text)
                taken.append(json.loads(text)["status"]["gameServerName"])
            lines.wait_for(rf"^{taken[-1]} Allocated ")
            told = [line.split() for line in lines.lines]
            expect([name for name, state, _ in told if state == "Allocated"][-100:] == taken[unheard:], f"each, in order: {told}")
            versions = [int(version) for _, _, version in told]
            expect(versions == sorted(set(versions)), f"each once: {versions}")


@case
def watches_of_one_of_some_and_as_objects(folder):
    with Kube(folder) as kube:
        names = kube.names("-l", "mode=duel")
        with kube.watching("get", "gs", "-w", "-l", "match=m1", "--output-watch-events") as matched, \
                kube.watching("get", "gs", "-w", "-o", "jsonpath={.metadata.name} is {.status.state}{'\\n'}") as objects:
            objects.wait_for(rf"^{names[-1]} is Ready")
            taken = kube.allocate()
            matched.wait_for(rf"^ADDED +{taken} +Allocated")
            objects.wait_for(rf"^{taken} is Allocated")
            name = next(other for other in names if other != taken)  # a free one: its place is filled again
            with kube.watching("get", "gs", name, "-w") as one:
                one.wait_for(rf"^{name} +Ready")
                kube("delete", "gs", name, "--wait=false")
                eventually(lambda: sum(line.startswith(f"{name} ") for line in one.lines) > 1, True, "its end is told to who watches it")
            eventually(lambda: sum(line.startswith(f"{name} is") for line in objects.lines) > 1, True, "and to who watches all")
        kube("wait", "fleet/duel", "--for=jsonpath={.status.readyReplicas}=4", "--timeout=30s")


@case
def the_end_of_the_server_ends_watches_properly(folder):
    with Kube(folder) as kube:
        with kube.watching("get", "gs", "-w") as lines:
            lines.wait_for(r"^NAME +STATE")
            started = time.monotonic()
            expect(kube.server.stop() == 0, "".join(kube.server.lines))
            expect(time.monotonic() - started < 5, "at once")
            lines.process.wait(PATIENCE)
            expect("unexpected EOF" not in lines.process.stderr.read(), "the body's end was sent")


@case
def fleets_scale_up_and_down_but_keep_what_is_allocated(folder):
    with Kube(folder) as kube:
        expect("scaled" in kube("scale", "fleet", "duel", "--replicas=8"), "said so")
        eventually(lambda: len(kube.names("-l", "mode=duel")), 8, "game servers")
        kube("wait", "fleet/duel", "--for=jsonpath={.status.readyReplicas}=8", "--timeout=30s")
        taken = sorted(kube.allocate() for _ in range(3))
        kube("scale", "fleet", "duel", "--replicas=1")
        eventually(lambda: kube.names("-l", "mode=duel"), taken, "game servers left")
        kube("scale", "fleet/duel", "--current-replicas=1", "--replicas=0")
        expect("Expected replicas to be 7, was 0" in kube.fails("scale", "fleet/duel", "--current-replicas=7", "--replicas=9"), "a condition")
        expect(kube.names("-l", "mode=duel") == taken, "allocated ones stay")
        kube("scale", "fleet/race", "--replicas=9", "--dry-run=server")
        expect(kube.json("get", "fleet", "race")["spec"]["replicas"] == 2, "a dry run changes nothing")
        told = kube.fails("scale", "fleet/race", "--replicas=2000000")
        expect("spec.replicas" in told and "between 0 and 1000000" in told, told)
        expect('fleets.agones.dev "nothing" not found' in kube.fails("scale", "fleet/nothing", "--replicas=1"), "none of that name")


@case
def deleted_game_servers_are_replaced(folder):
    with Kube(folder) as kube:
        before = kube.names("-l", "mode=race")
        expect("deleted" in kube("delete", "gs", before[0]), "kubectl waits until it is gone")
        eventually(lambda: len(kube.names("-l", "mode=race")), 2, "game servers")
        after = kube.names("-l", "mode=race")
        expect(before[0] not in after and before[1] in after, f"{before} {after}")
        taken = kube.allocate()
        kube("delete", "gs", taken, "--dry-run=server")
        expect(kube.json("get", "gs", taken)["status"]["state"] == "Allocated", "a dry run deletes nothing")
        kube("delete", "gs", taken)
        eventually(lambda: len(kube.names("-l", "mode=duel")), 5, "game servers")
        expect(taken not in kube.names(), "an allocated one, too")
        expect(f'gameservers.agones.dev "{taken}" not found' in kube.fails("delete", "gs", taken), "only once")
        old = kube.names("-l", "mode=duel")
        kube("delete", "gs", "-l", "mode=duel")
        eventually(lambda: len(kube.names("-l", "mode=duel")), 5, "game servers")
        expect(not set(old) & set(kube.names()), "all of them are others")


@case
def allocations_by_create_are_seen_at_once(folder):
    with Kube(folder) as kube:
        taken = {kube.allocate() for _ in range(5)}
        expect(len(taken) == 5, taken)
        expect(set(kube.names("-l", "match=m1")) == taken, "with their labels")
        answer = json.loads(kube("create", "-f", "-", "-o", "json", text=ALLOCATION))
        expect(answer["status"]["state"] == "UnAllocated", answer)
        described = kube("describe", "gs", sorted(taken)[0])
        expect(re.search(r"Events:\s+Type\s+Reason", described) and re.search(r"Normal\s+Allocated", described), described)
        events = rows(kube("get", "events"))
        expect(events[0] == ["LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"] and
               {row[3].split("/")[1] for row in events[1:] if row[2] == "Allocated"} == taken, events)
        expect(rows(kube("get", "fleet", "duel"))[1][1:6] == ["Packed", "5", "5", "5", "0"], "counted")


@case
def it_says_what_it_has_and_explains_it(folder):
    with Kube(folder) as kube:
        resources = kube("api-resources")
        for words in (r"fleets\s+flt\s+agones.dev/v1\s+true\s+Fleet", r"gameservers\s+gs\s+agones.dev/v1\s+true\s+GameServer",
                      r"gameserverallocations\s+gsa\s+allocation.agones.dev/v1\s+true\s+GameServerAllocation"):
            expect(re.search(words, resources), resources)
        expect(set(kube("api-versions").split()) == {"agones.dev/v1", "allocation.agones.dev/v1", "v1"}, "versions")
        expect("Server Version: v1.33.0+agones-alloc" in kube("version"), "version")
        expect("How many game servers" in kube("explain", "fleet.spec.replicas"), "a fleet's field")
        expect("Where players reach it" in kube("explain", "gs.status.address"), "a server's field")
        expect("Tried in order" in kube("explain", "gsa.spec.selectors"), "an allocation's field")


@case
def what_it_cannot_do_is_refused_with_what_it_can(folder):
    with Kube(folder) as kube:
        path = pathlib.Path(folder) / "fleets.yaml"
        expect("--fleets" in kube.fails("create", "-f", str(path)), "fleets cannot be created")
        expect("kubectl scale" in kube.fails("delete", "fleet", "duel"), "nor deleted")
        told = kube.fails("patch", "fleet", "duel", "--type=merge", "-p", '{"spec":{"scheduling":"Packed"}}')
        expect("kubectl scale" in told, told)
        name = kube.names()[0]
        expect("they can be deleted" in kube.fails("label", "gs", name, "a=b"), "nor servers changed")
        expect("the server doesn't have a resource type" in kube.fails("get", "pods"), "no pods")
        told = kube.fails("get", "--raw", "/api/v1/namespaces/default/pods")
        expect("fleets and gameservers" in told, told)
        expect('gameservers.agones.dev "nothing" not found' in kube.fails("get", "gs", "nothing"), "named")
        expect(len(kube.names("-A")) == 8, "nothing has changed")


@case
def a_watch_from_before_a_restart_is_too_old(folder):
    with Kube(folder) as kube:
        versions = {plural: json.loads(kube("get", "--raw", f"/apis/agones.dev/v1/{plural}"))["metadata"]["resourceVersion"]
                    for plural in ("gameservers", "fleets")}
    with Kube(folder) as kube:
        for plural, version in versions.items():
            told = kube("get", "--raw", f"/apis/agones.dev/v1/{plural}?watch=true&resourceVersion={version}")
            event = json.loads(told)
            expect(event["type"] == "ERROR" and event["object"]["code"] == 410, told)


@case
def allocations_go_on_beside_watchers_that_do_not_read(folder):
    with Kube(folder) as kube, contextlib.ExitStack() as open_ones:
        for _ in range(20):
            deaf = open_ones.enter_context(socket.socket())
            deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            deaf.connect(("127.0.0.1", kube.server.port))
            deaf.sendall(b"GET /apis/agones.dev/v1/gameservers?watch=true HTTP/1.1\r\nHost: x\r\n\r\n")
        before = resident_megabytes(kube.server)
        started = time.monotonic()
        for _ in range(2000):
            status, text, _ = kube.server.ask("POST", KUBERNETES, '{"spec":{"selectors":[{"gameServerState":"Allocated"},{}]}}',
                                              {"Content-Type": "application/json"})
            expect(status == 201 and '"Allocated"' in text, text)
        expect(time.monotonic() - started < 30, "none has waited for a watcher")
        grown = resident_megabytes(kube.server) - before  # 2,000 changes of 2 KB for each of 20 watchers would be 80
        expect(grown < 25, f"{grown} MB more: what watchers do not take is not kept for each of them")


@case
def over_tls_a_certificate_sees_and_changes_what_it_may_allocate_in(folder):
    certs = pathlib.Path(folder) / "certs"
    subprocess.run([str(ROOT / "tools/certs"), str(certs), "--client", "player"], check=True, stdout=subprocess.DEVNULL)
    with Kube(folder, "--tls-cert", f"{certs}/server/tls.crt", "--tls-key", f"{certs}/server/tls.key", "--client-ca", f"{certs}/ca.crt",
              "--allow-client", "CN:player=default", client="player") as kube:
        kube("wait", "fleet/duel", "--for=jsonpath={.status.readyReplicas}=5", "--timeout=30s")
        expect(len(kube.names()) == 7, "its own namespace")
        for arguments in (("get", "gs", "-A"), ("get", "fleets", "-n", "halls"), ("scale", "fleet/lobby", "-n", "halls", "--replicas=0")):
            told = kube.fails(*arguments)
            expect("forbidden" in told.lower() and "rules for clients" in told, told)
        with kube.watching("get", "gs", "-w") as lines:
            lines.wait_for(r"^NAME +STATE")
            lines.wait_for(rf"^{kube.allocate()} +Allocated")
        bare = [part for part in kube.command if "client" not in part and not part.endswith(("tls.crt", "tls.key"))]
        done = subprocess.run([*bare, "get", "gs"], capture_output=True, text=True, timeout=PATIENCE, env=kube.environment, check=False)
        expect(done.returncode != 0, f"without a certificate: {done.stdout}")


@case
def it_can_be_left_out_and_watches_are_bounded(folder):
    with Kube(folder, "--no-cluster-api") as kube:
        expect(kube.server.ask("GET", "/apis/agones.dev/v1/fleets")[0] == 404, "not served")
        expect(kube.server.allocate(KUBERNETES)[0] == 201, "allocations are")
    with Kube(folder, "--max-watches", "1") as kube:
        watch = "/apis/agones.dev/v1/gameservers?watch=true"
        with socket.create_connection(("127.0.0.1", kube.server.port), PATIENCE) as first:
            first.sendall(f"GET {watch} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            expect(first.recv(12) == b"HTTP/1.1 200", "the first one")
            status, text, _ = kube.server.ask("GET", watch)
            expect(status == 429 and "1 watches already" in text, text)
        eventually(lambda: kube.server.ask("GET", watch + "&timeoutSeconds=1")[0], 200, "once the first has left")


if __name__ == "__main__":
    sys.exit(kit.run_cases())
