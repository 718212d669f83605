"""As much of an API server as listing, watching, reading and patching game servers takes."""
import contextlib
import http.server
import json
import pathlib
import threading
import urllib.parse


def merged(document, change):
    """By a merge patch."""
    if not isinstance(change, dict):
        return change
    out = dict(document) if isinstance(document, dict) else {}
    for name, value in change.items():
        out[name] = merged(out.get(name), value)
        if value is None:
            del out[name]
    return out


class GameServerApi:
    """`servers` by name, and `kubeconfig`, in `folder`, to reach it by. Serves until the end of its `with`."""

    def __init__(self, folder):
        self.lock, self.version, self.servers, self.log, self.ended = threading.Condition(), 100, {}, [], False
        owner = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                place, _, query = self.path.partition("?")
                fields = dict(urllib.parse.parse_qsl(query))
                if place.startswith("/apis/agones.dev/v1/namespaces/default/gameservers/"):
                    with owner.lock:
                        found = owner.servers.get(place.rsplit("/", 1)[1])
                    return self.answer(200, found) if found else self.answer(404, {"kind": "Status", "code": 404})
                if place != "/apis/agones.dev/v1/gameservers":
                    return self.answer(404, {"kind": "Status", "code": 404})
                if fields.get("watch") not in ("1", "true"):
                    with owner.lock:
                        return self.answer(200, {"kind": "GameServerList", "apiVersion": "agones.dev/v1", "items": list(owner.servers.values()),
                                                 "metadata": {"resourceVersion": str(owner.version)}})
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                at = int(fields["resourceVersion"])
                with contextlib.suppress(OSError):
                    while not owner.ended:
                        with owner.lock:
                            fresh = [(version, text) for version, text in owner.log if version > at]
                            if not fresh:
                                owner.lock.wait(0.1)
                        for at, text in fresh:
                            self.wfile.write(f"{len(text):x}\r\n".encode() + text + b"\r\n")

            def do_PATCH(self):
                change = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                name = self.path.partition("?")[0].rsplit("/", 1)[1]
                with owner.lock:
                    now = owner.servers[name]
                    if change["metadata"].get("resourceVersion") != now["metadata"]["resourceVersion"]:
                        return self.answer(409, {"kind": "Status", "code": 409, "reason": "Conflict"})
                    owner.version += 1
                    now = merged(now, change)
                    now["metadata"]["resourceVersion"] = str(owner.version)
                    owner.tell("MODIFIED", now)
                self.answer(200, now)

            def answer(self, status, document):
                body = json.dumps(document).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()
        self.kubeconfig = pathlib.Path(folder) / "kubeconfig"
        self.kubeconfig.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{self.server.server_address[1]}"}}],
            "users": [{"name": "u", "user": {}}]}))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.ended = True
        self.server.shutdown()
        self.server.server_close()

    def tell(self, what, one):
        """Under the lock: ADDED, MODIFIED or DELETED, at the present version."""
        name = one["metadata"]["name"]
        if what == "DELETED":
            del self.servers[name]
        else:
            self.servers[name] = one
        self.log.append((self.version, json.dumps({"type": what, "object": one}).encode() + b"\n"))
        self.lock.notify_all()
