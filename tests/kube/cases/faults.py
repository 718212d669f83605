"""Faults and several clusters."""
import json
import os
import signal
import subprocess
import sys
import time

import kit
from cluster.instance import Cluster, state_root
from kit import answers, case, client, expect, pids, same, tool


@case("pause silences the API server or etcd, resume brings it back as it was")
def _():
    before = pids()
    for target in ("apiserver", "etcd"):
        tool("pause", target)
        expect(f"{target} paused" in tool("status"), tool("status"))
        tool("status", "--name", "default", good=False)
        expect(not answers(1.5), target)
        tool("resume", target)
        expect(answers(30), target)
    same(pids(), before)


@case("restart of either keeps port and data")
def _():
    url, count = Cluster("default").server(), len(client().ask("GET", kit.SERVERS)[1]["items"])
    for targets in (["etcd"], ["apiserver"], ["apiserver", "etcd"]):
        before = pids()
        tool("restart", *targets)
        after = pids()
        same([a != b for a, b in zip(before, after)], ["etcd" in targets, "apiserver" in targets])
        expect(answers(30), targets)
    same(Cluster("default").server(), url)
    same(len(client().ask("GET", kit.SERVERS)[1]["items"]), count)


@case("kill ends one at once, start or up brings it back with its data")
def _():
    count = len(client().ask("GET", kit.SERVERS)[1]["items"])
    for target, back in (("apiserver", ["start", "apiserver"]), ("etcd", ["start", "etcd"]), ("apiserver", ["up"])):
        tool("kill", target)
        expect(f"{target} stopped" in tool("status"), tool("status"))
        expect(not answers(2), target)
        tool(*back)
        expect(answers(30), target)
    same(len(client().ask("GET", kit.SERVERS)[1]["items"]), count)


@case("a second cluster by name is another world, and its audit log counts requests")
def _():
    tool("--name", "b", "up", "--audit-log")
    same(client("b").ask("GET", kit.SERVERS)[1]["items"], [])
    same(client("b").ask("POST", kit.SERVERS, kit.game_server("audited"))[0], 201)
    for number in range(3):
        content = {"metadata": {"labels": {"n": str(number)}}}
        same(client("b").ask("PATCH", f"{kit.SERVERS}/audited", content, kit.MERGE)[0], 200)
    log, found = Cluster("b").audit_log(), []
    deadline = time.monotonic() + 20
    while len(found) < 3 and time.monotonic() < deadline:
        time.sleep(0.1)
        entries = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
        found = [e for e in entries if e["verb"] == "patch" and e["objectRef"].get("name") == "audited"]
    same([e["responseStatus"]["code"] for e in found], [200, 200, 200])
    same([one["name"] for one in json.loads(tool("status", "--json"))], ["b", "default"])
    same(tool("kubectl", "--name", "b", "get", "gs", "-o", "name").strip(), "gameserver.agones.dev/audited")


@case("a starter that is killed half-way leaves what the next up finishes, and no process twice")
def _():
    one = Cluster("c")
    with subprocess.Popen([sys.executable, str(kit.ROOT / "tools/cluster"), "--name", "c", "up"],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True) as starter:
        deadline = time.monotonic() + 60
        while one.apiserver.pid() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        os.killpg(starter.pid, signal.SIGKILL)
    expect(all(pids("c")), pids("c"))
    tool("up", "--name", "c")
    same(client("c").ask("GET", kit.SERVERS)[0], 200)
    same(sorted(kit.processes_of(one.folder)), sorted(pids("c")))


@case("a pid file that names another process is not believed")
def _():
    one = Cluster("c")
    tool("kill", "--name", "c", "apiserver")
    with subprocess.Popen(["sleep", "600"]) as bystander:
        try:
            one.apiserver.pid_file.write_text(json.dumps({"pid": bystander.pid, "start_time": "1"}))
            expect("apiserver stopped" in tool("status", "--name", "c", good=False))
            tool("down", "--name", "c")
            same(bystander.poll(), None)
        finally:
            bystander.kill()
    expect(not one.folder.exists(), one.folder)


@case("down finds processes whose files were removed by hand")
def _():
    tool("up", "--name", "c")
    for name in ("etcd.pid", "apiserver.pid"):
        (Cluster("c").folder / name).unlink()
    tool("down", "--name", "c")
    same(kit.processes_of(Cluster("c").folder), [])


@case("down leaves no process and no file, and does nothing the second time")
def _():
    tool("down", "--name", "b")
    same(kit.processes_of(Cluster("b").folder), [])
    expect(answers(30), "the other cluster goes on")
    tool("pause", "etcd")  # a paused process must end too
    tool("down", "--all")
    same(kit.processes_of(state_root()), [])
    same(list(state_root().iterdir()), [])
    tool("down")
    tool("down", "--all")
