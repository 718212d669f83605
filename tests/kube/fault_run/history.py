"""What etcd was told about the game servers, write by write, and the claims that stand in them."""
import base64
import calendar
import http.client
import json
import threading
import time
import typing
import urllib.parse

from cluster.instance import Cluster

CLAIM = "agones-alloc.dev/claim."
PREFIX = "/registry/agones.dev/gameservers/default"


class Claim(typing.NamedTuple):
    id: str
    made: str
    expires: float | None  # seconds since the epoch; nothing: it is confirmed


class Write(typing.NamedTuple):
    revision: int
    name: str
    server: dict | None  # nothing: it was deleted
    seen: float          # when we heard of it, which is after it was made; seconds since the epoch


def seconds_of(stamp: str) -> float:
    """Of an RFC 3339 time in UTC, to the microsecond."""
    whole, _, fraction = stamp.rstrip("Z").partition(".")
    return calendar.timegm(time.strptime(whole, "%Y-%m-%dT%H:%M:%S")) + float(f"0.{fraction or 0}")


def claims_of(server: dict | None) -> dict[str, Claim]:
    found = {}
    for key, text in ((server or {}).get("metadata", {}).get("annotations") or {}).items():
        if key.startswith(CLAIM):
            fields = {urllib.parse.unquote(name): urllib.parse.unquote(value)
                      for name, _, value in (field.partition("=") for field in text.split("&"))}
            expires = fields.get("expires")
            found[fields["id"]] = Claim(fields["id"], fields["made"], seconds_of(expires) if expires else None)
    return found


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def revision() -> int:
    """Of the last write to etcd."""
    url = urllib.parse.urlsplit(Cluster("default").etcd_url())
    connection = http.client.HTTPConnection(url.hostname, url.port, timeout=30)
    connection.request("POST", "/v3/kv/range", json.dumps({"key": encoded(PREFIX), "limit": 1}))
    return int(json.loads(connection.getresponse().read())["header"]["revision"])


class History:
    """Follows etcd's own watch, around the API server; ends with the block."""

    def __init__(self, after: int) -> None:
        """Of what is written after that revision."""
        self.writes: list[Write] = []
        self.problem = ""
        url = urllib.parse.urlsplit(Cluster("default").etcd_url())
        self.connection = http.client.HTTPConnection(url.hostname, url.port)
        self.connection.request("POST", "/v3/watch", json.dumps(
            {"create_request": {"key": encoded(PREFIX + "/"), "range_end": encoded(PREFIX + "0"), "start_revision": str(after + 1)}}))
        self.answer = self.connection.getresponse()
        self.ending = False
        self.thread = threading.Thread(target=self.follow, daemon=True)
        self.thread.start()

    def __enter__(self) -> "History":
        return self

    def __exit__(self, *_) -> None:
        self.ending = True
        self.connection.sock and self.connection.sock.close()

    def follow(self) -> None:
        try:
            for line in self.answer:
                now = time.time()
                result = json.loads(line).get("result", {})
                if result.get("canceled"):
                    self.problem = str(result)
                for event in result.get("events", []):
                    kv = event["kv"]
                    value = None if event.get("type") == "DELETE" else json.loads(base64.b64decode(kv["value"]))
                    self.writes.append(Write(int(kv["mod_revision"]), base64.b64decode(kv["key"]).decode().rpartition("/")[2],
                                             value, now))
        except (OSError, ValueError, AttributeError) as error:
            if not self.ending:
                self.problem = repr(error)
            return
        if not self.ending:
            self.problem = "the watch has ended"

    def caught_up(self, seconds: float = 20) -> None:
        """Until nothing has come for a second."""
        deadline = time.monotonic() + seconds
        number = -1
        while number != len(self.writes) and time.monotonic() < deadline:
            number = len(self.writes)
            time.sleep(1)
