#!/usr/bin/env python3
"""The built server's gRPC as others' clients find it: Python's gRPC, grpcurl, and the proto that Agones publishes.

Usage: server_test.py PATH-OF-agones-alloc-server [WORD-OF-A-CASE]
Prints one line a case and a summary, and exits with 1 when a case failed, with 77 when all were skipped. Needs python3-grpcio,
protoc, openssl, curl. What is fetched (grpcurl, the agones crate) is kept outside the clone; a case that cannot have it is skipped,
and says what is missing.
"""
import os
import pathlib
import sys

sys.dont_write_bytecode = True  # nothing is written into the source tree
try:
    import grpc
except ImportError:  # Debian's modules belong to Debian's Python
    if os.path.realpath(sys.executable) == os.path.realpath("/usr/bin/python3"):
        raise
    os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])

import json  # noqa: E402
import re  # noqa: E402
import signal  # noqa: E402
import socket  # noqa: E402
import subprocess  # noqa: E402
import time  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "server"))

import kit  # noqa: E402
from kit import PATIENCE, ROOT, Secured, case, expect, fleet_file, run  # noqa: E402
from messages import Protos, ask  # noqa: E402
import tools_of_others  # noqa: E402

ALLOCATE = "/allocation.AllocationService/Allocate"
OURS = Protos([ROOT / "proto"], "agones_alloc_proto/allocation.proto", "agones_alloc_proto/failure.proto",
              "agones_alloc_proto/information.proto")


HEALTH = """syntax = "proto3";
package grpc.health.v1;
service Health { rpc Check(Request) returns (Response); }
message Request { string service = 1; }
message Response { enum Status { UNKNOWN = 0; SERVING = 1; NOT_SERVING = 2; } Status status = 1; }
"""


class Server(Secured):
    """One with gRPC on a free port."""

    def __init__(self, folder, replicas, *options, tls=False, grpc_port=0):
        self.grpc_port = None
        self.folder = pathlib.Path(folder)
        fleets = fleet_file(folder, replicas, name="arena")
        super().__init__(self.folder, "--fleets", fleets, "--session-length", "never", "--grpc-listen",
                         f"127.0.0.1:{grpc_port}", *options, tls=tls)
        self.await_line("listening for gRPC")
        self.grpc_port = int(re.search(r'"place":"127\.0\.0\.1:(\d+)"', self.text())[1])
        self.ready_for(replicas)

    def ready_for(self, replicas):
        give_up = time.monotonic() + PATIENCE
        while f'type="ready"}} {replicas}' not in self.ask("GET", "/metrics")[1]:
            expect(time.monotonic() < give_up, f"{replicas} game servers are not ready")
            time.sleep(0.02)

    def await_line(self, words):
        give_up = time.monotonic() + PATIENCE
        while words not in self.text():
            expect(time.monotonic() < give_up and self.process.poll() is None, f"it does not say {words!r}:\n{self.text()}")
            time.sleep(0.02)

    def place_of(self, host="127.0.0.1"):
        return f"{host}:{self.grpc_port}"

    def channel(self, client=None):
        """Over plaintext, or with the certificate of a client ("": none)."""
        if not self.tls:
            return grpc.insecure_channel(self.place_of(), [("grpc.use_local_subchannel_pool", 1)])
        certs = self.folder / "certs"
        pair = [(certs / "clients" / client / name).read_bytes() for name in ("tls.key", "tls.crt")] if client else [None, None]
        how = grpc.ssl_channel_credentials((certs / "ca.crt").read_bytes(), *pair)
        return grpc.secure_channel(self.place_of("localhost"), how, [("grpc.use_local_subchannel_pool", 1)])

    def allocate(self, channel=None, protos=OURS, meta=(), timeout=PATIENCE, **fields):
        with channel or self.channel() as link:
            return ask(link, protos, ALLOCATE, "allocation.AllocationRequest", "allocation.AllocationResponse", meta, timeout,
                       **{"namespace": "default", **fields})


def certificates(folder, *clients):
    options = [part for name in clients for part in ("--client", name)]
    kit.certificates(pathlib.Path(folder), *options)


def health(server, service=""):
    with server.channel() as link:
        call = link.unary_unary("/grpc.health.v1.Health/Check", request_serializer=bytes, response_deserializer=bytes)
        return call((b"\x0a" + bytes([len(service)]) + service.encode()) if service else b"", timeout=PATIENCE)


def details_of(answer):
    """google.rpc.Status: the details by type."""
    status = OURS["agones_alloc.failure.Status"].FromString(answer.trailers["grpc-status-details-bin"])
    return {one.type_url.rpartition("/")[2]: one.value for one in status.details}


def wait_until(true, words):
    give_up = time.monotonic() + PATIENCE
    while not true():
        expect(time.monotonic() < give_up, words)
        time.sleep(0.02)


def waiting_call(server, link):
    """An allocation that waits for a game server, where there is none."""
    call = link.unary_unary(ALLOCATE, request_serializer=bytes, response_deserializer=bytes).future(
        OURS["allocation.AllocationRequest"](namespace="default").SerializeToString(), metadata=[("prefer", "wait=60")])
    wait_until(lambda: "agones_alloc_requests_waiting 1" in server.ask("GET", "/metrics")[1], "nobody waits")
    return call


def with_theirs(what):
    """A case that is given what others have made; skipped where it cannot be had."""
    def given(function):
        theirs_by_case[function.__name__] = what
        return case(function)
    return given


theirs_by_case = {}


def published_protos():
    """The folders that the crate's allocation.proto is read from."""
    published = tools_of_others.agones_protos()
    return [published, published / "googleapis", published / "grpc-gateway"]


def run_cases():
    """Those that can have what they need. The last line is the one in which tools/count_results finds skipped cases."""
    skipped = []
    chosen = [function for function in kit.cases if kit.WANTED in function.__name__]
    for function in chosen:
        if function.__name__ not in theirs_by_case:
            continue
        try:
            theirs_by_case[function.__name__]()
        except tools_of_others.NotThere as problem:
            skipped.append(f"skip  {function.__name__.replace('_', ' ')}: {' '.join(str(problem).split())[-300:]}")
            kit.cases.remove(function)
    passed = len(chosen) - len(skipped)
    code = kit.run_cases() if passed or not skipped else 77
    if skipped and code != 1:
        print(*skipped, sep="\n")
        print(f"[doctest] test cases: {len(chosen)} | {passed} passed | 0 failed | {len(skipped)} skipped")
    return code


@with_theirs(published_protos)
def our_messages_are_those_that_agones_publishes(folder):
    folders = published_protos()
    theirs = Protos(folders, "allocation/allocation.proto")

    def told(protos, file):
        """Each field and value, by its path: number, type, label."""
        out = {}

        def message(prefix, one):
            for field in one.field:
                out[f"{prefix}.{one.name}.{field.name}"] = (field.number, field.type, field.label, field.type_name,
                                                           field.proto3_optional)
            for part in one.enum_type:
                enum(f"{prefix}.{one.name}", part)
            for part in one.nested_type:
                message(f"{prefix}.{one.name}", part)

        def enum(prefix, one):
            for value in one.value:
                out[f"{prefix}.{one.name}.{value.name}"] = value.number

        found = next(one for one in protos.set.file if one.name.endswith(file))
        for one in found.message_type:
            message(found.package, one)
        for one in found.enum_type:
            enum(found.package, one)
        for service in found.service:
            for method in service.method:
                out[f"{found.package}.{service.name}.{method.name}"] = (method.input_type, method.output_type)
        return out

    ours, wanted = told(OURS, "agones_alloc_proto/allocation.proto"), told(theirs, "allocation/allocation.proto")
    expect(len(wanted) > 50, wanted)
    # We still have players, which are gone from the newest.
    missing = {path: what for path, what in wanted.items() if ours.get(path) != what}
    expect(not missing, f"not as published: {missing}")
    more = {path for path in ours if path not in wanted and "layer" not in path}
    expect(not more, f"not published: {more}")


@with_theirs(published_protos)
def a_client_of_agones_allocates_with_mutual_tls(folder):
    folders = published_protos()
    allocates_with_mutual_tls(folder, Protos(folders, "allocation/allocation.proto"))


@case
def a_client_of_our_own_proto_allocates_with_mutual_tls(folder):
    allocates_with_mutual_tls(folder, OURS)


def allocates_with_mutual_tls(folder, protos):
    certificates(folder, "client", "stranger")
    with Server(folder, 3, "--allow-client", "CN:client=default", tls=True) as server:
        selector = {"matchLabels": {"agones.dev/fleet": "arena"}}
        answer = server.allocate(server.channel("client"), protos, gameServerSelectors=[selector],
                                 metadata={"labels": {"mode": "duel"}})
        expect(answer.code == grpc.StatusCode.OK, answer.text)
        expect(answer.message.gameServerName.startswith("arena-") and answer.message.ports[0].port > 0, answer.message)
        expect(answer.message.metadata.labels["mode"] == "duel" and answer.message.source == "local", answer.message)
        # As older clients ask.
        answer = server.allocate(server.channel("client"), protos, requiredGameServerSelector=selector,
                                 metaPatch={"labels": {"mode": "old"}})
        expect(answer.code == grpc.StatusCode.OK and answer.message.metadata.labels["mode"] == "old", answer.text)
        answer = server.allocate(server.channel("client"), protos, namespace="other")
        expect(answer.code == grpc.StatusCode.PERMISSION_DENIED, answer.code)
        answer = server.allocate(server.channel("stranger"), protos)
        expect(answer.code == grpc.StatusCode.PERMISSION_DENIED, answer.code)
        answer = server.allocate(server.channel(""), protos)
        expect(answer.code == grpc.StatusCode.UNAUTHENTICATED, answer.code)
        expect(answer.text == "a client certificate is wanted", answer.text)


@case
def a_certificate_of_another_authority_or_use_fails_in_the_handshake(folder):
    certificates(folder, "client")
    elsewhere = pathlib.Path(folder) / "elsewhere"
    elsewhere.mkdir()
    certificates(elsewhere, "client")
    with Server(folder, 1, tls=True) as server:
        for name in ("tls.crt", "tls.key"):
            (pathlib.Path(folder) / "certs/clients/client" / name).write_bytes((elsewhere / "certs/clients/client" / name).read_bytes())
        answer = server.allocate(server.channel("client"))
        expect(answer.code == grpc.StatusCode.UNAVAILABLE, answer.code)
        # A server's own certificate is no client's.
        for name in ("tls.crt", "tls.key"):
            (pathlib.Path(folder) / "certs/clients/client" / name).write_bytes((pathlib.Path(folder) / "certs/server" / name).read_bytes())
        answer = server.allocate(server.channel("client"))
        expect(answer.code == grpc.StatusCode.UNAVAILABLE, answer.code)


@case
def new_certificates_are_used_without_a_restart(folder):
    certificates(folder, "client")
    with Server(folder, 5, tls=True) as server, server.channel("client") as old:
        def again():
            return ask(old, OURS, ALLOCATE, "allocation.AllocationRequest", "allocation.AllocationResponse", namespace="default")
        expect(again().code == grpc.StatusCode.OK, "it allocates")
        for path in (pathlib.Path(folder) / "certs").glob("ca.*"):
            path.unlink()
        certificates(folder, "client")
        server.process.send_signal(signal.SIGHUP)
        server.await_line("certificates were read again")
        answer = server.allocate(server.channel("client"))
        expect(answer.code == grpc.StatusCode.OK, f"{answer.code}: {answer.text}")
        expect(again().code == grpc.StatusCode.OK, "the old connection goes on")
        (pathlib.Path(folder) / "certs/server/tls.key").write_text("broken")
        server.process.send_signal(signal.SIGHUP)
        server.await_line("the last good ones stay in use")
        expect(server.allocate(server.channel("client")).code == grpc.StatusCode.OK, "the last good pair is used")


@case
def each_failure_has_its_code_and_says_why(folder):
    with Server(folder, 1) as server:
        answer = server.allocate(gameServerSelectors=[{"matchLabels": {"agones.dev/fleet": "areena"}}])
        expect(answer.code == grpc.StatusCode.RESOURCE_EXHAUSTED, answer.code)
        expect(answer.text == "there is no available GameServer to allocate", answer.text)
        failure = OURS["agones_alloc.failure.AllocationFailure"].FromString(details_of(answer)["agones_alloc.failure.AllocationFailure"])
        clauses = {one.name: one.remaining for one in failure.selectors[0].clauses}
        expect(failure.outcome == "exhausted" and clauses["namespace default"] == 1 and clauses["label agones.dev/fleet=areena"] == 0,
               failure)
        answer = server.allocate(gameServerSelectors=[{"counters": {"rooms": {"minCount": -1}}}])
        expect(answer.code == grpc.StatusCode.INVALID_ARGUMENT, answer.code)
        fields = OURS["agones_alloc.failure.BadRequest"].FromString(details_of(answer)["google.rpc.BadRequest"])
        expect(fields.field_violations[0].field == "spec.selectors[0].counters[rooms].minCount", fields)
        answer = server.allocate(multiClusterSetting={"enabled": True})
        expect(answer.code == grpc.StatusCode.UNKNOWN and "policy" in answer.text, answer.text)
        expect(server.allocate(gameServerSelectors=[{}] * 100).code == grpc.StatusCode.INVALID_ARGUMENT, "too many selectors")
    with Server(folder, 1, "--http-unallocated-status-code", "404") as server:
        answer = server.allocate(gameServerSelectors=[{"matchLabels": {"no": "such"}}])
        expect(answer.code == grpc.StatusCode.NOT_FOUND, answer.code)
    with Server(folder, 1, "--compat") as server:
        # 422 is no code that Python knows.
        answer = server.allocate(gameServerSelectors=[{"counters": {"rooms": {"minCount": -1}}}])
        expect(answer.code not in (grpc.StatusCode.OK, grpc.StatusCode.INVALID_ARGUMENT), answer.code)


@case
def metadata_ask_for_what_fields_ask_for_over_rest(folder):
    with Server(folder, 2) as server:
        first = server.allocate(meta=[("idempotency-key", "match-1")])
        again = server.allocate(meta=[("idempotency-key", "match-1")])
        expect(first.message.gameServerName == again.message.gameServerName, "one id, one server")
        expect(again.trailers["agones-alloc-repeated"] == "true" and again.trailers["agones-alloc-claim"] == "match-1", again.trailers)
        other = server.allocate(meta=[("idempotency-key", "match-1")], scheduling=1)
        expect(other.code == grpc.StatusCode.INVALID_ARGUMENT, f"same id, other request: {other.code}")
        claimed = server.allocate(meta=[("agones-alloc-claim-ttl", "500ms")])
        expect(claimed.code == grpc.StatusCode.OK and claimed.trailers["agones-alloc-claim"], claimed.trailers)
        # Both are taken; a claim that nobody confirms ends, and who waits gets its server.
        waited = server.allocate(meta=[("prefer", "wait=30")])
        expect(waited.code == grpc.StatusCode.OK, f"{waited.code} {waited.text}")
        expect(waited.trailers["preference-applied"] == "wait=30", waited.trailers)


@case
def a_deadline_ends_the_wait_on_both_sides(folder):
    with Server(folder, 1) as server:
        expect(server.allocate().code == grpc.StatusCode.OK, "the only one")
        began = time.monotonic()
        answer = server.allocate(meta=[("prefer", "wait=60")], timeout=0.5)
        expect(answer.code == grpc.StatusCode.DEADLINE_EXCEEDED and time.monotonic() - began < 30, answer.code)
        wait_until(lambda: "agones_alloc_requests_waiting 0" in server.ask("GET", "/metrics")[1], "somebody still waits")
        # gRPC makes a millisecond of no time at all, which may be enough to say that there is no server.
        answer = server.allocate(timeout=0)
        expect(answer.code in (grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.RESOURCE_EXHAUSTED), answer.code)
        expect(server.allocate().code == grpc.StatusCode.RESOURCE_EXHAUSTED, "it goes on")


@case
def who_leaves_takes_no_server(folder):
    with Server(folder, 1) as server, server.channel() as link:
        expect(server.allocate(meta=[("agones-alloc-claim-ttl", "1s")]).code == grpc.StatusCode.OK, "the only one, for a while")
        call = waiting_call(server, link)
        call.cancel()
        wait_until(lambda: "agones_alloc_requests_waiting 0" in server.ask("GET", "/metrics")[1], "it still waits")
        server.ready_for(1)  # the claim has ended, and nobody has taken it
        expect(server.allocate().code == grpc.StatusCode.OK, "somebody else gets it")


@case
def the_health_service_follows_readiness(folder):
    with Server(folder, 1, "--readiness-shutdown-duration", "60s") as server:
        wait_until(lambda: health(server) == b"\x08\x01", "it is not serving")
        expect(health(server, "allocation.AllocationService") == b"\x08\x01", "nor is its service")
        server.process.send_signal(signal.SIGTERM)
        wait_until(lambda: health(server) == b"\x08\x02", "it does not say that it stops")
        expect(server.allocate().code == grpc.StatusCode.OK, "it serves all the same")


@case
def games_at_a_gate_are_asked_by_the_health_protocol(folder):
    with Server(folder, 1) as game:
        wait_until(lambda: health(game) == b"\x08\x01", "it is not serving")
        place = ("--nodes", "1", "--max-nodes", "1", "--node-address", "127.0.0.1", "--ports", f"{game.grpc_port}-{game.grpc_port}")
        with Server(folder, 1, "--session-start", "never", *place) as server:
            gate = "; period=50ms; try-timeout=20s; timeout=50s; servers=1; on-timeout=ReturnToReady"
            got = server.allocate(meta=[("agones-alloc-gate", "grpc; path=/nobody; failures=2" + gate)])
            expect(got.code == grpc.StatusCode.RESOURCE_EXHAUSTED, got)
            expect('agones_alloc_gate_ended_total{end="failed"' in server.ask("GET", "/metrics")[1], "it has no such service")
            server.ready_for(1)
            got = server.allocate(meta=[("agones-alloc-gate", "grpc; path=/allocation.AllocationService" + gate)])
            expect(got.code == grpc.StatusCode.OK and got.message.gameServerName, got)


@case
def draining_lets_calls_finish_and_cuts_what_is_left_with_a_retryable_code(folder):
    with Server(folder, 1, "--shutdown-grace", "1s") as server, server.channel() as link:
        expect(server.allocate().code == grpc.StatusCode.OK, "the only one")
        call = waiting_call(server, link)
        code = server.stop()
        expect(call.code() == grpc.StatusCode.UNAVAILABLE, call.code())
        expect(code == 1, f"something was cut, so the code is 1, not {code}")
    with Server(folder, 1) as server, server.channel() as link:
        expect(server.allocate().code == grpc.StatusCode.OK, "the only one")
        expect(server.stop() == 0, "with an idle connection it just ends")


@case
def what_is_no_grpc_does_no_harm(folder):
    with Server(folder, 3, "--max-body-bytes", "2000") as server:
        def raw(*pieces):
            with socket.create_connection(("127.0.0.1", server.grpc_port), timeout=PATIENCE) as link:
                try:
                    for piece in pieces:
                        link.sendall(piece)
                    link.shutdown(socket.SHUT_WR)
                    while link.recv(65536):
                        pass
                except OSError:
                    pass  # closed in its face
        preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
        raw(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        raw(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200))
        raw(preface, bytes(100))
        raw(preface, b"\x00\x00\x00\x04\x00\x00\x00\x00\x00", b"\xff" * 5000)
        # Headers that are garbage, then streams that are opened and reset at once.
        raw(preface, b"\x00\x00\x00\x04\x00\x00\x00\x00\x00", b"\x00\x00\x05\x01\x04\x00\x00\x00\x01" + b"\xff" * 5)
        body = pathlib.Path(folder) / "body"

        def posted(content, content_type, te="TE: trailers"):
            body.write_bytes(b"\x00" + len(content).to_bytes(4, "big") + content)
            return subprocess.run(["curl", "-s", "-i", "--max-time", "30", "--http2-prior-knowledge", "-H", f"Content-Type: {content_type}",
                                   "-H", te, "--data-binary", f"@{body}", f"http://{server.place_of()}{ALLOCATE}"],
                                  capture_output=True, text=True, errors="replace", check=False).stdout

        asked = OURS["allocation.AllocationRequest"](namespace="default").SerializeToString()
        for content_type in ("text/plain", "application/json", "application/grpc"):
            expect("grpc-status: 0" not in posted(b"\xff\xff", content_type), "no message is not allocated for")
            # Nothing but a gRPC client sends this, and no page may. curl may be cut off while it still sends, and say nothing.
            told = posted(asked, content_type, te="TE:")
            expect("grpc-status: 0" not in told and (not told or "grpc-status: 2" in told), told)
        server.ready_for(3)
        # gRPC's own server takes the type out before a call is seen, whatever it was: what else is right is a call.
        for content_type in ("text/plain", "application/json"):
            told = posted(asked, content_type)
            expect("content-type: application/grpc" in told and "grpc-status: 0" in told and "arena-" in told, told)
        server.ready_for(1)
        answer = server.allocate(namespace="x" * 5000)
        expect(answer.code == grpc.StatusCode.RESOURCE_EXHAUSTED, answer.code)
        expect(server.allocate().code == grpc.StatusCode.OK, "it still serves")
        expect(server.stop() == 0, "and ends well")


@case
def requests_of_one_client_are_bounded_over_all_doors(folder):
    with Server(folder, 1, "--max-requests-per-client", "1") as server, server.channel() as link:
        expect(server.allocate().code == grpc.StatusCode.OK, "the only one")
        call = waiting_call(server, link)
        answer = server.allocate()
        expect(answer.code == grpc.StatusCode.ABORTED and answer.trailers["retry-after"] == "1", f"{answer.code} {answer.trailers}")
        call.cancel()


@case
def calls_are_counted(folder):
    with Server(folder, 1) as server:
        server.allocate()
        server.allocate()
        text = server.ask("GET", "/metrics")[1]
        expect(re.search(r'agones_alloc_http_request_duration_seconds_count\{code="200",method="POST",route="grpc"\} 1', text)
               and re.search(r'_count\{code="429",method="POST",route="grpc"\} 1', text),
               "\n".join(line for line in text.splitlines() if "grpc" in line))


@case
def wrong_options_and_ports_are_refused(folder):
    fleet = fleet_file(folder)
    for options, word in ((["--grpc-listen", "8080"], "--grpc-listen"), (["--grpc-reflection"], "--grpc-reflection needs --grpc-listen"),
                          (["--grpc-listen", "0.0.0.0:0"], "--grpc-listen: 0.0.0.0 is not a loopback address")):
        done = run("--fleets", fleet, *options)
        expect(done.returncode == 2 and word in done.stderr, done.stderr)
    with Server(folder, 1) as server:
        done = run("--fleets", fleet, "--listen", "127.0.0.1:0", "--grpc-listen", server.place_of())
        expect(done.returncode == 1 and "--grpc-listen" in done.stderr and "in use" in done.stderr, done.stderr)


class Watching:
    """A stream of fleets, as it comes."""

    def __init__(self, server, link=None, **fields):
        self.link = link or server.channel()
        self.call = self.link.unary_stream("/information.InformationService/Watch", request_serializer=lambda m: m.SerializeToString(),
                                           response_deserializer=OURS["information.InformEvent"].FromString)(
            OURS["information.InformRequest"](**fields))
        self.kinds = OURS.pool.FindEnumTypeByName("information.InformEvent.Kind").values_by_number

    def until(self, kind):
        """The kinds of the events up to one of that kind; the last is kept."""
        out = []
        for self.last in self.call:
            out.append(self.kinds[self.last.kind].name)
            if out[-1] == kind:
                return out
        raise AssertionError(f"no {kind} after {out}")

    def code(self):
        try:
            for _ in self.call:
                pass
        except grpc.RpcError as problem:
            return problem.code()
        return grpc.StatusCode.OK


@case
def fleets_are_asked_for_and_watched(folder):
    with Server(folder, 3) as server, server.channel() as link:
        told = ask(link, OURS, "/information.InformationService/Inform", "information.InformRequest", "information.InformResponse")
        expect(told.message.fleetInformation[0].fleetName == "arena" and told.message.clusters[0].code == 0, told.message)
        stream = Watching(server)
        expect("SNAPSHOT_ITEM" in stream.until("SYNCED"), "the state comes first")
        expect(server.allocate().code == grpc.StatusCode.OK, "it allocates")
        stream.until("MODIFIED")
        while stream.last.fleet.recount.allocatedGameservers != 1:
            stream.until("MODIFIED")
        token = stream.last.resumeToken
        expect(server.allocate().code == grpc.StatusCode.OK, "it allocates")
        resumed = Watching(server, resumeToken=token)
        expect(resumed.until("MODIFIED") == ["MODIFIED"], "it goes on where it was")
        lost = Watching(server, resumeToken="another-run-1")
        expect(lost.until("SYNCED")[0] == "RESET", "what is not known any more is told anew")
        expect(server.stop() == 0, "streams do not hold the end")
        for one in (stream, resumed, lost):
            expect(one.code() == grpc.StatusCode.UNAVAILABLE, one.code())


@case
def fleets_of_other_clusters_are_told_when_they_are_wanted_and_with_their_loss(folder):
    place = pathlib.Path(folder)
    kit.certificates(place)
    with kit.WithFleets(place, "east", kit.manifest("far", 3), tls=True) as east:
        kit.write_policies(place / "policies.json", [kit.policy("here", []), kit.policy("east", [f"127.0.0.1:{east.port}"])])
        with Server(folder, 2, "--policies", str(place / "policies.json"), "--client-secrets", str(place / "certs/clients"),
                    "--stream-heartbeat", "1s") as here, here.channel() as link:
            def inform(**fields):
                told = ask(link, OURS, "/information.InformationService/Inform", "information.InformRequest", "information.InformResponse",
                           **fields)
                expect(told.code == grpc.StatusCode.OK, told.text)
                return ({one.clusterName: one for one in told.message.fleetInformation}, {one.clusterName: one for one in told.message.clusters})

            def far(holds):
                return lambda: "east" in inform(multiCluster=True)[0] and holds(*(part["east"] for part in inform(multiCluster=True)))

            wait_until(far(lambda fleet, cluster: fleet.recount.readyGameservers == 3 and cluster.code == 0), "the other cluster is not told")
            fleets, clusters = inform(multiCluster=True)
            expect(sorted(fleets) == sorted(clusters) == ["east", "here"] and fleets["east"].fleetName == "far", fleets)
            expect(clusters["east"].endpoint and not clusters["here"].endpoint and not fleets["east"].stale, clusters)
            expect(list(inform()[0]) == list(inform()[1]) == ["here"], "only this one, unless it is said")
            expect(list(inform(multiCluster=True, clusterName="east")[0]) == ["east"], "only that one")
            stream, near = Watching(here, multiCluster=True), Watching(here)
            kinds = stream.until("SYNCED")
            expect(kinds.count("SNAPSHOT_ITEM") == kinds.count("CLUSTER_STATUS") == 2, kinds)
            expect(near.until("SYNCED").count("SNAPSHOT_ITEM") == 1, "only this one, unless it is said")
            east.process.kill()
            stream.until("CLUSTER_STATUS")
            while not stream.last.cluster.stale:
                stream.until("CLUSTER_STATUS")
            expect(stream.last.cluster.clusterName == "east" and stream.last.cluster.code == 14, stream.last)
            wait_until(far(lambda fleet, cluster: fleet.stale and fleet.recount.readyGameservers == 3 and cluster.stale), "its row is not stale")
            expect(here.allocate().code == grpc.StatusCode.OK, "the rest goes on")
            near.until("MODIFIED")
            expect(near.last.fleet.clusterName == "here", near.last)


@case
def many_streams_come_and_go(folder):
    def gets_in(stream):
        """Whether there is room yet: the server is told a little later that the streams before have left."""
        try:
            stream.until("SYNCED")
        except grpc.RpcError as problem:
            expect(problem.code() == grpc.StatusCode.UNAVAILABLE, problem.code())
            return False
        return True

    with Server(folder, 1, "--max-streams", "50") as server:
        for _ in range(20):
            with server.channel() as link:
                streams = [Watching(server, link) for _ in range(49)]
                wait_until(lambda link=link: gets_in(Watching(server, link)), "streams that have left keep the places")
                del streams
        # What has left is forgotten; what stays is bounded.
        with server.channel() as link:
            stay = []

            def one_more():
                stream = Watching(server, link)
                if gets_in(stream):
                    stay.append(stream)

            give_up = time.monotonic() + PATIENCE
            while len(stay) < 50:
                expect(time.monotonic() < give_up, f"only {len(stay)} streams get in")
                one_more()
            one_more()
            expect(len(stay) == 50, "there is a bound")
        expect(server.allocate().code == grpc.StatusCode.OK, "it allocates all the same")


@with_theirs(tools_of_others.grpcurl)
def grpcurl_finds_and_calls_the_services(folder):
    program = tools_of_others.grpcurl()

    def curl(server, *arguments):
        return subprocess.run([str(program), "-plaintext", *arguments[:-1], server.place_of(), *arguments[-1]], capture_output=True,
                              text=True, timeout=PATIENCE, check=False)

    with Server(folder, 3, "--grpc-reflection") as server:
        listed = curl(server, ["list"]).stdout.split()
        expect("allocation.AllocationService" in listed and "grpc.health.v1.Health" in listed, listed)
        described = curl(server, ["describe", "allocation.GameServerSelector"]).stdout
        expect("map<string, .allocation.CounterSelector> counters = 4;" in described, described)
        done = curl(server, "-d", '{"namespace":"default","gameServerSelectors":[{"matchLabels":{"agones.dev/fleet":"arena"}}]}',
                    ["allocation.AllocationService/Allocate"])
        expect(json.loads(done.stdout)["gameServerName"].startswith("arena-"), done.stdout + done.stderr)
        # gRPC serves health, but does not describe it.
        proto = pathlib.Path(folder) / "health.proto"
        proto.write_text(HEALTH)

        def told():
            return curl(server, "-import-path", folder, "-proto", "health.proto", ["grpc.health.v1.Health/Check"])

        # It looks at readiness a few times a second.
        wait_until(lambda: json.loads(told().stdout) == {"status": "SERVING"}, "the health service does not say that it serves")
    with Server(folder, 1) as server:
        expect(curl(server, ["list"]).returncode != 0, "there is no reflection unless it is asked for")
        proto = ["-import-path", str(ROOT / "proto"), "-proto", "agones_alloc_proto/allocation.proto"]
        done = curl(server, *proto, "-d", '{"namespace":"default"}', ["allocation.AllocationService/Allocate"])
        expect(json.loads(done.stdout)["source"] == "local", done.stdout + done.stderr)
        done = curl(server, *proto, "-d", '{"namespace":"default"}', ["allocation.AllocationService/Allocate"])
        expect("ResourceExhausted" in done.stderr, done.stderr)


if __name__ == "__main__":
    sys.exit(run_cases())
