"""Just enough of an HTTP client to see that the two servers answer, and for the tests."""
import http.client
import json
import pathlib
import ssl
import typing
import urllib.parse


class Client:
    """Requests to one server, each on a connection of its own; as the admin where a folder of certificates is given."""

    def __init__(self, url: str, pki: pathlib.Path | None = None, token: str | None = None, timeout: float = 30):
        parts = urllib.parse.urlsplit(url)
        self.host_, self.port_, self.timeout_, self.token_ = parts.hostname, parts.port, timeout, token
        self.context_ = None
        if parts.scheme == "https":
            self.context_ = ssl.create_default_context(cafile=str(pki / "ca.crt"))
            if token is None:
                self.context_.load_cert_chain(pki / "admin.crt", pki / "admin.key")

    def connect(self) -> http.client.HTTPConnection:
        if self.context_ is not None:
            return http.client.HTTPSConnection(self.host_, self.port_, timeout=self.timeout_, context=self.context_)
        return http.client.HTTPConnection(self.host_, self.port_, timeout=self.timeout_)

    def open(self, method: str, path: str, body: bytes | dict | None = None,
             content_type: str = "application/json") -> http.client.HTTPResponse:
        """The answer with its body unread; close it."""
        connection = self.connect()
        connection.request(method, path, encoded(body), {"Connection": "close", **self.headers(body, content_type)})
        return connection.getresponse()

    def headers(self, body: bytes | dict | None, content_type: str) -> dict[str, str]:
        return {"Accept": "application/json", **({"Authorization": f"Bearer {self.token_}"} if self.token_ else {}),
                **({"Content-Type": content_type} if body is not None else {})}

    def ask(self, method: str, path: str, body: bytes | dict | None = None,
            content_type: str = "application/json") -> tuple[int, typing.Any]:
        """Status code and the body: decoded JSON, else text."""
        with self.open(method, path, body, content_type) as answer:
            text = answer.read().decode(errors="replace")
            try:
                return answer.status, json.loads(text)
            except ValueError:
                return answer.status, text


class KeptClient(Client):
    """All on one connection, for many small requests. Not thread-safe."""

    kept_: http.client.HTTPConnection | None = None

    def open(self, method: str, path: str, body: bytes | dict | None = None,
             content_type: str = "application/json") -> http.client.HTTPResponse:
        self.kept_ = self.kept_ or self.connect()
        self.kept_.request(method, path, encoded(body), self.headers(body, content_type))
        return self.kept_.getresponse()


def encoded(body: bytes | dict | None) -> bytes | None:
    return json.dumps(body).encode() if isinstance(body, dict) else body
