"""Several of the built server with policies and certificates, and endpoints that misbehave."""
import contextlib
import json
import pathlib
import signal
import socket
import ssl
import threading
import time

import kit
from kit import KUBERNETES, Secured, certificates, expect, fleet_file, write_policies

MANY = {"spec": {"multiClusterSetting": {"enabled": True}}}


def policy(name, priority, endpoints, **more):
    return kit.policy(name, endpoints, priority=priority, **more)


class Server(Secured):
    """One over plain HTTP or mutual TLS, with so many servers that never end by themselves."""

    def __init__(self, place, name, replicas, *options, tls=False, policies=None):
        given = ["--fleets", fleet_file(place, replicas, name="arena", file=f"{name}.yaml"), "--session-length", "never"]
        if tls:
            given += ["--tls-reload-interval", "100ms"]
        if policies is not None:
            self.policies = place / f"{name}-policies.json"
            self.set_policies(policies)
            given += ["--policies", str(self.policies), "--client-secrets", str(place / "certs/clients"),
                      "--client-secret-age", "200ms", "--no-remote-fleets"]  # the endpoints here count what they are asked
        super().__init__(place, *given, *options, tls=tls)
        self.wait_ready(replicas)

    def set_policies(self, policies):
        write_policies(self.policies, policies)

    def series(self, name):
        """The lines of /metrics that begin with it."""
        return [line for line in self.ask("GET", "/metrics")[1].splitlines() if line.startswith(name)]

    def allocate(self, body=None, headers=None, query=""):
        status, text = self.ask("POST", KUBERNETES + query, body or MANY, headers)
        return status, json.loads(text)

    def stop(self):
        super().stop(signal.SIGKILL)


class TlsPort:
    """One of the server's certificate that does `one` with each connection, in a thread of its own."""

    def __init__(self, place, client_authority=True, port=0):
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(place / "certs/server/tls.crt", place / "certs/server/tls.key")
        if client_authority:
            self.context.load_verify_locations(place / "certs/ca.crt")
            self.context.verify_mode = ssl.CERT_REQUIRED
        self.socket = socket.create_server(("127.0.0.1", port))
        self.port = self.socket.getsockname()[1]
        self.left = threading.Event()

    def start(self):
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                plain, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.one, args=(plain,), daemon=True).start()

    def close(self):
        self.socket.close()


class Endpoint(TlsPort):
    """Does to each connection what the case says."""

    def __init__(self, place, handle, client_authority=True, port=0):
        super().__init__(place, client_authority, port)
        self.handle, self.requests, self.methods = handle, 0, []
        self.start()

    def one(self, plain):
        with contextlib.suppress(OSError), self.context.wrap_socket(plain, server_side=True) as link:
            while got := read_request(link):
                self.requests += 1
                self.methods.append(got[0].split(b" ")[0])
                if not self.handle(link):
                    break
        self.left.set()


def read_request(link):
    text = b""
    while b"\r\n\r\n" not in text:
        more = link.recv(65536)
        if not more:
            return None
        text += more
    head, _, body = text.partition(b"\r\n\r\n")
    length = next((int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")), 0)
    while len(body) < length:
        body += link.recv(65536)
    return head, body


def answer(status, body):
    return f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()


def wait_for_end(link):
    with contextlib.suppress(OSError):
        link.recv(1)
    return False


@contextlib.contextmanager
def allocating(server):
    """Sixteen callers allocate meanwhile; each call must have got a game server, and none had one twice."""
    got, wrong, done = [], [], threading.Event()

    def ask():
        link = server.connection()
        while not done.is_set():
            link.request("POST", KUBERNETES, json.dumps(MANY), {"Content-Type": "application/json"})
            reply = link.getresponse()
            body = json.loads(reply.read())
            if reply.status == 201 and body["status"]["state"] == "Allocated":
                got.append(body["status"]["gameServerName"])
            else:
                wrong.append(body)
            time.sleep(0.02)  # the servers are to last, on a fast machine, too

    callers = [threading.Thread(target=ask) for _ in range(16)]
    for one in callers:
        one.start()
    try:
        yield
    finally:
        done.set()
        for one in callers:
            one.join()
    expect(not wrong, wrong[:1])
    expect(len(set(got)) == len(got) and len(got) > 100, f"{len(got)} allocations, {len(set(got))} servers")


class World:
    """What a case has started, and ends with it."""

    def __init__(self, folder):
        self.place, self.started = pathlib.Path(folder), []
        certificates(self.place)

    def server(self, *args, **named):
        made = Server(self.place, *args, **named)
        self.started.append(made.stop)
        return made

    def endpoint(self, handle, **named):
        made = Endpoint(self.place, handle, **named)
        self.started.append(made.close)
        return made

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for stop in reversed(self.started):
            stop()


def near(port):
    return f"127.0.0.1:{port}"


def dead_port():
    with socket.create_server(("127.0.0.1", 0)) as one:
        return one.getsockname()[1]


def states(answers):
    return [a["status"]["state"] for _, a in answers]
