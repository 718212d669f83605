#!/usr/bin/env python3
"""The built server's gRPC in trouble: streams and calls by the thousand that are dropped, messages that are none, no time.

Usage: trouble_test.py PATH-OF-agones-alloc-server [WORD-OF-A-CASE]
Prints one line a case and a summary, and exits with 1 when a case failed. Needs Python only.
"""
import pathlib
import sys

sys.dont_write_bytecode = True  # nothing is written into the source tree
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "server"))

import contextlib  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
import re  # noqa: E402
import struct  # noqa: E402
import threading  # noqa: E402
import time  # noqa: E402

import http2  # noqa: E402
import kit  # noqa: E402
from kit import PATIENCE, REST, Running, case, expect, fleet_file  # noqa: E402

ALLOCATE = "/allocation.AllocationService/Allocate"
WATCH = "/information.InformationService/Watch"
NOWHERE = b"\x0a\x04none"  # an AllocationRequest for a namespace without servers
DEFAULT = b"\x0a\x07default"
RESET = b"reset"  # in place of trailers
MIB = 1 << 20


class Server(Running):
    def __init__(self, folder, replicas, *options):
        super().__init__("--fleets", fleet_file(folder, replicas, name="arena"), "--session-length", "never", "--log-format", "json",
                         "--grpc-listen", "127.0.0.1:0", *options)
        wait_until(lambda: any("listening for gRPC" in line for line in self.lines), "it does not listen for gRPC")
        line = next(line for line in self.lines if "listening for gRPC" in line)
        self.grpc_port = int(re.search(r'127\.0\.0\.1:(\d+)', line)[1])
        self.wait_ready(replicas)

    def memory(self):
        pages = int(pathlib.Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    def call(self):
        """A whole call over a connection of its own: the code, None for a connection that ends without one."""
        link = Link(self)
        stream, text = link.call(ALLOCATE, NOWHERE)
        link.send(text)
        code = link.code_of(stream)
        link.close()
        return code


class Link(http2.Caller):
    """A connection that is read all the time."""

    def __init__(self, server):
        super().__init__(server.grpc_port)
        self.send(http2.frame(http2.WINDOW_UPDATE, 0, 0, struct.pack(">I", 1 << 30)))
        self.seen, self.ended, self.over = set(), {}, threading.Event()
        self.pongs, self.gone = 0, None  # answers to pings; code and words of a GOAWAY
        threading.Thread(target=self.read, daemon=True).start()

    def send(self, text):
        self.link.sendall(text)

    def read(self):
        with contextlib.suppress(OSError, EOFError):
            while True:
                kind, flags, stream, payload = http2.read_frame(self.link)
                if kind == http2.SETTINGS and not flags & http2.ACK:
                    self.send(http2.frame(http2.SETTINGS, http2.ACK, 0))
                if kind == http2.PING and not flags & http2.ACK:
                    self.send(http2.frame(http2.PING, http2.ACK, 0, payload))
                if kind == http2.PING and flags & http2.ACK:
                    self.pongs += 1
                if kind == http2.GOAWAY:
                    self.gone = struct.unpack(">I", payload[4:8])[0], payload[8:]
                if kind == http2.HEADERS:
                    self.seen.add(stream)
                if kind == http2.RST_STREAM:
                    self.ended.setdefault(stream, RESET)
                if kind == http2.HEADERS and flags & http2.END_STREAM:
                    self.ended[stream] = payload
        self.over.set()

    def ping(self):
        """Sends one, and waits until it is answered; False when the connection ends instead."""
        before = self.pongs
        try:
            self.send(http2.frame(http2.PING, 0, 0, bytes(8)))
        except OSError:
            return False
        wait_until(lambda: self.pongs != before or self.over.is_set(), "a ping is not answered")
        return self.pongs != before

    def trailers_of(self, stream):
        wait_until(lambda: stream in self.ended or self.over.is_set(), f"stream {stream} does not end")
        return self.ended.get(stream)

    def code_of(self, stream):
        """The number in the trailers; None for a stream or connection that ended without any."""
        trailers = self.trailers_of(stream)
        if trailers in (None, RESET):
            return None
        found = re.search(rb"grpc-status[\x01\x02](\d+)", trailers)
        expect(found, f"trailers without a code: {trailers}")
        return int(found[1])


def wait_until(true, words):
    give_up = time.monotonic() + PATIENCE
    while not true():
        expect(time.monotonic() < give_up, words)
        time.sleep(0.02)


def allocate(server):
    status, text, _ = server.ask("POST", REST, json.dumps({"namespace": "default"}), {"Content-Type": "application/json"})
    return status, text


@case
def ten_thousand_streams_are_opened_and_dropped_and_their_memory_comes_back(folder):
    with Server(folder, 3, "--max-streams", "1000") as server:
        def opened(count):
            """So many streams, on as few connections as may be, each of which was answered."""
            links = []
            give_up = time.monotonic() + PATIENCE
            while count > 0:
                expect(time.monotonic() < give_up, f"{count} streams do not get in")
                link, now = Link(server), min(count, 500)
                streams = []
                for _ in range(now):
                    stream, text = link.call(WATCH)
                    streams.append(stream)
                    link.send(text)
                wait_until(lambda link=link, streams=streams: all(one in link.seen for one in streams), "a stream is not answered")
                # What was refused because those before are not forgotten yet is asked for again.
                count -= sum(one not in link.ended for one in streams)
                links.append((link, streams))
            return links

        kept = []
        for round_ in range(10):
            for link, streams in opened(1000):
                if round_ % 2:
                    link.send(b"".join(link.reset(one) for one in streams))
                else:
                    link.close()
            kept.append(server.memory())
        print(f"      MiB after each 1,000: {' '.join(str(one // MIB) for one in kept)}", flush=True)
        # The allocator keeps what it once had; a stream that stays would be 8 KiB or more.
        expect(kept[9] - kept[4] < 24 * MIB, "streams that were dropped are kept")
        expect(len(opened(1000)) >= 2, "there is room for as many again")
        expect(allocate(server)[0] == 200, "it allocates all the same")


@case
def calls_that_are_reset_at_once_by_the_thousand_hold_nobody_up(folder):
    with Server(folder, 5) as server:
        expect(server.call() == 8, "nothing is available there")
        done = threading.Event()
        took = []

        def ask():
            while not done.is_set():
                began = time.monotonic()
                expect(server.call() == 8, "somebody else is answered")
                took.append(time.monotonic() - began)

        other = threading.Thread(target=ask)
        other.start()
        def flood(path, payload, chunks):
            link = Link(server)
            for _ in range(chunks):
                text = []
                for _ in range(100):
                    stream, frames = link.call(path, payload)
                    text += [frames, link.reset(stream)]
                try:
                    link.send(b"".join(text))
                except OSError:  # it may be sent away
                    link = Link(server)
            link.close()

        for path, payload in ((ALLOCATE, NOWHERE), (WATCH, b"")):
            flood(path, payload, 100)
        done.set()
        other.join()
        expect(took and max(took) < 30, f"{len(took)} calls beside it took at most {max(took, default=0):.2f} s")
        # gRPC 1.51 keeps a few KiB of each, also of calls of its own health service: no bound on memory is checked here.
        expect(server.call() == 8, "it has come through")
        print(f"      {len(took)} calls beside 20,000 of them, the longest {max(took) * 1000:.0f} ms; {server.memory() // MIB} MiB", flush=True)
        expect([allocate(server)[0] for _ in range(6)] == [200] * 5 + [429], "no server was taken by any of it")


@case
def a_call_with_no_time_at_all_takes_no_server(folder):
    with Server(folder, 4) as server:
        link = Link(server)
        for word in ("0n", "0S") * 10:
            stream, text = link.call(ALLOCATE, DEFAULT, ("grpc-timeout", word))
            link.send(text)
            expect(link.code_of(stream) in (4, None), f"no time is over: {link.trailers_of(stream)}")
        # gRPC counts in milliseconds and rounds up, so these have time for a server, one each at most. To a call whose time is up
        # gRPC itself says that it is cancelled, whatever we say.
        for word in ("1n", "1u"):
            stream, text = link.call(ALLOCATE, DEFAULT, ("grpc-timeout", word))
            link.send(text)
            expect(link.code_of(stream) in (0, 1, 4), f"hardly any time: {link.trailers_of(stream)}")
        left = [allocate(server)[0] for _ in range(5)]
        expect(2 <= left.count(200) <= 4, left)


@case
def messages_over_the_limit_and_half_messages_cost_no_memory(folder):
    with Server(folder, 1, "--max-body-bytes", "2000") as server:
        expect(server.call() == 8, "it answers")
        before = server.memory()
        link = Link(server)
        stream, text = link.call(ALLOCATE, b"x" * 2001)
        link.send(text)
        expect(link.code_of(stream) == 8, link.trailers_of(stream))
        for length in (100_000_000, 0xFFFFFFFF):
            _, text = link.call(ALLOCATE, b"", ends=False)
            link.send(text[:-5] + struct.pack(">BI", 0, length))  # and nothing comes of it
        halves = [Link(server) for _ in range(4)]
        for half in halves:
            for _ in range(500):
                _, text = half.call(ALLOCATE, b"x" * 1000, ends=False)
                half.send(text[:-1000 - 5] + struct.pack(">BI", 0, 1900) + b"x" * 1000)
        expect(server.call() == 8, "others are answered")
        grown = server.memory() - before
        expect(grown < 64 * MIB, f"2,000 half messages take {grown / MIB:.1f} MiB")
        for half in halves:
            half.close()
        wait_until(lambda: server.call() == 8, "it still answers")
        expect(allocate(server)[0] == 200, "it allocates")


@case
def garbage_after_the_headers_ends_that_call_only(folder):
    with Server(folder, 1) as server:
        beside = Link(server)
        # No message, other flags, bytes that are no message, one that says it is compressed, and halves. gRPC has some of them for a
        # message without fields, which asks for a server of no namespace: there is none.
        for body in (b"", b"\xff\xff\xff\xff\xff\xff", b"\x00\x00\x00\x00\x05\xff\xff\xff\xff\xff", b"\x01\x00\x00\x00\x02ab", b"\x00\x00",
                     b"\x00\x00\x00\x00\x09\x0a\x07def"):
            link = Link(server)
            stream, text = link.call(ALLOCATE)
            head = text[:-len(http2.frame(http2.DATA, 0, 1, http2.message(b"")))]
            link.send(head + http2.frame(http2.DATA, http2.END_STREAM, stream, body))
            expect(link.code_of(stream) in ((3,) if not body else (3, 8)), f"{body}: {link.trailers_of(stream)}")
            stream, text = link.call(ALLOCATE, NOWHERE)
            link.send(text)
            expect(link.code_of(stream) == 8 and not link.over.is_set(), "the connection goes on")
        stream, text = beside.call(ALLOCATE, NOWHERE)
        beside.send(text)
        expect(beside.code_of(stream) == 8, "and so do others")
        expect(allocate(server)[0] == 200, "it allocates")


@case
def who_pings_too_often_is_sent_away_and_calm_clients_are_not(folder):
    with Server(folder, 1) as server:
        beside, hasty = Link(server), Link(server)
        # Without a call, which is allowed: one now, and the next in a minute. gRPC forgives two.
        expect(beside.ping(), "a ping of a connection without calls is answered")
        for _ in range(10):
            if not hasty.ping():
                break
        wait_until(hasty.over.is_set, "it goes on although it pings without end")
        expect(hasty.gone == (http2.ENHANCE_YOUR_CALM, b"too_many_pings"), hasty.gone)
        stream, text = beside.call(ALLOCATE, NOWHERE)
        beside.send(text)
        expect(beside.code_of(stream) == 8 and beside.gone is None, "the other connection goes on")
        expect(allocate(server)[0] == 200, "it allocates")


if __name__ == "__main__":
    sys.exit(kit.run_cases())
