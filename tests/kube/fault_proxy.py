"""A proxy on loopback before the API server, which counts what is asked and breaks off watches. Plain HTTP towards the
server under test, so that it sees what passes; TLS, as the administrator, towards the API server."""
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
import urllib.parse

from cluster.instance import Cluster

EVENT = b'"object":'


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

    def pass_on(self, client: socket.socket, upstream: ssl.SSLSocket) -> None:
        watches = False
        while not self.ended.is_set():
            ready = [upstream] if upstream.pending() else select.select([client, upstream], [], [], 0.2)[0]
            if client in ready:
                data = client.recv(1 << 16)
                if found := re.match(rb"([A-Z]+ \S+) HTTP/1.1\r\n", data):
                    self.requests.append(found[1].decode())
                    watches = b"watch=" in found[1]
                if not data:
                    return
                upstream.sendall(data)
            if upstream in ready:
                data = upstream.recv(1 << 16)
                if not data:
                    return
                if watches and self.cuts > 0 and EVENT in data:
                    self.cuts -= 1
                    client.sendall(data[:data.rindex(EVENT) + 40])
                    if self.cuts % 2:
                        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                        client.close()
                    return
                client.sendall(data)
