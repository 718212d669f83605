#!/usr/bin/env python3
"""Every path of the built server, asked for as people who make mistakes ask: wrong methods, heads, parameters, fields.

Usage: doors_test.py PATH-OF-agones-alloc-server [WORD-OF-A-CASE]
Prints one line a case and a summary, and exits with 1 when a case failed. Needs nothing but Python.
"""
import json
import socket
import sys

sys.dont_write_bytecode = True  # nothing is written into the source tree

import kit  # noqa: E402
from kit import KUBERNETES, PATIENCE, REST, Running, case, expect, fleet_file  # noqa: E402

EVENTS = {"Accept": "text/event-stream"}
WATCH = "/apis/agones.dev/v1/namespaces/default/gameservers?watch=true"


def embedded(folder, *options, replicas=2):
    """No session ends by itself, no server takes time to start."""
    return Running("--fleets", fleet_file(folder, replicas), "--session-length", "never", *options)


def head_of(server, method, path, fields=()):
    """Status and fields of an answer, without its date, whatever body follows; and what came besides in the same piece."""
    with socket.create_connection(("127.0.0.1", server.port), PATIENCE) as link:
        lines = [f"{method} {path} HTTP/1.1", "Host: x", *(f"{name}: {value}" for name, value in dict(fields).items())]
        link.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        text = b""
        while b"\r\n\r\n" not in text:
            piece = link.recv(65536)
            expect(piece, f"{method} {path}: the connection ended after {text}")
            text += piece
    head, _, rest = text.partition(b"\r\n\r\n")
    status, *lines = head.decode().split("\r\n")
    return int(status.split()[1]), sorted(line for line in lines if not line.startswith("Date:")), rest


def allocated(server, key):
    status, text, _ = server.ask("POST", KUBERNETES, "{}", {"Content-Type": "application/json", "Idempotency-Key": key})
    expect((status, json.loads(text)["status"]["state"]) == (201, "Allocated"), text)


@case
def head_says_what_get_would_say_of_every_path_and_sends_no_body(folder):
    with embedded(folder) as server:
        server.wait_ready(2)
        allocated(server, "match-1")
        claim = "/v1/claims/match-1?namespace=default"
        doors = [("/v1/fleets", {}), ("/v1/fleets", EVENTS), ("/v1/fleets?limit=1&nonsense=1", {}), ("/v1/gameservers?namespace=default", {}),
                 ("/v1/query", {}), ("/v1/clusters", {}), (claim, {}), (claim, EVENTS), ("/v1/claims/nobody?namespace=default", EVENTS),
                 ("/v1/claims/match-1:confirm?namespace=default", {}), ("/v1/gates/x:ready", {}), (REST, {}), ("/apis", {}), ("/openapi/v3", {}),
                 ("/openapi.json", {}), ("/live", {}), ("/ready?full=1", {}), ("/", {}), ("/nothing", {}), (KUBERNETES, {}), (WATCH, {}),
                 ("/apis/agones.dev/v1/namespaces/default/fleets", {}), ("/apis/agones.dev/v1/namespaces/default/fleets/simple", {}),
                 ("/apis/agones.dev/v1/namespaces/default/fleets/simple/scale", {}), ("/api/v1/events", {})]
        for path, fields in doors:
            got = head_of(server, "GET", path, fields)
            head = head_of(server, "HEAD", path, fields)
            expect(head[:2] == got[:2], f"{path} {fields}: {head} and {got}")
            expect(head[2] == b"", f"{path} {fields}: {head}")
        for path, fields in (("/v1/fleets", EVENTS), (claim, EVENTS), (WATCH, {})):
            status, lines, _ = head_of(server, "HEAD", path, fields)
            expect(status == 200 and "Transfer-Encoding: chunked" in lines, f"{path}: {status} {lines}")
            expect(not any(line.startswith("Content-Length") for line in lines), f"{path}: {lines}")
        status, lines, _ = head_of(server, "HEAD", "/metrics")  # its length is another one each time
        expect(status == 200 and any(line.startswith("Content-Length: ") for line in lines), lines)
        expect("agones_alloc_directory_streams 0" in server.ask("GET", "/metrics")[1], "no stream is left open")


@case
def a_method_that_a_path_does_not_have_is_405_and_says_which_it_has(folder):
    with embedded(folder) as server:
        server.wait_ready(2)
        reads, posts = "GET, HEAD", "POST"
        for path, allowed in (("/v1/fleets", reads), ("/v1/gameservers", reads), ("/v1/query", posts), ("/v1/clusters", reads),
                              ("/v1/claims/a?namespace=default", reads), ("/v1/claims/a:confirm?namespace=default", posts),
                              ("/v1/claims/a:release?namespace=default", posts), ("/v1/gates/a:ready", posts), (KUBERNETES, posts),
                              ("/live", reads), ("/ready", reads), ("/metrics", reads), ("/openapi.json", reads), ("/", reads)):
            for method in ("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"):
                if method in allowed:
                    continue
                status, lines, _ = head_of(server, method, path)
                expect(status == 405 and f"Allow: {allowed}" in lines, f"{method} {path}: {status} {lines}")
        for method in ("GET", "HEAD", "PUT"):  # as Agones' gateway
            status, lines, _ = head_of(server, method, REST)
            expect(status == 501 and "Allow: POST" in lines, f"{method} {REST}: {status} {lines}")


@case
def a_parameter_that_a_path_does_not_take_is_400_and_named(folder):
    with embedded(folder) as server:
        server.wait_ready(2)
        allocated(server, "match-1")
        spaced = "namespace=default"
        doors = [("GET", "/v1/fleets", ""), ("GET", "/v1/gameservers", spaced), ("POST", "/v1/query", spaced), ("GET", "/v1/clusters", ""),
                 ("GET", "/v1/claims/match-1", spaced), ("POST", "/v1/claims/match-1:confirm", spaced),
                 ("POST", "/v1/claims/match-1:release", spaced), ("POST", "/v1/gates/x:ready", "")]
        for method, path, query in doors:
            for more, name in (("nmespace=default", "nmespace"), ("pretty", "pretty"), ("Namespace=default", "Namespace"), ("a%20b=1", "a b"),
                               ("%zz=1", "%zz"), ("x=%", "x"), ("=", ""), ("wait=5", "wait")):
                status, text, _ = server.ask(method, f"{path}?{query}&{more}")
                expect(status == 400, f"{method} {path} {more}: {status} {text}")
                said = text if path.startswith("/v1/gates") else json.loads(text)["message"]
                expect(said.startswith(name + ": "), f"{method} {path} {more}: {text}")
            if query:
                status, text, _ = server.ask(method, f"{path}?{query}&{query}")
                expect(status == 400 and json.loads(text)["message"] == "namespace: is given twice", f"{method} {path}: {status} {text}")
        for method, verb in (("GET", ""), ("POST", ":confirm")):
            status, text, _ = server.ask(method, f"/v1/claims/match-1{verb}?{spaced}&to=ready")
            expect(status == 400 and json.loads(text)["message"].startswith("to: "), f"{method} {verb}: {status} {text}")
        for query in ("to=ready&to=shutdown", "to=Ready", "to=", "t%6f=away"):
            status, text, _ = server.ask("POST", f"/v1/claims/match-1:release?{spaced}&{query}")
            expect(status == 400 and json.loads(text)["message"].startswith("to: "), f"{query}: {status} {text}")
        expect(server.ask("GET", f"/v1/claims/match-1?{spaced}")[0] == 200, "nothing of all that has released it")
        expect(server.ask("GET", f"/v1/claims/match-1?&{spaced}&")[0] == 200, "empty parts are none")
        expect(server.ask("POST", f"/v1/claims/match-1:release?{spaced}&t%6f=shutdown")[0] == 200, "a name may be encoded")
        status, text, _ = server.ask("GET", "/apis/agones.dev/v1/namespaces/default/fleets?pretty=true&nonsense=1")
        expect(status == 200, f"an API server ignores what it does not know: {text}")


@case
def a_parameter_is_utf8_and_a_namespace_is_the_name_of_one(folder):
    with embedded(folder) as server:
        server.wait_ready(2)
        doors = [("GET", "/v1/fleets"), ("GET", "/v1/gameservers"), ("POST", "/v1/query"), ("GET", "/v1/claims/a"), ("POST", "/v1/claims/a:release")]
        for method, path in doors:
            for text in ("Default", "a%20b", "a%00", "-a", "a.b", "x" * 64, "*", "%ff", "%c3%a9"):
                status, answer, _ = server.ask(method, f"{path}?namespace={text}")  # as UTF-8, or it raises
                expect(status == 400 and json.loads(answer)["message"].startswith("namespace: "), f"{method} {path} {text}: {status} {answer}")
            expect(server.ask(method, f"{path}?namespace={'x' * 63}")[0] != 400, f"{method} {path}: so long it may be")
            for name, shown in (("%ff", "\ufffd"), ("a%ffb", "a\ufffdb"), ("%e9" * 40, "\ufffd" * 40), ("%c3%a9" * 40, "\u00e9" * 32),
                                ("a" + "%c3%a9" * 40, "a" + "\u00e9" * 31 + "\ufffd")):
                status, answer, _ = server.ask(method, f"{path}?namespace=default&{name}=1")
                expect(status == 400 and json.loads(answer)["message"].startswith(shown + ": "), f"{method} {path} {name}: {status} {answer}")
        for name in ("labelSelector", "cluster", "resume", "include", "continue"):
            status, answer, _ = server.ask("GET", f"/v1/fleets?{name}=%ff")
            expect(status == 400 and json.loads(answer)["message"] == name + ": is not UTF-8", f"{name}: {status} {answer}")
        for body in ({"namespace": "Default"}, {"metadata": {"namespace": "a b"}, "spec": {}}):
            status, answer, _ = server.ask("POST", "/v1/query", json.dumps(body))
            expect(status == 400 and json.loads(answer)["message"].startswith("namespace: "), f"{body}: {status} {answer}")


@case
def a_field_that_says_nothing_is_not_taken_for_none(folder):
    with embedded(folder) as server:
        server.wait_ready(2)
        names = ("Idempotency-Key", "Agones-Alloc-Claim-TTL", "Agones-Alloc-Gate", "Agones-Alloc-Action-Mode")
        for path in (KUBERNETES, REST):
            for name in names:
                for value in ("", "  "):
                    status, text, _ = server.ask("POST", path, '{"namespace": "default"}', {"Content-Type": "application/json", name.lower(): value})
                    expect(status == 400 and json.loads(text)["message"] == name + ": must not be empty", f"{path} {name}: {status} {text}")
        for key in ("agones-alloc.dev/request-id", "agones-alloc.dev/claim-ttl"):
            body = json.dumps({"metadata": {"annotations": {key: ""}}})
            status, text, _ = server.ask("POST", KUBERNETES, body, {"Content-Type": "application/json"})
            expect(status == 400 and f"metadata.annotations[{key}]: must not be empty" in text, f"{key}: {status} {text}")
        for value in ("4294967295", "4294967296", "99999999999999999999", "8761h", "31536001"):
            status, text, _ = server.ask("POST", REST, '{"namespace": "default"}', {"Agones-Alloc-Claim-TTL": value})
            expect(status == 400 and "Agones-Alloc-Claim-TTL: a positive duration" in text, f"{value}: {status} {text}")
        expect(server.ready_servers() == 2, "none of these got a server")
        for method, path, fields in (("GET", "a", {}), ("GET", "a", EVENTS), ("POST", "a:confirm", {}), ("POST", "a:release", {})):
            for name, value, said in (("Idempotency-Key", "", "Idempotency-Key: "), ("Prefer", "wait=soon", "Prefer: wait: ")):
                status, text, _ = server.ask(method, f"/v1/claims/{path}?namespace=default", None, {**fields, name: value})
                expect(status == 400 and json.loads(text)["message"].startswith(said), f"{method} {path} {fields} {name}: {status} {text}")


@case
def preferences_have_parameters_and_a_time_as_long_as_one_likes(folder):
    with embedded(folder, "--max-wait", "1s", replicas=0) as server:
        for value, waited in (("wait=99999999999999999999", "wait=1"), ("wait=1; foo=bar", "wait=1"), ("foo; wait=7, WAIT = \"1\";x", "wait=1"),
                              ("wait=0, wait=1", None), ("respond-async; wait=1", None), ("wiat=1", None)):
            _, text, answer = server.ask("POST", KUBERNETES, "{}", {"Content-Type": "application/json", "Prefer": value})
            expect(json.loads(text)["status"]["state"] == "UnAllocated", f"{value}: {text}")
            expect(answer.getheader("Preference-Applied") == waited, f"{value}: {answer.getheader('Preference-Applied')}")
        for value in ("wait", "wait=", "wait=;x", "wait=1.5", "wait=1s", "wait=99999999999999999999s", "wait=-1", "wait= ; 1"):
            status, text, _ = server.ask("POST", KUBERNETES, "{}", {"Content-Type": "application/json", "Prefer": value})
            expect(status == 400 and "Prefer: wait: a number of seconds is wanted" in text, f"{value}: {status} {text}")


@case
def a_star_for_a_target_is_of_options_only(folder):
    with embedded(folder) as server:
        for method in ("GET", "HEAD", "POST"):
            expect(head_of(server, method, "*")[0] == 400, f"{method} *")
        expect(head_of(server, "OPTIONS", "*")[0] == 405, "OPTIONS *")


@case
def a_blank_in_a_target_is_told_of(folder):
    with embedded(folder) as server:
        status, _, rest = head_of(server, "GET", "/v1/fleets?labelSelector=tier in (gold)")
        expect(status == 505 and b"a blank in the target is to be written as %20" in rest, f"{status} {rest}")


def answer_of(server, text):
    """All that comes until the server ends the connection."""
    with socket.create_connection(("127.0.0.1", server.port), PATIENCE) as link:
        link.sendall(text)
        out = b""
        while piece := link.recv(65536):
            out += piece
        return out


@case
def what_is_refused_of_a_head_has_no_body_either(folder):
    with embedded(folder, "--max-body-bytes", "1000", "--max-header-bytes", "1000") as server:
        for status, rest in ((400, ""), (400, "Host: a\r\nHost: a\r\n"), (413, "Host: a\r\nContent-Length: 1001\r\n"),
                             (415, "Host: a\r\nContent-Encoding: gzip\r\n"), (417, "Host: a\r\nExpect: x\r\n"), (431, f"Host: a\r\nX: {'x' * 1000}\r\n"),
                             (501, "Host: a\r\nTransfer-Encoding: gzip\r\n")):
            for method in ("HEAD", "GET"):
                answer = answer_of(server, f"{method} /live HTTP/1.1\r\n{rest}\r\n".encode())
                head, _, body = answer.partition(b"\r\n\r\n")
                expect(head.startswith(f"HTTP/1.1 {status} ".encode()), f"{method} {rest}: {answer}")
                expect((body == b"") == (method == "HEAD"), f"{method} {rest}: {answer}")


@case
def a_host_is_one_and_a_scheme_is_of_any_case(folder):
    with embedded(folder) as server:
        for value in ("a b", "a/b", "a@b", "a?", "a#b", "a, b", "a\\b", '"a"', "b\u00fccher", "<a>"):
            answer = answer_of(server, f"GET /live HTTP/1.1\r\nHost: {value}\r\nConnection: close\r\n\r\n".encode())
            expect(answer.startswith(b"HTTP/1.1 400 ") and b"Host: a name or address is wanted" in answer, f"{value}: {answer}")
        for value in ("", "a", "A.b:80", "[::1]:8080", "10.0.0.1", "a_b", "xn--bcher-kva", "%61", "a:"):
            answer = answer_of(server, f"GET /live HTTP/1.1\r\nHost: {value}\r\nConnection: close\r\n\r\n".encode())
            expect(answer.startswith(b"HTTP/1.1 200 "), f"{value}: {answer}")
        for target in ("HTTP://x/live", "Https://x/live"):
            answer = answer_of(server, f"GET {target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
            expect(answer.startswith(b"HTTP/1.1 200 "), f"{target}: {answer}")


@case
def an_id_that_ends_as_a_verb_is_encoded(folder):
    with embedded(folder) as server:
        server.wait_ready(2)
        allocated(server, "a:confirm")
        status, text, _ = server.ask("GET", "/v1/claims/a%3Aconfirm?namespace=default")
        expect(status == 200 and json.loads(text)["id"] == "a:confirm", f"{status} {text}")
        status, text, _ = server.ask("POST", "/v1/claims/a%3Aconfirm:release?namespace=default")
        expect(status == 200 and json.loads(text)["state"] == "Ready", f"{status} {text}")


if __name__ == "__main__":
    sys.exit(kit.run_cases())
