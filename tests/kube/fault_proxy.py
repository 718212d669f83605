"""A proxy on loopback before the API server, which counts what is asked, breaks off or silences watches, and does to single
requests what faults may do. Plain HTTP towards the server under test, so that it sees what passes; TLS, as the administrator,
towards the API server."""
import http.client
import json
import pathlib
import re
import select
import socket
import socketserver
import ssl
import struct
import tempfile
import threading
import time
import typing
import urllib.parse

from cluster.instance import Cluster

EVENT = b'"object":'
WRITES = "PATCH /apis/agones.dev/"


class Fault(typing.NamedTuple):
    """What becomes of one request."""
    passed_on: str  # "no", "yes", or "late": when the connection to the server under test is gone already
    answered: str   # "status": in place of the API server; "reset"; "half": of the API server's answer; "silence"
    code: int = 0
    retry_after: int | None = None

    def answer(self) -> bytes:
        """As an API server writes it."""
        body = json.dumps({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
                           "message": "a fault", "reason": "Fault", "code": self.code}).encode()
        advice = "" if self.retry_after is None else f"Retry-After: {self.retry_after}\r\n"
        if self.passed_on == "yes":
            advice += "Connection: close\r\n"  # the true answer is still to come
        return (f"HTTP/1.1 {self.code} {http.client.responses[self.code]}\r\nContent-Type: application/json\r\n{advice}"
                f"Content-Length: {len(body)}\r\n\r\n").encode() + body


def reset(client: socket.socket) -> None:
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()


class FaultProxy:
    """Ends with the block; so do all connections."""

    def __init__(self):
        cluster = Cluster("default")
        self.upstream = urllib.parse.urlsplit(cluster.server())
        self.context = ssl.create_default_context(cafile=str(cluster.pki / "ca.crt"))
        self.context.load_cert_chain(cluster.pki / "admin.crt", cluster.pki / "admin.key")
        self.connections = 0          # that came, also while the API server is down
        self.requests: list[str] = []  # "GET /path?query", of those that an API server took
        self.cuts = 0                 # so many more watches are cut within an event, by FIN and by RST in turn
        self.frozen = 0.0             # watches that were asked for before this moment say nothing more, and stay open
        self.times: list[float] = []  # when each of `requests` came
        self.met = 0                  # requests that a fault befell
        self.plans: dict[str, typing.Iterator[Fault | None]] = {}
        self.lock = threading.Lock()
        self.ended = threading.Event()
        proxy = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                proxy.connections += 1
                try:
                    with socket.create_connection((proxy.upstream.hostname, proxy.upstream.port), 10) as plain, \
                            proxy.context.wrap_socket(plain, server_hostname=proxy.upstream.hostname) as upstream:
                        proxy.pass_on(self.request, upstream)
                except OSError:
                    pass  # the API server is down, or one of both left

        class Listener(socketserver.ThreadingTCPServer):
            daemon_threads, request_queue_size, block_on_close = True, 128, False

        self.listener = Listener(("127.0.0.1", 0), Handler)
        self.folder = tempfile.TemporaryDirectory()
        self.thread = threading.Thread(target=self.listener.serve_forever, args=(0.05,), daemon=True)
        self.thread.start()

    def __enter__(self) -> "FaultProxy":
        return self

    def __exit__(self, *_) -> None:
        self.ended.set()
        self.listener.shutdown()
        self.listener.server_close()
        self.folder.cleanup()

    def kubeconfig(self) -> pathlib.Path:
        path = pathlib.Path(self.folder.name, "kubeconfig")
        path.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "it", "users": [{"name": "it", "user": {}}],
            "clusters": [{"name": "it", "cluster": {"server": f"http://127.0.0.1:{self.listener.server_address[1]}"}}],
            "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}]}))
        return path

    def asked(self, part: str) -> int:
        """How many requests hold that text."""
        return sum(part in one for one in list(self.requests))

    def asked_at(self, part: str) -> list[float]:
        """When they came."""
        with self.lock:
            return [at for one, at in zip(self.requests, self.times) if part in one]

    def plan(self, part: str, faults: typing.Iterable[Fault | None]) -> None:
        """Requests that hold that text meet these in turn; None, and when all are used up: nothing happens to them. In place of
        what was planned for that text before."""
        with self.lock:
            self.plans[part] = iter(faults)

    def freeze_watches(self) -> None:
        """Those that are open say nothing from now on; others may be opened, and go on."""
        self.frozen = time.monotonic()

    def fault_of(self, asked: str) -> Fault | None:
        with self.lock:
            for part, faults in self.plans.items():
                if part in asked:
                    fault = next(faults, None)
                    self.met += fault is not None
                    return fault
        return None

    def pass_on(self, client: socket.socket, upstream: ssl.SSLSocket) -> None:
        watches, begun = False, 0.0
        while not self.ended.is_set():
            silent = watches and begun < self.frozen
            wanted = [client] if silent else [client, upstream]
            ready = [upstream] if upstream.pending() and not silent else select.select(wanted, [], [], 0.2)[0]
            if client in ready:
                data = client.recv(1 << 16)
                if not data:
                    return
                if found := re.match(rb"([A-Z]+ \S+) HTTP/1.1\r\n", data):
                    asked, begun = found[1].decode(), time.monotonic()
                    watches = b"watch=" in found[1]
                    with self.lock:
                        self.requests.append(asked)
                        self.times.append(begun)
                    if fault := self.fault_of(asked):
                        if self.befall(fault, client, upstream, whole_request(client, data)):
                            continue
                        return
                upstream.sendall(data)
            if upstream in ready and not (watches and begun < self.frozen):
                data = available(upstream)
                if data is None:
                    continue
                if not data:
                    return
                if watches and self.cuts > 0 and EVENT in data:
                    self.cuts -= 1
                    client.sendall(data[:data.rindex(EVENT) + 40])
                    if self.cuts % 2:
                        reset(client)
                    return
                client.sendall(data)

    def befall(self, fault: Fault, client: socket.socket, upstream: ssl.SSLSocket, request: bytes) -> bool:
        """Whether the connection is good for another request."""
        first = b""
        if fault.passed_on == "yes":
            upstream.sendall(request)
            first = upstream.recv(1 << 16)  # it is done
        if fault.answered == "silence":
            client.settimeout(0.2)
            while not self.ended.is_set():
                try:
                    if not client.recv(1):
                        return False
                except TimeoutError:
                    pass
            return False
        if fault.answered == "reset":
            reset(client)
        elif fault.answered == "half":
            client.sendall(first[:len(first) // 2])
        else:
            client.sendall(fault.answer())
            return fault.passed_on == "no"
        if fault.passed_on == "late":
            self.ended.wait(0.3)
            upstream.sendall(request)
            upstream.recv(1 << 16)
        return False


def available(upstream: ssl.SSLSocket) -> bytes | None:
    """None: what came was of TLS itself."""
    patience = upstream.gettimeout()
    upstream.setblocking(False)
    try:
        return upstream.recv(1 << 16)
    except ssl.SSLWantReadError:
        return None
    finally:
        upstream.settimeout(patience)


def whole_request(client: socket.socket, begun: bytes) -> bytes:
    """With its body, of which the beginning was read."""
    client.settimeout(10)
    try:
        while b"\r\n\r\n" not in begun:
            begun += received(client)
        head = begun.partition(b"\r\n\r\n")[0]
        length = re.search(rb"\r\ncontent-length: *(\d+)", head, re.I)
        while len(begun) < len(head) + 4 + int(length[1] if length else 0):
            begun += received(client)
        return begun
    finally:
        client.settimeout(None)


def received(client: socket.socket) -> bytes:
    data = client.recv(1 << 16)
    if not data:
        raise ConnectionError("it left within a request")
    return data


def now_and_then(fault: Fault, every: int, times: int) -> typing.Iterator[Fault | None]:
    """That fault for each eighth request, say, so many times."""
    for number in range(1, every * times + 1):
        yield fault if number % every == 0 else None
