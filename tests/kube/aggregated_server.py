"""The smallest aggregated API server: answers discovery and tells who asked. It shows that tools/cluster's API server
reaches a process on loopback; the real one is the library's."""
import contextlib
import http.server
import json
import pathlib
import ssl
import threading
import typing

GROUP, VERSION = "allocation.agones.dev", "v1"
SERVICE = "aggregated"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path.split("?")[0] == f"/apis/{GROUP}/{VERSION}":
            content = {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": f"{GROUP}/{VERSION}",
                       "resources": [{"name": "gameserverallocations", "singularName": "gameserverallocation",
                                      "namespaced": True, "kind": "GameServerAllocation", "verbs": ["create"]}]}
        elif self.command == "POST":
            subject = dict(pair[0] for pair in self.connection.getpeercert()["subject"])
            content = {**json.loads(body), "status": {
                "state": "Allocated", "user": self.headers.get("X-Remote-User"), "proxy": subject["commonName"],
                "groups": self.headers.get_all("X-Remote-Group"), "query": self.path.partition("?")[2]}}
        else:
            content = {}
        data = json.dumps(content).encode()
        self.send_response(201 if self.command == "POST" else 200 if content else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = answer

    def log_message(self, *_) -> None:
        pass


@contextlib.contextmanager
def serving(certificate: pathlib.Path, client_authority: pathlib.Path) -> typing.Iterator[int]:
    """Gives its port; callers need a certificate of that authority. certificate: path without .crt and .key."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f"{certificate}.crt", f"{certificate}.key")
    context.load_verify_locations(client_authority)
    context.verify_mode = ssl.CERT_REQUIRED
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    # The handshake belongs to the connection's own thread, or one silent caller would stop all.
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


def registration(port: int, authority: str) -> list[dict]:
    """The objects that make the API server forward the group to that port; authority: base64 of the PEM."""
    return [
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": SERVICE, "namespace": "default"},
         # Reached without --enable-aggregator-routing only.
         "spec": {"type": "ExternalName", "externalName": "localhost", "ports": [{"port": port}]}},
        {"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": {"name": f"{VERSION}.{GROUP}"},
         "spec": {"group": GROUP, "version": VERSION, "groupPriorityMinimum": 1000, "versionPriority": 15,
                  "service": {"name": SERVICE, "namespace": "default", "port": port}, "caBundle": authority}}]
