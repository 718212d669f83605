#!/usr/bin/env python3
"""The built server's /openapi.json: that it is sound, that a client made of it works, and that the server keeps to it.

Usage: openapi_test.py PATH-OF-agones-alloc-server
Needs python3-jsonschema, python3-hypothesis and libopenapi-client-perl, as tools/setup installs them.
"""
import collections
import http.client
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import urllib.parse

os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", os.path.join(tempfile.gettempdir(), "hypothesis"))
try:
    import hypothesis
    import jsonschema
    from hypothesis import strategies
except ImportError:  # another Python goes before Debian's, whose packages they are
    if sys.executable == "/usr/bin/python3" or not os.path.exists("/usr/bin/python3"):
        raise
    os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])

sys.dont_write_bytecode = True  # nothing is written into the source tree
from kit import PATIENCE, Running, expect, policy, write_policies  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent

FLEETS = """
apiVersion: agones.dev/v1
kind: Fleet
metadata:
  name: arena
  labels: {tier: gold}
  annotations: {agones-alloc.dev/start-up: 1ms, agones-alloc.dev/session-length: never, agones-alloc.dev/session-start: never}
spec:
  replicas: 700
  template:
    spec:
      counters: {rooms: {count: 1, capacity: 5}}
      template: {spec: {containers: [{name: x, image: example}]}}
"""


class Server(Running):
    def __init__(self, folder):
        manifest = pathlib.Path(folder) / "fleets.yaml"
        manifest.write_text(FLEETS)
        write_policies(pathlib.Path(folder) / "policies.json", [policy("here", []), policy("east", ["127.0.0.1:1"])])
        super().__init__("--fleets", str(manifest), "--policies", f"{folder}/policies.json", "--stream-heartbeat", "1s",
                         "--max-requests-per-client", "0")
        end = time.monotonic() + PATIENCE
        while '"readyGameservers":700' not in self.ask("GET", "/v1/fleets")[2]:
            expect(time.monotonic() < end, "the fleet is not ready")
            time.sleep(0.02)

    def ask(self, method, path, body=None, headers=None):
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        link.request(method, path, body, {"Content-Type": "application/json", **(headers or {})})
        answer = link.getresponse()
        kind, text = answer.getheader("Content-Type") or "", ""
        if kind.startswith("text/event-stream"):
            text = self.beginning_of(answer)
        else:
            text = answer.read().decode()
        link.close()
        return answer.status, kind, text

    def beginning_of(self, stream):
        """Of an endless answer the events up to the one after which there may be none for long."""
        text, last = "", ""
        while line := stream.readline().decode():
            text += line
            last = line if line.startswith("event: ") else last
            if line == "\n" and last in ("event: SYNCED\n", "event: HEARTBEAT\n", "event: ALLOCATED\n", "event: ENDED\n"):
                break
        return text


class Document:
    """Schemas of the document, references resolved against it."""

    def __init__(self, text):
        self.whole = json.loads(text)
        self.resolver = jsonschema.RefResolver("", self.whole)

    def resolve(self, part):
        return self.resolver.resolve(part["$ref"])[1] if "$ref" in part else part

    def operations(self):
        for path, methods in self.whole["paths"].items():
            for method, operation in methods.items():
                yield method.upper(), path, operation

    def check(self, schema, value):
        jsonschema.Draft7Validator(schema, resolver=self.resolver).validate(value)

    def check_answer(self, operation, status, kind, text):
        """An answer must be one that the document has, and look so."""
        responses = operation["responses"]
        expect(str(status) in responses or "default" in responses, f"{operation['operationId']} does not say {status}: {text[:300]}")
        response = self.resolve(responses.get(str(status), responses.get("default")))
        media = kind.split(";")[0]
        if status in (304, 204) or not response.get("content"):
            return
        expect(media in response["content"], f"{operation['operationId']} {status} does not say {media}")
        if media == "application/json":
            self.check(response["content"][media]["schema"], json.loads(text))
        if media == "text/event-stream":
            self.check_events(operation, text)

    def check_events(self, operation, text):
        """Each has a kind that the document names, and data as it says."""
        events = [dict(line.partition(": ")[::2] for line in part.splitlines()) for part in text.split("\n\n") if "event: " in part]
        expect(events and events[-1]["event"] in ("SYNCED", "HEARTBEAT", "ALLOCATED", "ENDED"), text)
        of_claim = operation["operationId"] == "findClaim"
        for event in events:
            expect(event["event"] in re.findall(r"\b[A-Z_]{5,}\b", operation["description"]), event)
            schema = "Claim" if of_claim and event["event"] != "HEARTBEAT" else "StreamEvent"
            self.check({"$ref": f"#/components/schemas/{schema}"}, json.loads(event["data"]))


def check_sound(document):
    ids = set()
    for method, path, operation in document.operations():
        name = operation["operationId"]
        expect(name not in ids, f"{name} is there twice")
        ids.add(name)
        named = set(re.findall(r"{(\w+)}", path))
        declared = {p["name"] for p in map(document.resolve, operation.get("parameters", [])) if p["in"] == "path"}
        expect(named == declared, f"{method} {path}: {named} and {declared}")
    for schema in document.whole["components"]["schemas"].values():
        jsonschema.Draft7Validator.check_schema(schema)

    def references(value):
        if isinstance(value, dict):
            for key, inner in value.items():
                if key == "$ref":
                    document.resolver.resolve(inner)
                else:
                    references(inner)
        elif isinstance(value, list):
            for inner in value:
                references(inner)

    references(document.whole)


def values_for(parameter):
    """Values that the document allows, and others."""
    schema = parameter["schema"]
    anything = strategies.text(strategies.characters(blacklist_categories=("Cs",)), max_size=20)
    if schema["type"] == "integer":
        return strategies.integers(-5, 20_000).map(str) | anything
    if schema["type"] == "boolean":
        return strategies.sampled_from(["true", "false"]) | anything
    if schema["type"] == "array":
        return strategies.lists(strategies.sampled_from(schema["items"]["enum"])).map(",".join) | anything
    if "enum" in schema:
        return strategies.sampled_from(schema["enum"]) | anything
    if parameter["name"] == "namespace":
        return strategies.sampled_from(["default", "default", "other"]) | anything
    return anything | strategies.sampled_from(["default", "arena", "tier=gold", "tier in (gold,x),!y", "local"])


# What fields and parts of a path are given besides anything: words that mean something. A gate that ends by itself, and soon.
WORDS = {"Prefer": ["wait=0", "respond-async", "wait=x", "respond-async, wait=0"], "Idempotency-Key": ["match-1", "match-2", "match-3"],
         "Agones-Alloc-Gate": ["off", "webhook; timeout=50ms", "nonsense", "webhook; timeout=-1s"], "If-None-Match": ["*", 'W/"x"'],
         "Last-Event-ID": ["x-1"], "id": ["match-1", "match-2", "match-3"], "namespace": ["default", "other"], "token": ["0" * 32]}


def words_for(parameter):
    printable = strategies.text(strategies.characters(min_codepoint=33, max_codepoint=126), max_size=20)
    if parameter["in"] == "path":
        printable = strategies.text("abcXYZ019-._", min_size=1, max_size=parameter["schema"].get("maxLength", 20))
    return strategies.sampled_from(WORDS[parameter["name"]]) | printable


def bodies_for(path):
    """Anything, and what is near to a request that gets a server."""
    json_values = strategies.recursive(strategies.none() | strategies.booleans() | strategies.integers(-3, 2**40) | strategies.text(max_size=6),
                                       lambda inner: strategies.lists(inner, max_size=3) |
                                       strategies.dictionaries(strategies.sampled_from(["spec", "namespace", "gameServerSelectors", "selectors",
                                                                                        "matchLabels", "metadata", "counters", "x"]), inner, max_size=3),
                                       max_leaves=8)
    amounts = strategies.sampled_from([0, 1, 3, -1])
    selectors = strategies.fixed_dictionaries({}, optional={
        "matchLabels": strategies.sampled_from([{}, {"agones.dev/fleet": "arena"}, {"no": "such"}, {"a b": "c"}]),
        "gameServerState": strategies.sampled_from(["Ready", "Allocated", "READY", "ALLOCATED", 1, "Gone"]),
        "counters": strategies.fixed_dictionaries({}, optional={"rooms": strategies.fixed_dictionaries({}, optional={
            "minCount": amounts, "maxAvailable": amounts, "minAvailable": amounts})})})
    common = {"scheduling": strategies.sampled_from(["Packed", "Distributed", "Loose"]),
              "metadata": strategies.sampled_from([{"labels": {"a": "b"}}, {"annotations": {"c": "d"}}, {"labels": {"a b": "c"}}]),
              "priorities": strategies.lists(strategies.fixed_dictionaries({"type": strategies.sampled_from(["Counter", "List", "x"]),
                                                                            "key": strategies.sampled_from(["rooms", ""])}), max_size=2),
              "counters": strategies.fixed_dictionaries({"rooms": strategies.fixed_dictionaries({}, optional={
                  "action": strategies.sampled_from(["Increment", "Decrement", "Explode"]), "amount": amounts})})}
    flat = strategies.fixed_dictionaries({"namespace": strategies.sampled_from(["default", "other", ""])}, optional=common | {
        "gameServerSelectors": strategies.lists(selectors, max_size=3), "requiredGameServerSelector": selectors,
        "multiClusterSetting": strategies.sampled_from([{"enabled": False}, {"enabled": True}])})
    spec = strategies.fixed_dictionaries({}, optional=common | {
        "selectors": strategies.lists(selectors, max_size=3), "required": selectors,
        "multiClusterSetting": strategies.sampled_from([{"enabled": False}, {"enabled": True}])})
    near = {"/gameserverallocation": flat, "/v1/query": flat | strategies.fixed_dictionaries({"spec": spec})}.get(
        path, strategies.fixed_dictionaries({"spec": spec}))
    return (json_values | near | near).map(json.dumps) | strategies.text(max_size=10)


def keeps_to_it(server, document, method, path, operation, examples):
    """Whatever is asked, the answer is one of the document's. How many got each status."""
    declared = list(map(document.resolve, operation.get("parameters", [])))
    parameters = [p for p in declared if p["in"] == "query"]
    queries = strategies.fixed_dictionaries({}, optional={p["name"]: values_for(p) for p in parameters} |
                                            {"nosuch": strategies.just("1")}) | strategies.just({})
    parts = strategies.fixed_dictionaries({p["name"]: words_for(p) for p in declared if p["in"] == "path"})
    fields = strategies.fixed_dictionaries({}, optional={p["name"]: words_for(p) for p in declared if p["in"] == "header"}) | strategies.just({})
    bodies = bodies_for(path) if "requestBody" in operation else strategies.none()
    streams = any("text/event-stream" in (response.get("content") or {}) for response in operation["responses"].values())
    accepts = strategies.sampled_from(["application/json", "*/*"] + (["text/event-stream"] if streams else []))
    statuses = collections.Counter()

    @hypothesis.settings(max_examples=examples, deadline=None, database=None, derandomize=True,
                         suppress_health_check=list(hypothesis.HealthCheck))
    @hypothesis.given(queries, parts, fields, bodies, accepts)
    def each(query, part, field, body, accept):
        target = path.format(**part) + ("?" + urllib.parse.urlencode(query) if query else "")
        if len(target) > 8000:
            return
        status, kind, text = server.ask(method, target, body.encode() if body is not None else None, {"Accept": accept, **field})
        # 504: a gate's time is up. What no policy says is Agones' own 500.
        no_policy = status == 500 and "no multi-cluster allocation policy is specified" in text
        expect(status < 500 or status in (503, 504) or no_policy, f"{target} {field} {body}: {status} {text}")
        document.check_answer(operation, status, kind, text)
        statuses[status] += 1

    each()
    return statuses


def gates_keep_to_it(server, document):
    """A pending server from its allocation to the game's call; each answer is one of the document's, and looks so."""
    operations = {o["operationId"]: (m, p, o) for m, p, o in document.operations()}

    def call(name, wanted, body=None, headers=None, query="", **parts):
        method, path, operation = operations[name]
        for field in [name for name in headers or {} if name != "Accept"]:
            declared = [p["name"] for p in map(document.resolve, operation.get("parameters", [])) if p["in"] == "header"]
            expect(field in declared, f"{name} does not say {field}")
        status, kind, text = server.ask(method, path.format(**parts) + query, body, headers)
        expect(status == wanted, f"{name}: {status} {text}, not {wanted}")
        document.check_answer(operation, status, kind, text)
        return json.loads(text) if kind.startswith("application/json") else text

    space = {"namespace": "default"}
    for name, body, end, state in (("allocate", json.dumps(space), "gateReady", "Allocated"),
                                   ("createGameServerAllocation", '{"spec": {}}', "gateFailed", None)):
        wanted = {"Prefer": "respond-async", "Agones-Alloc-Gate": "webhook; timeout=5m; on-timeout=ReturnToReady"}
        parts = space if name != "allocate" else {}
        pending = call(name, 202, body, wanted, **parts)
        told = call("findClaim", 200, query="?namespace=default", id=pending["id"])
        expect(told.get("pending") is True and told["deadline"] == pending["deadline"], told)
        listed = call("listGameServers", 200, query="?namespace=default")["gameServers"]
        token = next(s["metadata"]["annotations"]["agones-alloc.dev/gate-token"] for s in listed
                     if s["metadata"]["name"] == pending["gameServerName"])
        events = call("findClaim", 200, headers={"Accept": "text/event-stream"}, query="?namespace=default", id=pending["id"])
        expect("event: PENDING\n" in events and events.index("event: PENDING\n") < events.index("event: HEARTBEAT\n"), events)
        call(end, 404, token="0" * 32)
        call(end, 204, token=token)
        call(end, 404, token=token)
        told = call("findClaim", 200, headers={"Prefer": "wait=60"}, query="?namespace=default", id=pending["id"])
        expect("pending" not in told and (told["state"] == state if state else told["ended"] == "failed"), told)
    print("ok      pending servers keep to it, to the game's call")


def main():
    with tempfile.TemporaryDirectory() as folder, Server(folder) as server:
        status, kind, text = server.ask("GET", "/openapi.json")
        expect(status == 200 and kind == "application/json", f"{status} {kind}")
        document = Document(text)
        check_sound(document)
        print(f"ok      the document is sound: {len(list(document.operations()))} operations")
        gates_keep_to_it(server, document)
        # Those that take servers come first: the claims of their ids are asked for then.
        for method, path, operation in sorted(document.operations(), key=lambda one: "requestBody" not in one[2]):
            plain = not operation.get("parameters")
            for key in WORDS["Idempotency-Key"] if "/v1/claims/" in path else []:  # there are some
                server.ask("POST", "/gameserverallocation", '{"namespace": "default"}', {"Idempotency-Key": key})
            statuses = keeps_to_it(server, document, method, path, operation, 10 if plain else 300)
            good = [status for status in statuses if status < 300]
            expect(good or "/v1/gates/" in path, f"{method} {path} never got what it is for: {statuses}")
            print(f"ok      the server keeps to it: {method} {path}, whatever it is asked: {dict(sorted(statuses.items()))}", flush=True)
        used = subprocess.run(["perl", str(HERE / "openapi_client.pl"), f"http://127.0.0.1:{server.port}"], capture_output=True,
                              text=True, timeout=PATIENCE)
        expect(used.returncode == 0, used.stdout + used.stderr)
        print("ok      a client that is made of it works: " + used.stdout.strip())
        expect(server.stop() == 0, "the server was not stopped as agreed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
