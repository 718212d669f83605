#!/usr/bin/env python3
"""Patches a label of random game servers `gs-0000` and on: `label_writer.py URL PKI_FOLDER PATH COUNT RATE CONNECTIONS`. RATE is a
bound of patches a second over all connections; what a machine cannot do is not made up for later than a second after.

The API server takes some 4 ms of processor time for each, which is what bounds the rate on a busy machine, not this program: it is
a process of its own, so that it takes no turns from those whose calls are measured, and has kept connections, requests that are
bytes already and answers that are only looked at: 0.3 ms. Prints the number of patches done ten times a
second. Ends when its standard input does; its last line has the answers that were not 200."""
import json
import pathlib
import random
import re
import socket
import ssl
import sys
import threading
import time
import urllib.parse


class Connection:
    """As the administrator; one request at a time."""

    def __init__(self, url: str, pki: pathlib.Path, path: str):
        parts = urllib.parse.urlsplit(url)
        context = ssl.create_default_context(cafile=str(pki / "ca.crt"))
        context.load_cert_chain(pki / "admin.crt", pki / "admin.key")
        plain = socket.create_connection((parts.hostname, parts.port), 30)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket = context.wrap_socket(plain, server_hostname=parts.hostname)
        body = json.dumps({"metadata": {"labels": {"turn": "#" * 9}}})
        self.request = (f"PATCH {path}/gs-%04d HTTP/1.1\r\nHost: {parts.netloc}\r\nUser-Agent: label-writer\r\n"
                        "Accept: application/json\r\n"
                        f"Content-Type: application/merge-patch+json\r\nContent-Length: {len(body)}\r\n\r\n{body}").encode()

    def patch(self, number: int, turn: int) -> bytes:
        """The answer."""
        self.socket.sendall(self.request.replace(b"%04d", b"%04d" % number, 1).replace(b"#" * 9, b"%09d" % turn))
        answer = b""
        while not whole(answer):
            more = self.socket.recv(1 << 16)
            if not more:
                raise ConnectionError("the API server left")
            answer += more
        return answer


def whole(answer: bytes) -> bool:
    head, end, body = answer.partition(b"\r\n\r\n")
    if not end:
        return False
    length = re.search(rb"\r\ncontent-length: *(\d+)", head, re.I)
    return len(body) >= int(length[1]) if length else body.endswith(b"\r\n0\r\n\r\n")


def main() -> None:
    url, pki, path, count, rate, connections = sys.argv[1:7]
    pause = int(connections) / float(rate)
    done, refused, ended = [0] * int(connections), [], threading.Event()

    def write(part: int) -> None:
        try:
            connection, draw = Connection(url, pathlib.Path(pki), path), random.Random(part)
            due = time.monotonic() + pause * part / int(connections)
            while not ended.wait(max(0.0, due - time.monotonic())):
                answer = connection.patch(draw.randrange(int(count)), done[part])
                if not answer.startswith(b"HTTP/1.1 200 "):
                    refused.append(answer.decode(errors="replace")[:1000])
                done[part] += 1
                due = max(due + pause, time.monotonic() - 1)
        except (OSError, ConnectionError) as failure:
            refused.append(repr(failure))

    threads = [threading.Thread(target=write, args=(part,)) for part in range(int(connections))]
    for one in threads:
        one.start()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    while not ended.wait(0.1):
        print(sum(done), flush=True)
    for one in threads:
        one.join()
    print(json.dumps({"written": sum(done), "refused": refused[:10]}), flush=True)


if __name__ == "__main__":
    main()
