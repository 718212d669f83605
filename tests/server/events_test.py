#!/usr/bin/env python3
"""Events as their receivers meet them: the built server on embedded fleets, webhooks that misbehave, standard output.

Usage: events_test.py PATH-OF-agones-alloc-server
Prints one line a case and a summary, and exits with 1 when a case failed. Needs nothing but Python.
"""
import collections
import json
import pathlib
import re
import signal
import ssl
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True  # nothing is written into the source tree

import kit  # noqa: E402
from event_receiver import Receiver, events_of, is_signed  # noqa: E402
from game_server_api import GameServerApi  # noqa: E402
from kit import KUBERNETES, PATIENCE, SERVER, Running, case, clean_environment, expect, fleet_file, run  # noqa: E402

TYPE = "dev.agones-alloc."


def embedded(folder, replicas, *options):
    """No session ends by itself, no server takes time to start."""
    return Running("--fleets", fleet_file(folder, replicas), "--session-length", "never", *options)


def counts(server):
    """{name: value} of the one sink's series, results as names of their own."""
    text = server.ask("GET", "/metrics")[1]
    out = {}
    for name, labels, value in re.findall(r"^agones_alloc_(event\w+)\{([^}]*)\} (\S+)", text, re.M):
        result = re.search(r'result="(\w+)"', labels)
        out[result.group(1) if result else name] = int(float(value))
    return out


def balanced(found):
    there = sum(found[name] for name in ("sent", "refused", "merged", "dropped", "events_waiting", "events_in_flight"))
    expect(found["offered"] == there, f"nothing is lost without being counted: {found}")


def becomes(read, enough, what):
    give_up = time.monotonic() + PATIENCE
    while not enough(found := read()):
        expect(time.monotonic() < give_up, f"{what}: {found}")
        time.sleep(0.02)
    return found


def types_of(events):
    return collections.Counter(event["type"].removeprefix(TYPE) for event in events)


def in_order(events):
    """Versions of each object only grow, once repeats are dropped by their ids."""
    seen, last = set(), {}
    for event in events:
        if event["id"] in seen:
            continue
        seen.add(event["id"])
        version = int(event["resourceversion"])
        expect(version >= last.get(event["partitionkey"], 0), f"out of order: {event['id']} after {last.get(event['partitionkey'])}")
        last[event["partitionkey"]] = version


@case
def wrong_sinks_are_refused_with_a_word_on_why(folder):
    fleet = fleet_file(folder)
    (pathlib.Path(folder) / "short.key").write_text("short\n")
    for sink, word in (("ftp://x/", "stdout:, http://"), ("http://hooks.example/x", "plaintext=true"),
                       ("https://user:hunter2@hooks.example/", "do not belong on the command line"),
                       ("http://127.0.0.1:0/", "port"), ("http://127.0.0.1/#mode=binary", "behind a blank"),
                       ("http://127.0.0.1/ mode=loud", "binary, structured or batched"),
                       ("http://127.0.0.1/ types=gameserver.eaten", "no type of event"), ("http://127.0.0.1/ colour=red", "there are: batch"),
                       ("http://127.0.0.1/ labels=a%20b=c", "labels: "), ("http://127.0.0.1/ queue=0", "a number from 1"),
                       ("http://127.0.0.1/ batch=5", "mode=batched"), ("stdout: mode=binary", "no setting of such a sink"),
                       ("nats://127.0.0.1/a.>", "no subject"), ("http://127.0.0.1/ cert=x", "cert and key"),
                       (f"http://127.0.0.1/ sign-key={folder}/nothing", "No such file"),
                       (f"http://127.0.0.1/ sign-key={folder}/short.key", "16 bytes")):
        ended = run("--fleets", fleet, "--event-sink", sink)
        expect(ended.returncode == 2 and "--event-sink" in ended.stderr and word in ended.stderr, f"{sink}: {ended.stderr}")
        expect("hunter2" not in ended.stderr, "what may be a secret is not repeated")
    ended = run("--fleets", fleet, "--event-sink", "stdout:", "--event-state", "x")
    expect(ended.returncode == 2 and "--event-state: embedded fleets" in ended.stderr, ended.stderr)
    ended = run("--fleets", fleet, "--event-sink", "stdout:", "--event-sink", "stdout:")
    expect(ended.returncode == 2 and "name=NAME" in ended.stderr, ended.stderr)


@case
def a_webhook_hears_of_servers_and_of_their_sessions(folder):
    with Receiver() as hook, embedded(folder, 3, "--event-sink", hook.url(), "--event-source", "/clusters/test",
                                      "--event-fleet-interval", "50ms") as server:
        server.wait_ready(3)
        hook.wait(lambda h: types_of(h.taken())["fleet.added"] == 1, "the fleet is told")
        status, text, _ = server.allocate(KUBERNETES)
        name = json.loads(text)["status"]["gameServerName"]
        expect(status == 201, text)
        hook.wait(lambda h: types_of(h.taken())["gameserver.allocated"] >= 1, "an allocation is told")
        events = hook.taken()
        told = next(event for event in events if event["type"] == TYPE + "gameserver.allocated")
        expect(told["subject"] == f"default/{name}" and told["source"] == "/clusters/test", str(told))
        expect(told["previousstate"] == "Ready" and told["fleet"] == "simple", str(told))
        expect(told["data"]["status"]["state"] == "Allocated" and told["data"]["metadata"]["uid"] == told["partitionkey"], str(told))
        expect(told["id"] == f"{told['partitionkey']}.{told['resourceversion']}.allocated", told["id"])
        hook.wait(lambda h: types_of(h.taken())["fleet.updated"] >= 1, "its fleet is told, too")
        expect(types_of(events)["gameserver.added"] >= 3, str(types_of(events)))
        ids = [event["id"] for event in hook.taken()]
        expect(len(ids) == len(set(ids)), "each once, when nothing fails")
        in_order(event for event in hook.taken() if ".gameserver." in event["type"])
        expect(server.stop() == 0, "it ends")


@case
def the_end_of_a_session_is_released_and_then_deleted(folder):
    with Receiver() as hook, Running("--fleets", fleet_file(folder, 2), "--session-length", "100ms", "--event-sink",
                                     hook.url("types=gameserver.allocated,gameserver.released,gameserver.deleted")) as server:
        server.wait_ready(2)
        server.allocate(KUBERNETES)
        hook.wait(lambda h: len(h.taken()) >= 3, "three events")
        told = [event["type"].removeprefix(TYPE + "gameserver.") for event in hook.taken()[:3]]
        expect(told == ["allocated", "released", "deleted"], str(told))
        expect(len({event["partitionkey"] for event in hook.taken()[:3]}) == 1, "of one server")


@case
def binary_and_batched_modes_say_the_same(folder):
    with Receiver() as one, Receiver() as many:
        types = "types=gameserver.added,gameserver.allocated"
        with embedded(folder, 20, "--event-sink", one.url("mode=binary name=one " + types), "--event-sink",
                      many.url("mode=batched name=many linger=20ms batch=7 " + types)) as server:
            server.wait_ready(20)
            server.allocate(KUBERNETES)
            for hook in (one, many):
                hook.wait(lambda h: types_of(h.taken())["gameserver.allocated"] == 1, "an allocation")
                expect(types_of(hook.taken())["gameserver.added"] == 20, str(types_of(hook.taken())))
            same = [sorted(json.dumps({k: e[k] for k in ("id", "type", "subject", "source", "data")}, sort_keys=True)
                           for e in hook.taken()) for hook in (one, many)]
            expect(same[0] == same[1], "the same events")
            sizes = [len(events_of(fields, body)) for fields, body, _ in many.deliveries]
            expect(max(sizes) == 7, f"batches as large as they may be: {sizes}")


@case
def filters_by_type_label_and_namespace_hold(folder):
    fleet_file(folder, 2, "arena", file="a.yaml")
    fleet_file(folder, 2, "lobby", file="b.yaml")
    with Receiver() as hook:
        sinks = [hook.url("name=arena types=gameserver.allocated labels=agones.dev/fleet=arena"),
                 hook.url("name=elsewhere namespaces=elsewhere"), hook.url("name=nothing labels=!agones.dev/fleet types=gameserver")]
        with Running("--fleets", folder, "--session-length", "never", *[word for sink in sinks for word in ("--event-sink", sink)]) as server:
            server.wait_ready(4)
            for fleet in ("lobby", "arena", "lobby"):
                server.allocate(KUBERNETES, {"selectors": [{"matchLabels": {"agones.dev/fleet": fleet}}]})
            hook.wait(lambda h: len(h.taken()) >= 1, "the arena's allocation")
            expect(server.stop() == 0, "it ends")
            expect([(event["fleet"], event["type"]) for event in hook.taken()] == [("arena", TYPE + "gameserver.allocated")], str(hook.taken()))


@case
def whatever_a_receiver_does_every_event_arrives_and_in_order(folder):
    def behave(number, handler):
        return ["hang", 204, (503, {"Retry-After": "0"}), "reset", 204, 500, (429, {"Retry-After": "1"}), 204, 408][number] if number < 9 else 204

    with Receiver(behave) as hook, embedded(folder, 10, "--event-sink",
                                            hook.url("time=300ms retry-cap=100ms types=gameserver")) as server:
        server.wait_ready(10)
        names = {json.loads(server.allocate(KUBERNETES)[1])["status"]["gameServerName"] for _ in range(10)}
        hook.wait(lambda h: types_of(h.taken())["gameserver.allocated"] >= 10, "ten allocations")
        told = {event["subject"].split("/")[1] for event in hook.taken() if event["type"].endswith(".allocated")}
        expect(told == names, f"{told} {names}")
        in_order(hook.taken())
        bodies = collections.defaultdict(set)
        for fields, body, _ in hook.deliveries:
            for event in events_of(fields, body):
                bodies[event["id"]].add(body)
        expect(all(len(same) == 1 for same in bodies.values()), "a repeat is the same event")
        expect(len(hook.deliveries) > len(bodies), "there were repeats")
        found = becomes(lambda: counts(server), lambda c: c["sent"] == c["offered"], "all is sent")
        balanced(found)
        expect(found["event_retries_total"] >= 5 and found["dropped"] == found["refused"] == 0, str(found))
        text = "".join(server.lines)
        expect("events do not arrive, trying again" in text and "events arrive again" in text, text)


@case
def what_is_refused_is_counted_and_not_sent_again(folder):
    with Receiver(lambda number, handler: 400 if number < 2 else 204) as hook:
        with embedded(folder, 3, "--event-sink", hook.url("types=gameserver.added")) as server:
            found = becomes(lambda: counts(server), lambda c: c["refused"] + c["sent"] == 3, "three are told or refused")
            expect(found["refused"] == 2 and found["event_retries_total"] == 0, str(found))
            balanced(found)
            expect("events are refused and dropped" in "".join(server.lines), "the log says so")


@case
def a_redirection_is_not_followed(folder):
    with Receiver() as elsewhere, Receiver(lambda n, h: (307, {"Location": elsewhere.url()})) as hook:
        with embedded(folder, 2, "--event-sink", hook.url("types=gameserver.added")) as server:
            becomes(lambda: counts(server), lambda c: c["refused"] == 2, "both are refused")
            expect(not elsewhere.deliveries, "a receiver does not choose where events go")


@case
def a_receiver_that_stalls_costs_bounded_memory_and_all_that_is_lost_is_counted(folder):
    fleet = fleet_file(folder, 200)
    with Receiver(lambda number, handler: "hang" if number == 0 else 204) as hook:
        with Running("--fleets", fleet, "--session-length", "50ms", "--event-sink",
                     hook.url("types=gameserver queue=50 merge-from=10 time=4s retry-cap=50ms")) as server:
            server.wait_ready(50)
            for _ in range(100):
                server.allocate(KUBERNETES)
                found = counts(server)
                expect(found["events_waiting"] <= 50, str(found))
                balanced(found)
            expect(found["dropped"] > 0 and found["merged"] > 0, str(found))
            found = becomes(lambda: counts(server), lambda c: c["sent"] > 30, "it goes on")
            balanced(found)
            in_order(hook.taken())


@case
def deliveries_are_signed_with_the_key_of_the_file_and_a_new_key_counts_after_sighup(folder):
    key = pathlib.Path(folder) / "hook.key"
    key.write_text("the first key of it\n")
    token = pathlib.Path(folder) / "token"
    token.write_text("an-api-token\n")
    with Receiver() as hook, embedded(folder, 3, "--log-level", "debug", "--event-sink", hook.url(
            f"sign-key={key} token={token} types=gameserver.added,gameserver.allocated")) as server:
        hook.wait(lambda h: len(h.taken()) == 3, "three servers")
        for fields, body, _ in hook.deliveries:
            expect(is_signed(fields, body, b"the first key of it"), "signed with the first key")
            expect(not is_signed(fields, body + b" ", b"the first key of it"), "over the body")
            expect(fields["Authorization"] == "Bearer an-api-token", "with the token")
        server.wait_ready(3)
        key.write_text("the second key of it\n")
        server.process.send_signal(signal.SIGHUP)
        becomes(lambda: "".join(server.lines), lambda text: "files of an event sink were read again" in text, "the log says so")
        server.allocate(KUBERNETES)
        hook.wait(lambda h: len(h.taken()) == 4, "an allocation")
        fields, body, _ = hook.deliveries[-1]
        expect(is_signed(fields, body, b"the second key of it"), "signed with the second key")
        key.write_text("short")
        server.process.send_signal(signal.SIGHUP)
        becomes(lambda: "".join(server.lines), lambda text: "the last good ones stay in use" in text, "the log says so")
        server.allocate(KUBERNETES)
        hook.wait(lambda h: len(h.taken()) == 5, "another")
        fields, body, _ = hook.deliveries[-1]
        expect(is_signed(fields, body, b"the second key of it"), "still with the second key")
        expect(server.stop() == 0, "it ends")
        text = "".join(server.lines)
        for secret in ("key of it", "an-api-token", "specversion", '"metadata"'):
            expect(secret not in text, f"the log does not tell: {secret}")


class SecureReceiver(Receiver):
    """Over TLS, for who shows a certificate, with what tools/certs has made."""

    def __init__(self, certs, behave=lambda number, handler: 204):
        super().__init__(behave)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certs / "server/tls.crt", certs / "server/tls.key")
        context.load_verify_locations(certs / "ca.crt")
        context.verify_mode = ssl.CERT_REQUIRED
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)

    def url(self, settings=""):
        return f"https://localhost:{self.port}/hook {settings}"


@case
def events_go_over_tls_to_the_right_receiver_only(folder):
    place, elsewhere = pathlib.Path(folder), pathlib.Path(folder) / "elsewhere"
    elsewhere.mkdir()
    for one in (place, elsewhere):
        kit.certificates(one, "--client", "client")
    certs, ca = place / "certs", place / "used-ca.crt"
    pair = f"cert={certs}/clients/client/tls.crt key={certs}/clients/client/tls.key"
    ca.write_bytes((elsewhere / "certs/ca.crt").read_bytes())
    with SecureReceiver(certs) as hook:
        for sink in (hook.url(f"{pair} ca={ca}"), hook.url(pair), hook.url(f"ca={certs}/ca.crt")):
            with embedded(folder, 2, "--event-grace", "100ms", "--event-sink", sink + " types=gameserver.added retry-cap=50ms") as server:
                found = becomes(lambda: counts(server), lambda c: c["event_retries_total"] > 2, "another authority, the system's, no certificate")
                expect(found["sent"] == found["refused"] == 0 and found["event_sink_failing"] == 1, str(found))
                balanced(found)
        expect(not hook.deliveries, "nothing was told to whom it was not for")
        token = place / "token"
        token.write_text("the-first-token\n")
        with embedded(folder, 2, "--event-sink", hook.url(f"{pair} ca={ca} token={token} types=gameserver.added,gameserver.allocated "
                                                          "retry-cap=50ms")) as server:
            becomes(lambda: counts(server), lambda c: c["event_retries_total"] > 0, "another authority")
            ca.write_bytes((certs / "ca.crt").read_bytes())
            server.process.send_signal(signal.SIGHUP)
            hook.wait(lambda h: len(h.taken()) == 2, "with the right authority they arrive")
            expect({fields["Authorization"] for fields, _, _ in hook.deliveries} == {"Bearer the-first-token"}, "with the token")
            again = lambda: "".join(server.lines).count("files of an event sink were read again")
            before = again()
            token.write_text("the-second-token\n")
            server.process.send_signal(signal.SIGHUP)
            becomes(again, lambda count: count > before, "the log says so")
            server.wait_ready(2)
            server.allocate(KUBERNETES)
            hook.wait(lambda h: len(h.taken()) == 3, "an allocation")
            expect(hook.deliveries[-1][0]["Authorization"] == "Bearer the-second-token", "the new token")
            token.unlink()
            server.process.send_signal(signal.SIGHUP)
            becomes(lambda: "".join(server.lines), lambda text: "the last good ones stay in use" in text, "the log says so")
            server.allocate(KUBERNETES)
            hook.wait(lambda h: len(h.taken()) == 4, "another")
            expect(hook.deliveries[-1][0]["Authorization"] == "Bearer the-second-token", "the last good token")
            expect(server.stop() == 0, "it ends")
            for secret in ("the-first-token", "the-second-token"):
                expect(secret not in "".join(server.lines), "the log tells no token")


@case
def sigterm_lets_what_waits_be_sent(folder):
    def slow(number, handler):
        time.sleep(0.02)
        return 204

    with Receiver(slow) as hook, embedded(folder, 30, "--event-sink", hook.url("types=gameserver.added,gameserver.allocated")) as server:
        server.wait_ready(30)
        for _ in range(20):
            server.allocate(KUBERNETES)
        expect(server.stop() == 0, "it ends")
        expect(types_of(hook.taken()) == {"gameserver.added": 30, "gameserver.allocated": 20}, str(types_of(hook.taken())))


@case
def the_grace_of_events_ends_and_the_log_tells_how_many_are_left(folder):
    with Receiver(lambda number, handler: "hang") as hook:
        with embedded(folder, 3, "--event-grace", "300ms", "--event-sink", hook.url("types=gameserver.added")) as server:
            server.wait_ready(3)
            becomes(lambda: counts(server), lambda c: c["offered"] == 3, "three events")
            begun = time.monotonic()
            expect(server.stop() == 0, "it ends")
            expect(time.monotonic() - begun < 5, "soon after the grace")
            expect(re.search(r"events were not sent: --event-grace was not enough events=3", "".join(server.lines)), "".join(server.lines))


def on_pipes(folder, *options):
    return subprocess.Popen([SERVER, "--listen", "127.0.0.1:0", "--fleets", fleet_file(folder, 5), "--session-length", "never", *options],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=clean_environment())


def port_of(process):
    for line in process.stderr:
        if found := re.search(r"http://127\.0\.0\.1:(\d+)", line):
            threading.Thread(target=process.stderr.read, daemon=True).start()
            return int(found.group(1))
    raise AssertionError("it does not listen")


@case
def standard_output_has_one_event_a_line_and_nothing_else(folder):
    with on_pipes(folder, "--event-sink", "stdout: types=gameserver") as process:
        try:
            server = type("At", (), {"port": port_of(process), "ask": Running.ask, "allocate": Running.allocate,
                                     "ready_servers": Running.ready_servers, "wait_ready": Running.wait_ready})()
            server.wait_ready(5)
            server.allocate(KUBERNETES)
            process.send_signal(signal.SIGTERM)
            events = [json.loads(line) for line in process.stdout]
            expect(process.wait(PATIENCE) == 0, "it ends")
        finally:
            process.kill()
    expect(all(event["specversion"] == "1.0" for event in events), "each is a CloudEvent")
    expect(types_of(events)["gameserver.added"] == 5 and types_of(events)["gameserver.allocated"] == 1, str(types_of(events)))
    in_order(events)


@case
def standard_output_that_nobody_reads_holds_nobody_up(folder):
    with on_pipes(folder, "--event-grace", "100ms", "--event-sink", "stdout: time=200ms retry-cap=50ms queue=20") as process:
        try:
            server = type("At", (), {"port": port_of(process), "ask": Running.ask, "allocate": Running.allocate,
                                     "ready_servers": Running.ready_servers, "wait_ready": Running.wait_ready})()
            server.wait_ready(5)
            # More than a pipe holds: 64 KiB, at about a kilobyte each.
            for number in range(300):
                status, text, _ = server.ask("POST", KUBERNETES, json.dumps({"spec": {"selectors": [
                    {"gameServerState": "Allocated"}, {"gameServerState": "Ready"}], "metadata": {"labels": {"round": str(number)}}}}),
                    {"Content-Type": "application/json"})
                expect(status == 201 and json.loads(text)["status"]["state"] == "Allocated", text)
            found = counts(server)
            balanced(found)
            expect(found["events_waiting"] <= 20 and found["sent"] < found["offered"], str(found))
            process.send_signal(signal.SIGTERM)
            expect(process.wait(PATIENCE) == 0, "it ends all the same")
            lines = process.stdout.read().splitlines()
            for line in lines[:-1]:
                json.loads(line)
        finally:
            process.kill()


@case
def sinks_can_be_given_in_a_file_and_in_the_environment(folder):
    with Receiver() as hook:
        path = pathlib.Path(folder) / "options.toml"
        path.write_text(f'event-sink=["{hook.url("types=gameserver.added name=file")}"]\n')
        with embedded(folder, 2, "--config", str(path)) as server:
            hook.wait(lambda h: len(h.taken()) == 2, "two servers, by the file")
            expect('sink="file"' in server.ask("GET", "/metrics")[1], "named")
    with Receiver() as hook:
        with Running("--fleets", fleet_file(folder, 2), environment={"AGONES_ALLOC_EVENT_SINK": hook.url("types=gameserver.added")}):
            hook.wait(lambda h: len(h.taken()) == 2, "two servers, by the environment")


class Cluster(GameServerApi):
    def put(self, name, state):
        """Creates or changes; "": deletes."""
        with self.lock:
            self.version += 1
            known = self.servers.get(name)
            what = "ADDED" if known is None else "MODIFIED" if state else "DELETED"
            one = {"kind": "GameServer", "apiVersion": "agones.dev/v1", "status": {"state": state or known["status"]["state"]},
                   "metadata": {"name": name, "namespace": "default", "uid": known["metadata"]["uid"] if known else f"{name}-{self.version}",
                                "resourceVersion": str(self.version), "labels": {"agones.dev/fleet": "simple"}}}
            self.tell(what, one)

    def run(self, state, hook):
        return Running("--kubeconfig", str(self.kubeconfig), "--no-events", "--no-node-ranking", "--event-state", str(state),
                       "--event-state-interval", "100ms", "--event-grace", "300ms", "--event-sink", hook.url("types=gameserver retry-cap=50ms"))


def told(hook, begin=0):
    return [f"{event['type'].removeprefix(TYPE + 'gameserver.')} {event['subject'].split('/')[1]}" for event in hook.taken()[begin:]]


@case
def after_a_restart_what_happened_meanwhile_is_told_and_nothing_twice(folder):
    state = pathlib.Path(folder) / "state"
    with Cluster(folder) as cluster, Receiver() as hook:
        for name in ("a", "b", "c", "d"):
            cluster.put(name, "Ready")
        with cluster.run(state, hook) as server:
            hook.wait(lambda h: len(h.taken()) == 4, "four servers")
            cluster.put("a", "Allocated")
            hook.wait(lambda h: len(h.taken()) == 5, "an allocation")
            expect(server.stop() == 0, "it ends")
        cluster.put("a", "Ready")
        cluster.put("b", "Allocated")
        cluster.put("c", "")
        cluster.put("e", "Ready")
        with cluster.run(state, hook) as server:
            hook.wait(lambda h: len(h.taken()) >= 9, "four changes")
            expect(sorted(told(hook, 5)) == ["added e", "allocated b", "deleted c", "released a"], str(told(hook, 5)))
            cluster.put("d", "Allocated")
            hook.wait(lambda h: len(h.taken()) >= 10, "the watch goes on")
            expect(told(hook, 9) == ["allocated d"], str(told(hook, 9)))


@case
def after_a_crash_what_had_not_arrived_is_told(folder):
    state = pathlib.Path(folder) / "state"
    down = threading.Event()
    with Cluster(folder) as cluster, Receiver(lambda number, handler: 503 if down.is_set() else 204) as hook:
        for name in ("a", "b"):
            cluster.put(name, "Ready")
        with cluster.run(state, hook) as server:
            hook.wait(lambda h: len(h.taken()) == 2, "two servers")
            down.set()
            cluster.put("a", "Allocated")
            cluster.put("b", "")
            becomes(lambda: counts(server), lambda c: c["offered"] == 4, "two more events")
            time.sleep(0.5)  # the state is kept meanwhile
            server.process.kill()
            server.process.wait(PATIENCE)
        down.clear()
        with cluster.run(state, hook) as server:
            hook.wait(lambda h: len(h.taken()) >= 4, "what had not arrived")
            expect(sorted(told(hook, 2)) == ["allocated a", "deleted b"], str(told(hook, 2)))
        state.write_text("nonsense\n")
        with cluster.run(state, hook) as server:
            hook.wait(lambda h: len(h.taken()) >= 5, "all anew")
            expect(told(hook, 4) == ["added a"], str(told(hook, 4)))
            expect("is no file of --event-state" in "".join(server.lines), "the log says why")


if __name__ == "__main__":
    sys.exit(kit.run_cases())
