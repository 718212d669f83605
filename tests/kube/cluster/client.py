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

    def open(self, method: str, path: str, body: bytes | dict | None = None,
             content_type: str = "application/json") -> http.client.HTTPResponse:
        """The answer with its body unread; close it."""
        if self.context_ is not None:
            connection = http.client.HTTPSConnection(self.host_, self.port_, timeout=self.timeout_,
                                                     context=self.context_)
        else:
            connection = http.client.HTTPConnection(self.host_, self.port_, timeout=self.timeout_)
        headers = {"Connection": "close", "Accept": "application/json"}
        if self.token_ is not None:
            headers["Authorization"] = f"Bearer {self.token_}"
        if body is not None:
            headers["Content-Type"] = content_type
        connection.request(method, path, json.dumps(body).encode() if isinstance(body, dict) else body, headers)
        return connection.getresponse()

    def ask(self, method: str, path: str, body: bytes | dict | None = None,
            content_type: str = "application/json") -> tuple[int, typing.Any]:
        """Status code and the body: decoded JSON, else text."""
        with self.open(method, path, body, content_type) as answer:
            text = answer.read().decode(errors="replace")
            try:
                return answer.status, json.loads(text)
            except ValueError:
                return answer.status, text
