"""HTTP/2 by hand, for peers that do what no library would: frames, and fields that are never compressed."""
import socket
import ssl
import struct

from clusters_world import TlsPort

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE = 0, 1, 3, 4, 6, 7, 8
ACK = END_STREAM = 1
HEADER_TABLE_SIZE = 1  # the setting
END_HEADERS = 4
REFUSED_STREAM, CANCEL, ENHANCE_YOUR_CALM = 7, 8, 11


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def fields(*pairs):
    """Literal fields without an index (RFC 7541, 6.2.2), each shorter than 127 bytes."""
    return b"".join(b"\x00" + b"".join(bytes([len(part)]) + part for part in (name.encode(), value.encode())) for name, value in pairs)


def message(payload, length=None):
    """A gRPC message; `length`: what it claims to have."""
    return b"\0" + struct.pack(">I", len(payload) if length is None else length) + payload


def read_exactly(link, size):
    out = b""
    while len(out) < size:
        more = link.recv(size - len(out))
        if not more:
            raise EOFError
        out += more
    return out


def read_frame(link):
    """Kind, flags, stream, payload; EOFError at the end."""
    head = read_exactly(link, 9)
    return head[3], head[4], struct.unpack(">I", head[5:])[0] & 0x7FFFFFFF, read_exactly(link, int.from_bytes(head[:3], "big"))


class Peer(TlsPort):
    """A gRPC server: the health service says that it serves, and `allocate(peer, link, stream)` does with the other calls what it likes."""

    def __init__(self, place, allocate):
        super().__init__(place)
        self.context.set_alpn_protocols(["h2"])
        self.allocate, self.calls, self.connections, self.resets = allocate, 0, 0, 0
        self.start()

    def one(self, plain):
        try:
            with self.context.wrap_socket(plain, server_side=True) as link:
                read_exactly(link, len(PREFACE))
                self.connections += 1
                link.sendall(frame(SETTINGS, 0, 0))
                self.frames(link)
        except (OSError, EOFError):
            pass
        self.left.set()

    def frames(self, link):
        health = set()
        first = True  # of a connection: the health service
        while True:
            kind, flags, stream, payload = read_frame(link)
            if kind == SETTINGS and not flags & ACK:
                link.sendall(frame(SETTINGS, ACK, 0))
            elif kind == PING and not flags & ACK:
                link.sendall(frame(PING, ACK, 0, payload))
            elif kind == RST_STREAM:
                self.resets += 1
                self.left.set()
            elif kind == HEADERS and first:
                first = False
                health.add(stream)
            if kind not in (DATA, HEADERS) or not flags & END_STREAM:
                continue
            if stream in health:
                self.say_health(link, stream)
                continue
            self.calls += 1
            if self.allocate(self, link, stream) is False:
                return

    def say_health(self, link, stream):
        answer(link, stream, b"\x08\x01")


def begin(link, stream):
    link.sendall(frame(HEADERS, END_HEADERS, stream, b"\x88" + fields(("content-type", "application/grpc"))))


def answer(link, stream, payload):
    begin(link, stream)
    link.sendall(frame(DATA, 0, stream, message(payload)))
    end(link, stream, 0)


def end(link, stream, code, words=""):
    link.sendall(frame(HEADERS, END_HEADERS | END_STREAM, stream, fields(("grpc-status", str(code)), ("grpc-message", words))))


def refuse(link, stream, code, words, *more):
    """Trailers only."""
    link.sendall(frame(HEADERS, END_HEADERS | END_STREAM, stream, b"\x88" + fields(
        ("content-type", "application/grpc"), ("grpc-status", str(code)), ("grpc-message", words), *more)))


def is_serving(place, port):
    """Whether the health service of a port with mutual TLS says so."""
    context = ssl.create_default_context(cafile=str(place / "certs/ca.crt"))
    context.load_cert_chain(place / "certs/clients/client/tls.crt", place / "certs/clients/client/tls.key")
    context.set_alpn_protocols(["h2"])
    caller = Caller(port, context)
    _, text = caller.call("/grpc.health.v1.Health/Check")
    caller.link.sendall(text)
    try:
        while True:
            kind, flags, stream, payload = read_frame(caller.link)
            if kind == DATA:
                return payload == message(b"\x08\x01")
            if stream and flags & END_STREAM:
                return False
    finally:
        caller.close()


class Caller:
    """A client that begins calls and drops them as it likes; over plaintext without a context."""

    def __init__(self, port, context=None):
        self.link = socket.create_connection(("127.0.0.1", port), timeout=60)
        if context:
            self.link = context.wrap_socket(self.link, server_hostname="localhost")
        # No table of earlier fields: then every field of every answer is spelt out, and can be read without the others.
        self.link.sendall(PREFACE + frame(SETTINGS, 0, 0, struct.pack(">HI", HEADER_TABLE_SIZE, 0)))
        self.next = 1

    def call(self, path, payload=b"", *more, ends=True):
        """The frames of a call; the stream is the next one."""
        stream, self.next = self.next, self.next + 2
        head = frame(HEADERS, END_HEADERS, stream, b"\x83\x86" + fields(
            (":path", path), (":authority", "test"), ("content-type", "application/grpc"), ("te", "trailers"), *more))
        return stream, head + frame(DATA, END_STREAM if ends else 0, stream, message(payload))

    def reset(self, stream, code=CANCEL):
        return frame(RST_STREAM, 0, stream, struct.pack(">I", code))

    def close(self):
        try:
            self.link.shutdown(socket.SHUT_RDWR)  # although a thread may be reading
        except OSError:
            pass
        self.link.close()
