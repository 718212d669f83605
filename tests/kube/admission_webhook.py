"""A validating webhook on loopback that the API server asks about every change of a game server. It agrees, denies, is slow or is
down, as a test wants it."""
import base64
import http.server
import json
import pathlib
import socket
import ssl
import tempfile
import threading
import time
import typing

import kit
from cluster.instance import Cluster
from kit import expect, tool
from secure_serving import apply, certificate

NAME = "changes.game.example"
Denial = dict[str, typing.Any]  # a Status: code, message and so on


class AdmissionWebhook:
    """From when the API server asks it to when it asks no more. Only game servers that become Allocated are of interest to it."""

    def __init__(self, seconds: int = 1):
        """seconds: how long the API server waits for it, before it fails the write (failurePolicy Fail)."""
        self.deny: typing.Callable[[str], Denial | None] = lambda name: None
        self.slow = threading.Event()  # while it is set, no answer comes before it is over
        self.allocations: list[str] = []  # it was asked for
        self.asked = 0
        self.seconds = seconds
        self.lock = threading.Lock()
        self.connections: set[socket.socket] = set()
        self.folder = tempfile.TemporaryDirectory()
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        pair = certificate(pathlib.Path(self.folder.name, "webhook"), "webhook", names="IP:127.0.0.1", usage="serverAuth")
        self.context.load_cert_chain(f"{pair}.crt", f"{pair}.key")
        self.port = 0
        self.start()

    def __enter__(self) -> "AdmissionWebhook":
        authority = base64.b64encode((Cluster("default").pki / "ca.crt").read_bytes()).decode()
        apply({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration", "metadata": {"name": NAME},
               "webhooks": [{"name": NAME, "admissionReviewVersions": ["v1"], "sideEffects": "None", "failurePolicy": "Fail",
                             "timeoutSeconds": self.seconds,
                             "clientConfig": {"url": f"https://127.0.0.1:{self.port}/changes", "caBundle": authority},
                             "rules": [{"apiGroups": ["agones.dev"], "apiVersions": ["v1"], "operations": ["UPDATE"],
                                        "resources": ["gameservers"]}]}]})
        self.until_asked(True)
        return self

    def __exit__(self, *_) -> None:
        self.slow.clear()
        self.deny = lambda name: None
        try:
            if self.listener is None:
                self.start()
            tool("kubectl", "delete", "validatingwebhookconfiguration", NAME)
            self.until_asked(False)  # the cases that follow have nothing to do with it
        finally:
            self.stop()
            self.folder.cleanup()

    def until_asked(self, wanted: bool) -> None:
        """Whether a change counts a moment after it was made; a label of some server is changed to see it."""
        name = sorted(one["metadata"]["name"] for one in kit.client().ask("GET", kit.SERVERS)[1]["items"])[0]
        deadline, asked = time.monotonic() + 60, not wanted
        while asked != wanted:
            expect(time.monotonic() < deadline, "the API server does not know of it", wanted)
            before = self.asked
            kit.same(kit.patch(name, {"metadata": {"labels": {"turn": str(time.monotonic_ns())}}})[0], 200)
            asked = self.asked != before

    def start(self) -> None:
        """Also again, on the same port."""
        webhook = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version, timeout = "HTTP/1.1", 60

            def log_message(self, *_) -> None:
                pass

            def do_POST(self) -> None:
                review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                answer = json.dumps({"apiVersion": review["apiVersion"], "kind": review["kind"],
                                     "response": webhook.judge(review["request"])}).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

        class Listener(http.server.ThreadingHTTPServer):
            daemon_threads, request_queue_size, block_on_close = True, 128, False

            def get_request(self):
                plain, address = super().get_request()
                plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                # The handshake is made where it is read, not where others are accepted.
                return webhook.context.wrap_socket(plain, server_side=True, do_handshake_on_connect=False), address

            def process_request(self, request, client_address):
                with webhook.lock:
                    webhook.connections.add(request)
                super().process_request(request, client_address)

            def shutdown_request(self, request):
                with webhook.lock:
                    webhook.connections.discard(request)
                super().shutdown_request(request)

            def handle_error(self, *_):
                pass  # the API server left

        self.listener: Listener | None = Listener(("127.0.0.1", self.port), Handler)
        self.port = self.listener.server_address[1]
        threading.Thread(target=self.listener.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self) -> None:
        """As when its process is killed: connections break off, and new ones are refused."""
        self.listener.shutdown()
        self.listener.server_close()
        self.listener = None
        with self.lock:
            open_ones = list(self.connections)
        for one in open_ones:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # it is over already

    def judge(self, request: dict) -> dict:
        name = request["name"]
        to_allocated = (request["object"]["status"]["state"] == "Allocated" and request["oldObject"]["status"]["state"] != "Allocated")
        with self.lock:
            self.asked += 1
            if to_allocated:
                self.allocations.append(name)
        if not to_allocated:
            return {"uid": request["uid"], "allowed": True}
        while self.slow.is_set():
            time.sleep(0.02)
        denial = self.deny(name)
        return {"uid": request["uid"], "allowed": denial is None, **({"status": denial} if denial else {})}
