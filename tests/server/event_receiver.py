"""A webhook's receiver that takes, stalls, refuses, resets or answers late, as the test says."""
import base64
import hashlib
import hmac
import http.server
import json
import socket
import struct
import threading
import time

PATIENCE = 60


class Receiver:
    """`behave(number, handler)` is asked for each delivery, counted from 0: a status, a (status, fields) pair, "reset", or
    "hang" for no answer before the end. Default: 204."""

    def __init__(self, behave=lambda number, handler: 204):
        self.behave = behave
        self.lock = threading.Condition()
        self.deliveries = []  # (fields, body, status), in the order in which they came
        self.open = threading.Event()  # set at the end: nobody hangs any more
        owner = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                with owner.lock:
                    number = len(owner.deliveries)
                    owner.deliveries.append([dict(self.headers), body, None])
                does = owner.behave(number, self)
                with owner.lock:
                    owner.deliveries[number][2] = does
                    owner.lock.notify_all()
                if does == "hang":
                    owner.open.wait(PATIENCE)
                    self.close_connection = True
                elif does == "reset":
                    self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    self.connection.close()
                    self.close_connection = True
                else:
                    status, fields = does if isinstance(does, tuple) else (does, {})
                    self.send_response(status)
                    for name, value in fields.items():
                        self.send_header(name, value)
                    self.send_header("Content-Length", "0")
                    self.end_headers()

            def log_message(self, *_):
                pass

            def handle_one_request(self):
                try:
                    super().handle_one_request()
                except (ConnectionError, ValueError, OSError):
                    self.close_connection = True

            def finish(self):
                try:
                    super().finish()
                except (ConnectionError, ValueError, OSError):
                    pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.open.set()
        self.server.shutdown()
        self.server.server_close()

    def url(self, settings=""):
        return f"http://127.0.0.1:{self.port}/hook" + (" " + settings if settings else "")

    def taken(self):
        """Events of deliveries that were taken, in order."""
        with self.lock:
            done = [(fields, body) for fields, body, status in self.deliveries if status in (200, 202, 204)]
        return [event for fields, body in done for event in events_of(fields, body)]

    def wait(self, enough, what):
        give_up = time.monotonic() + PATIENCE
        while not enough(self):
            if time.monotonic() > give_up:
                raise AssertionError(f"{what}: {[(e['type'], e['subject']) for e in self.taken()]}")
            with self.lock:
                self.lock.wait(0.05)


def events_of(fields, body):
    fields = {name.lower(): value for name, value in fields.items()}
    kind = fields["content-type"].split(";")[0]
    if kind == "application/cloudevents-batch+json":
        return json.loads(body)
    if kind == "application/cloudevents+json":
        return [json.loads(body)]
    return [{**{name[3:]: value for name, value in fields.items() if name.startswith("ce-")}, "data": json.loads(body)}]


def is_signed(fields, body, key):
    fields = {name.lower(): value for name, value in fields.items()}
    content = f"{fields['webhook-id']}.{fields['webhook-timestamp']}.".encode() + body
    wanted = "v1," + base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()
    return hmac.compare_digest(wanted, fields["webhook-signature"])
