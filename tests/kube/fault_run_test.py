#!/usr/bin/env python3
"""Three replicas on a real cluster whose API server is killed and paused, and which are killed and paused themselves, while
matchmakers with ids retry, lose answers, confirm, forget and release. Afterwards etcd's history is checked against theirs:
nothing double, nothing lost, nobody unanswered.

Usage: fault_run_test.py PATH-OF-agones-alloc-server [--seconds 40] [--callers 64] [--servers 48] [--seed N]
"""
import argparse
import collections
import os
import sys
import threading
import time

sys.dont_write_bytecode = True  # nothing is written into the source tree

import kit  # noqa: E402
from fault_run import books, faults  # noqa: E402
from fault_run.history import History, revision  # noqa: E402
from fault_run.matchmakers import CLAIM_SECONDS, PATH, Matchmaker, Replicas  # noqa: E402
from serving import Caller, fill, stored  # noqa: E402

REPLICAS = 3
options = argparse.Namespace()


def read_options() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--seconds", type=float, default=40, help="how long faults go on")
    parser.add_argument("--callers", type=int, default=64)
    parser.add_argument("--servers", type=int, default=48)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(3), "big"), help="of callers and faults")
    parser.parse_args(namespace=options)


@kit.case("a cluster is up")
def _():
    kit.tool("up", "--apiserver-flag=--etcd-compaction-interval=0")


def ask(server: faults.Replica, method: str, path: str, fields: dict | None = None, body: dict | None = None) -> tuple[int, dict, dict]:
    return Replicas([server]).ask(0, method, path, body, fields)


def state_by_kubectl(name: str) -> str:
    return kit.tool("kubectl", "get", "gs", name, "-o", "jsonpath={.status.state}").strip()


@kit.case("an id gets the same server from another replica, and after its own was killed; another request with it is refused")
def _():
    fill(3)
    fields = {"Idempotency-Key": "match-1"}
    with faults.start(0, 2) as first, faults.start(1, 2) as second:
        first.wait_ready()
        second.wait_ready()
        code, body, _ = ask(first, "POST", PATH, fields, {"spec": {}})
        kit.same((code, body["status"]["state"]), (201, "Allocated"))
        name = body["status"]["gameServerName"]
        first.kill()
        deadline = time.monotonic() + 20  # its watch
        while ask(second, "GET", "/v1/claims/match-1?namespace=default")[0] != 200:
            kit.expect(time.monotonic() < deadline, "the other replica does not hear of it")
            time.sleep(0.02)
        code, body, head = ask(second, "POST", PATH, fields, {"spec": {}})
        kit.same((code, body["status"]["gameServerName"], head.get("Agones-Alloc-Repeated")), (201, name, "true"))
        code, body, _ = ask(second, "POST", PATH, fields, {"spec": {"scheduling": "Distributed"}})
        kit.expect(code == 422 and "was used for another request" in body["message"], code, body)
    with faults.start(0, 2) as again:
        again.wait_ready()
        code, body, head = ask(again, "POST", PATH, fields, {"spec": {}})
        kit.same((code, body["status"]["gameServerName"], head.get("Agones-Alloc-Repeated")), (201, name, "true"))
    kit.same(sorted(one["status"]["state"] for one in stored().values()), ["Allocated", "Ready", "Ready"])


@kit.case("a claim that nobody confirms is over after its time, and kubectl agrees; who waits gets its server at once")
def _():
    fill(1)
    with faults.start(0, 1) as server:
        server.wait_ready()
        begun = time.monotonic()
        name = ask(server, "POST", PATH, {"Agones-Alloc-Claim-TTL": "5s"}, {"spec": {}})[1]["status"]["gameServerName"]
        kit.same(state_by_kubectl(name), "Allocated")
        code, body, head = ask(server, "POST", PATH, {"Prefer": "wait=20", "Idempotency-Key": "waits"}, {"spec": {}})
        kit.same((code, body["status"].get("gameServerName"), head.get("Preference-Applied")), (201, name, "wait=20"))
        kit.expect(4.9 <= time.monotonic() - begun < 15, time.monotonic() - begun)
        kit.same(ask(server, "POST", "/v1/claims/waits:release?namespace=default")[0], 200)
        kit.same(state_by_kubectl(name), "Ready")
        annotations = stored()[name]["metadata"].get("annotations", {})
        kit.expect(not any(key.startswith("agones-alloc.dev/claim") for key in annotations), annotations)


@kit.case("while everything fails now and then: no server is given to two or lost, no confirmed claim is undone, everybody is answered")
def _():
    before = revision()
    fill(options.servers)
    lobby = kit.game_server("lobby", "Allocated", counters={"sessions": {"count": 0, "capacity": 1000}})
    lobby["metadata"]["labels"] = {"agones.dev/fleet": "lobby"}
    kit.same(kit.client().ask("POST", kit.SERVERS, lobby)[0], 201)
    replicas = Replicas([faults.start(i, REPLICAS) for i in range(REPLICAS)])
    keeper = faults.Keeper(options.servers)
    trouble = faults.Faults(options.seed, replicas)
    over = threading.Event()
    try:
        for one in replicas.running:
            one.wait_ready()
        with History(before) as history:
            callers = [Matchmaker(i, options.seed, replicas, over) for i in range(options.callers)]
            for one in [keeper, *callers]:
                one.start()
            trouble.run(options.seconds)
            over.set()
            for one in callers:
                one.join(200)
            stuck = [one.number for one in callers if one.is_alive()]
            sessions = [session for one in callers for session in one.sessions]
            problems = [problem for one in callers for problem in one.problems]
            problems += [f"caller {number} does not come to its end" for number in stuck]
            problems += come_to_rest()
            keeper.over.set()
            keeper.join()
            history.caught_up()
            found, counts = books.check(history, sessions)
            problems += found
        problems += hand_out_all(replicas)
        for one in callers:
            counts += one.counts
        print(f"  seed {options.seed}: {len(sessions)} sessions, {len(history.writes)} writes; {dict(sorted(counts.items()))}")
        print(f"  faults: {'; '.join(trouble.done)}", flush=True)
        kit.expect(not problems, f"{len(problems)} problems with --seed {options.seed}", *problems[:20])
        kit.expect(counts["Allocated"] >= options.seconds, "too little was done to show anything", counts)
    finally:
        keeper.over.set()
        over.set()
        for one in replicas.running:
            if one is not None:
                one.__exit__()


def come_to_rest() -> list[str]:
    """Claims that nobody confirmed are over after their time, and servers that were shut down are replaced."""
    deadline = time.monotonic() + CLAIM_SECONDS + 40
    while problems := books.check_rest(stored(), options.servers):
        if time.monotonic() > deadline:
            return problems
        time.sleep(0.5)
    return []


def hand_out_all(replicas: Replicas) -> list[str]:
    """Each server can be had once more, whoever is asked."""
    names: list[str] = []
    deadline = time.monotonic() + 60
    misses = 0
    for turn in range(100 * options.servers):
        if time.monotonic() > deadline or misses > 2 * REPLICAS and len(names) >= options.servers:
            break
        code, answer = Caller(replicas.running[turn % REPLICAS]).allocate({"selectors": [{"matchLabels": {"agones.dev/fleet": "simple"}}]})
        status = answer.get("status")
        if code == 201 and status["state"] == "Allocated":
            names.append(status["gameServerName"])
            misses = 0
        else:
            misses += 1
            time.sleep(0.05)
    twice = [name for name, count in collections.Counter(names).items() if count > 1]
    return [] if len(names) == options.servers and not twice else [f"at the end {len(names)} of {options.servers} were handed out, twice: {twice}"]


if __name__ == "__main__":
    read_options()
    sys.exit(kit.run_cases())
