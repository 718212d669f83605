#!/usr/bin/env python3
"""Events in a JetStream stream: the built server on embedded fleets, and a real nats-server.

Usage: nats_test.py PATH-OF-agones-alloc-server
Prints one line a case and a summary, and exits with 1 when a case failed, with 77 where nats-server is not installed.
"""
import contextlib
import json
import pathlib
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True  # nothing is written into the source tree

import kit  # noqa: E402
from events_test import TYPE, balanced, becomes, counts, embedded, in_order, types_of  # noqa: E402
from nats_wire import Client, NatsServer  # noqa: E402
from kit import KUBERNETES, case, expect, fleet_file, run, until  # noqa: E402

kit.cases.clear()  # those of the other file


def sink(nats, settings=""):
    return ["--event-sink", f"nats://127.0.0.1:{nats.port}/games.events name=nats " + (settings or "types=gameserver")]


def whole(messages):
    """What every stream of ours is to be: each event once, in order, under the right subject."""
    for subject, fields, event in messages:
        kind, change = event["type"].removeprefix(TYPE).split(".")
        expect(subject == f"games.events.{kind}.{change}.default", subject)
        expect(fields["Nats-Msg-Id"] == event["id"] and fields["Content-Type"].startswith("application/cloudevents+json"), str(fields))
    ids = [event["id"] for _, _, event in messages]
    expect(len(ids) == len(set(ids)), "the stream has dropped repeats")
    in_order([event for _, _, event in messages])


@case
def events_are_acknowledged_by_a_stream_in_order_and_once(folder):
    with NatsServer(folder) as nats, Client(nats.port) as client:
        client.create("EVENTS", ["games.events.>"])
        with embedded(folder, 20, *sink(nats)) as server:
            server.wait_ready(20)
            names = {json.loads(server.allocate(KUBERNETES)[1])["status"]["gameServerName"] for _ in range(10)}
            found = becomes(lambda: counts(server), lambda c: c["sent"] >= 30 and c["sent"] == c["offered"], "all is sent")
            balanced(found)
            expect(found["event_retries_total"] == 0, str(found))
            messages = client.messages("EVENTS")
            expect(len(messages) == found["sent"], "as many as were sent")
            whole(messages)
            told = {event["subject"].split("/")[1] for subject, _, event in messages if ".allocated." in subject}
            expect(told == names, f"{told} {names}")
            expect(server.stop() == 0, "it ends")


@case
def nothing_is_taken_before_there_is_a_stream(folder):
    with NatsServer(folder) as nats, Client(nats.port) as client:
        with embedded(folder, 5, *sink(nats, "types=gameserver retry-cap=100ms")) as server:
            server.wait_ready(5)
            becomes(lambda: "".join(server.lines), lambda text: "no stream takes the subject" in text, "the log says so")
            expect(counts(server)["sent"] == 0, "nothing is sent")
            client.create("EVENTS", ["games.events.>"])
            found = becomes(lambda: counts(server), lambda c: c["sent"] >= 5 and c["sent"] == c["offered"], "all is sent")
            balanced(found)
            whole(client.messages("EVENTS"))


@case
def a_server_that_is_killed_and_comes_back_misses_nothing(folder):
    with NatsServer(folder) as nats:
        with Client(nats.port) as client:
            client.create("EVENTS", ["games.events.>"])
        with embedded(folder, 40, *sink(nats, "types=gameserver retry-cap=100ms time=2s")) as server:
            server.wait_ready(40)
            for number in range(30):
                if number == 10:
                    nats.kill()
                if number == 20:
                    nats.start()
                server.allocate(KUBERNETES)
                time.sleep(0.01)
            found = becomes(lambda: counts(server), lambda c: c["sent"] >= 70 and c["sent"] == c["offered"], "all is sent")
            balanced(found)
            expect(found["dropped"] == 0, str(found))
            with Client(nats.port) as client:
                messages = client.messages("EVENTS")
            whole(messages)
            expect(types_of(event for _, _, event in messages)["gameserver.allocated"] == 30, "every allocation is there")


@case
def what_a_stream_refuses_is_given_up_and_counted(folder):
    with NatsServer(folder) as nats, Client(nats.port) as client:
        with embedded(folder, 1, *sink(nats, "types=gameserver.added")) as server:
            becomes(lambda: "".join(server.lines), lambda text: "no stream" in text, "it is up")
            client.create("SOME", ["games.events.>"], max_msg_size=300)
            found = becomes(lambda: counts(server), lambda c: c["refused"] == c["offered"] > 0, "all is refused")
            balanced(found)
            expect(client.count("SOME") == 0, "nothing is stored")


@case
def a_token_lets_in_and_is_never_told(folder):
    token = pathlib.Path(folder) / "token"
    token.write_text("a-nats-token\n")
    wrong = pathlib.Path(folder) / "wrong"
    wrong.write_text("another-token\n")
    with NatsServer(folder, "--auth", "a-nats-token") as nats:
        with Client(nats.port, "a-nats-token") as client:
            client.create("EVENTS", ["games.events.>"])
            with embedded(folder, 3, "--log-level", "debug", *sink(nats, f"types=gameserver.added token={token}")) as server:
                client.wait("EVENTS", 3)
                expect("a-nats-token" not in "".join(server.lines), "the log does not tell it")
            with embedded(folder, 3, "--log-level", "debug", *sink(nats, f"types=gameserver.added token={wrong}")) as server:
                text = becomes(lambda: "".join(server.lines), lambda text: "events do not arrive" in text, "the log says so")
                expect("another-token" not in text, "the log does not tell it")
                expect(counts(server)["sent"] == 0 and client.count("EVENTS") == 3, "nothing gets in")


def tls_of(folder):
    """(options of a nats-server that speaks TLS, a context for its clients, the folder of the certificates)."""
    kit.certificates(pathlib.Path(folder))
    certs = pathlib.Path(folder) / "certs"
    context = ssl.create_default_context(cafile=certs / "ca.crt")
    context.load_cert_chain(certs / "clients/client/tls.crt", certs / "clients/client/tls.key")
    return ["--tls", "--tlscert", str(certs / "server/tls.crt"), "--tlskey", str(certs / "server/tls.key")], context, certs


def secure_sink(nats, settings, host="localhost"):
    return ["--event-sink", f"nats+tls://{host}:{nats.port}/games.events name=nats types=gameserver.added retry-cap=100ms {settings}"]


def is_refused(folder, nats, word, settings, host="localhost"):
    """The log says the word, and nothing is sent."""
    with embedded(folder, 3, *secure_sink(nats, settings, host)) as server:
        text = becomes(lambda: "".join(server.lines), lambda text: "events do not arrive" in text, "the log says so")
        expect(word in text, f"{word} is not in {text}")
        expect(counts(server)["sent"] == 0, "nothing is sent")


@case
def events_go_over_tls_by_name_and_by_address(folder):
    options, context, certs = tls_of(folder)
    with NatsServer(folder, *options) as nats, Client(nats.port, tls=context) as client:
        client.create("EVENTS", ["games.events.>"])
        for number, host in enumerate(("localhost", "127.0.0.1"), 1):
            with embedded(folder, 3, *secure_sink(nats, f"ca={certs}/ca.crt", host)) as server:
                found = becomes(lambda server=server: counts(server), lambda c: c["sent"] == c["offered"] >= 3, "all is sent")
                balanced(found)
                expect(found["event_retries_total"] == 0, str(found))
                expect(client.count("EVENTS") == 3 * number, "as many as were sent")


@case
def a_server_of_another_authority_is_refused(folder):
    options, context, _ = tls_of(folder)
    other = pathlib.Path(folder) / "other"
    kit.certificates(other)
    with NatsServer(folder, *options) as nats, Client(nats.port, tls=context) as client:
        client.create("EVENTS", ["games.events.>"])
        is_refused(folder, nats, "unable to get local issuer certificate", f"ca={other}/certs/ca.crt")
        is_refused(folder, nats, "unable to get local issuer certificate", "")  # nor is it one of the system's
        expect(client.count("EVENTS") == 0, "nothing gets in")


@case
def a_server_of_another_name_is_refused(folder):
    place = pathlib.Path(folder)
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                    "-keyout", place / "other.key", "-out", place / "other.crt", "-subj", "/CN=elsewhere.example",
                    "-addext", "subjectAltName=DNS:elsewhere.example"], check=True, capture_output=True)
    with NatsServer(folder, "--tls", "--tlscert", str(place / "other.crt"), "--tlskey", str(place / "other.key")) as nats:
        is_refused(folder, nats, "hostname mismatch", f"ca={place}/other.crt")
        is_refused(folder, nats, "IP address mismatch", f"ca={place}/other.crt", "127.0.0.1")


@case
def a_server_without_tls_is_told_nothing(folder):
    with NatsServer(folder) as nats, Client(nats.port) as client:
        client.create("EVENTS", ["games.events.>"])
        _, _, certs = tls_of(folder)
        is_refused(folder, nats, "Secure Connection not available", f"ca={certs}/ca.crt")
        expect(client.count("EVENTS") == 0, "nothing gets in")


@case
def a_server_that_wants_a_certificate_gets_ours(folder):
    options, context, certs = tls_of(folder)
    with NatsServer(folder, *options, "--tlsverify", "--tlscacert", str(certs / "ca.crt")) as nats:
        with Client(nats.port, tls=context) as client:
            client.create("EVENTS", ["games.events.>"])
            pair = f"cert={certs}/clients/client/tls.crt key={certs}/clients/client/tls.key"
            with embedded(folder, 3, *secure_sink(nats, f"ca={certs}/ca.crt {pair}")) as server:
                becomes(lambda: counts(server), lambda c: c["sent"] == c["offered"] >= 3, "all is sent")
            expect(client.count("EVENTS") == 3, "as many as were sent")
            is_refused(folder, nats, "", f"ca={certs}/ca.crt")  # with TLS 1.3 it hangs up after the handshake, and does not say why
            expect(client.count("EVENTS") == 3, "nothing gets in without one")


@case
def a_server_that_stands_still_holds_nobody_up(folder):
    with NatsServer(folder) as nats:
        with Client(nats.port) as client:
            client.create("EVENTS", ["games.events.>"])
        with embedded(folder, 5, "--event-grace", "200ms", *sink(nats, "types=gameserver time=500ms")) as server:
            server.wait_ready(5)
            nats.process.send_signal(signal.SIGSTOP)
            try:
                for _ in range(5):
                    status, text, _ = server.allocate(KUBERNETES)
                    expect(status == 201, text)
                begun = time.monotonic()
                expect(server.stop() == 0, "it ends")
                expect(time.monotonic() - begun < 10, "soon")
            finally:
                nats.process.send_signal(signal.SIGCONT)


@case
def a_server_that_stands_still_after_its_first_words_holds_nobody_up(folder):
    for words in (b"", b'INFO {"server_id":"X","version":"2.9.10","proto":1,"headers":true,"max_payload":1048576}\r\n'):
        with socket.create_server(("127.0.0.1", 0)) as still:
            links = []

            def answer(still=still, links=links, words=words):
                with contextlib.suppress(OSError):
                    while True:
                        links.append(still.accept()[0])
                        links[-1].sendall(words)

            threading.Thread(target=answer, daemon=True).start()
            target = f"nats://127.0.0.1:{still.getsockname()[1]}/games.events name=nats types=gameserver time=500ms"
            with embedded(folder, 3, "--event-grace", "200ms", "--event-sink", target) as server:
                server.wait_ready(3)
                until(lambda links=links: links, "it does not connect")
                time.sleep(0.1)  # it has heard them, whatever comes then
                status, text, _ = server.allocate(KUBERNETES)
                expect(status == 201, text)
                begun = time.monotonic()
                expect(server.stop() == 0, "it ends")
                expect(time.monotonic() - begun < 15, "soon")
            for link in links:
                link.close()


if __name__ == "__main__":
    if not shutil.which("nats-server"):
        print("nats-server is not installed")
        sys.exit(77)
    if "built without NATS" in run("--fleets", "no/such/folder", "--event-sink", "nats://127.0.0.1:1/x").stderr:
        print("this server was built without NATS")
        sys.exit(77)
    sys.exit(kit.run_cases())
