"""A real nats-server, and as much of its client protocol as reading a stream takes."""
import base64
import json
import pathlib
import re
import signal
import socket
import subprocess
import threading
import time

PATIENCE = 60


class NatsServer:
    """On a port of its own choice, kept over restarts, as is what its streams hold."""

    def __init__(self, folder, *options):
        self.folder, self.options, self.port = folder, options, -1
        self.process = None
        self.start()

    def start(self):
        self.process = subprocess.Popen(["nats-server", "-a", "127.0.0.1", "-p", str(self.port), "-js", "-sd",
                                         str(pathlib.Path(self.folder) / "streams"), *self.options],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        lines = []
        for line in self.process.stderr:
            lines.append(line)
            if found := re.search(r"Listening for client connections on 127\.0\.0\.1:(\d+)", line):
                self.port = int(found.group(1))
            if "Server is ready" in line:
                threading.Thread(target=self.process.stderr.read, daemon=True).start()
                return
        raise AssertionError("nats-server does not start:\n" + "".join(lines))

    def kill(self, how=signal.SIGKILL):
        self.process.send_signal(how)
        self.process.wait(PATIENCE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(PATIENCE)


class Client:
    """`tls`: a context for who has to show certificates; the name that is wanted is `localhost`."""

    def __init__(self, port, token=None, tls=None):
        self.socket = socket.create_connection(("127.0.0.1", port), PATIENCE)
        while self.socket.recv(1) != b"\n":  # INFO, and not a byte of what comes after it
            pass
        if tls:
            self.socket = tls.wrap_socket(self.socket, server_hostname="localhost")
        self.input = self.socket.makefile("rb")
        hello = {"verbose": False, "pedantic": False, "headers": True, "no_responders": True}
        if token:
            hello["auth_token"] = token
        self.socket.sendall(b"CONNECT " + json.dumps(hello).encode() + b"\r\nSUB answer 1\r\n")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.input.close()
        self.socket.close()

    def ask(self, subject, document=None):
        body = json.dumps(document).encode() if document is not None else b""
        self.socket.sendall(f"PUB {subject} answer {len(body)}\r\n".encode() + body + b"\r\n")
        while True:
            words = self.input.readline().split()
            if not words or words[0] == b"-ERR":
                raise AssertionError(f"nats-server says {words}")
            if words[0] == b"PING":
                self.socket.sendall(b"PONG\r\n")
            if words[0] in (b"MSG", b"HMSG"):
                body = self.input.read(int(words[-1]) + 2)[:-2]
                return json.loads(body[int(words[-2]) if words[0] == b"HMSG" else 0:])

    def create(self, stream, subjects, **more):
        made = self.ask(f"$JS.API.STREAM.CREATE.{stream}", {"name": stream, "subjects": subjects, "storage": "file", **more})
        if "error" in made:
            raise AssertionError(str(made))

    def count(self, stream):
        return self.ask(f"$JS.API.STREAM.INFO.{stream}")["state"]["messages"]

    def messages(self, stream):
        """(subject, fields, event), in the stream's order."""
        out = []
        for number in range(1, self.count(stream) + 1):
            message = self.ask(f"$JS.API.STREAM.MSG.GET.{stream}", {"seq": number})["message"]
            lines = base64.b64decode(message["hdrs"]).decode().split("\r\n")
            fields = dict(line.split(": ", 1) if ": " in line else line.split(":", 1) for line in lines if ":" in line)
            out.append((message["subject"], fields, json.loads(base64.b64decode(message["data"]))))
        return out

    def wait(self, stream, count):
        give_up = time.monotonic() + PATIENCE
        while (found := self.count(stream)) < count:
            if time.monotonic() > give_up:
                raise AssertionError(f"{found} messages, {count} wanted")
            time.sleep(0.02)
