"""What the tests of the built server share: a server as a process, fleets for it, and cases that are run one by one."""
import contextlib
import http.client
import json
import os
import pathlib
import re
import resource
import signal
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import traceback

SERVER = sys.argv[1] if len(sys.argv) in (2, 3) else sys.exit(sys.modules["__main__"].__doc__)
WANTED = sys.argv[2] if len(sys.argv) == 3 else ""  # only cases with this in their name
ROOT = pathlib.Path(__file__).resolve().parents[2]
KUBERNETES = "/apis/allocation.agones.dev/v1/namespaces/default/gameserverallocations"
REST = "/gameserverallocation"
PATIENCE = 60  # seconds that nothing here comes near to, unless something hangs

FLEET = """
apiVersion: agones.dev/v1
kind: Fleet
metadata:
  name: {name}
  annotations:
    agones-alloc.dev/start-up: {start_up}
spec:
  replicas: {replicas}
  template:
    spec:
      ports: [{{name: default, containerPort: 7654}}]
      template: {{spec: {{containers: [{{name: simple, image: example}}]}}}}
"""

cases = []


def case(function):
    cases.append(function)
    return function


def expect(condition, text):
    if not condition:
        raise AssertionError(text)


def until(holds, what):
    """The first value that is true. `what`: the words when none comes, or what makes them then."""
    end = time.monotonic() + PATIENCE
    while True:
        value = holds()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(what() if callable(what) else what)
        time.sleep(0.05)


def certificates(place, *options):
    """What tools/certs makes, in the folder `certs` of a place."""
    subprocess.run([str(ROOT / "tools/certs"), str(place / "certs"), *options], check=True, stdout=subprocess.DEVNULL)


def manifest(name, replicas, labels=None, namespace="default", **template):
    """A fleet whose servers start at once and never end. JSON is YAML, and quotes what has to be quoted."""
    return json.dumps({
        "apiVersion": "agones.dev/v1", "kind": "Fleet",
        "metadata": {"name": name, "namespace": namespace, "labels": labels or {},
                     "annotations": {"agones-alloc.dev/start-up": "1ms", "agones-alloc.dev/session-length": "never"}},
        "spec": {"replicas": replicas, "template": {"spec": {
            "ports": [{"name": "default", "containerPort": 7654}], **template,
            "template": {"spec": {"containers": [{"name": "x", "image": "example"}]}}}}},
    }) + "\n---\n"


def policy(name, endpoints, priority=1, weight=100, secret="client", host="localhost", labels=None):
    """Without endpoints: this cluster. `host`: the name in the endpoints' certificates."""
    return {"apiVersion": "multicluster.agones.dev/v1", "kind": "GameServerAllocationPolicy",
            "metadata": {"name": name, "labels": labels or {},
                         "annotations": {"agones-alloc.dev/server-name": host} if endpoints else {}},
            "spec": {"priority": priority, "weight": weight,
                     "connectionInfo": {"clusterName": name, "namespace": "default", "secretName": secret,
                                        "allocationEndpoints": endpoints}}}


def write_policies(path, policies):
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": policies}))


def clean_environment(extra=None):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("AGONES_ALLOC_")}
    return {**kept, **(extra or {})}


def run(*options, environment=None):
    """Output and code of a server that is expected to end by itself."""
    return subprocess.run([SERVER, *options], capture_output=True, text=True, timeout=PATIENCE,
                          env=clean_environment(environment))


class Running:
    """A server on a free port, stopped at the end of the block."""

    def __init__(self, *options, environment=None, descriptors=None, port=0):
        before = resource.getrlimit(resource.RLIMIT_NOFILE)
        if descriptors:  # inherited by the server
            resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, before[1]))
        try:
            self.process = subprocess.Popen([SERVER, "--listen", f"127.0.0.1:{port}", *options], stdout=subprocess.PIPE,
                                            stderr=subprocess.STDOUT, text=True, env=clean_environment(environment))
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, before)
        self.lines = []
        self.port = None
        self.listening = threading.Event()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        if not self.listening.wait(PATIENCE) or self.port is None:
            self.process.kill()
            raise AssertionError("it does not listen:\n" + "".join(self.lines))

    def read(self):
        for line in self.process.stdout:
            self.lines.append(line)
            found = re.search(r"https?://127\.0\.0\.1:(\d+)", line)
            if found and not self.listening.is_set():
                self.port = int(found.group(1))
                self.listening.set()
        self.listening.set()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        ended = self.process.wait(PATIENCE)
        self.reader.join(PATIENCE)
        if -ended in (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL, signal.SIGFPE):
            raise AssertionError(f"the server crashed ({signal.Signals(-ended).name}):\n" + "".join(self.lines[-20:]))

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        code = self.process.wait(PATIENCE)
        self.reader.join(PATIENCE)
        return code

    def ask(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, text, answer

    def allocate(self, path, spec=None, namespace="default"):
        if path == KUBERNETES:
            return self.ask("POST", path, json.dumps({"spec": spec or {}}), {"Content-Type": "application/json"})
        return self.ask("POST", path, json.dumps({"namespace": namespace}))

    def ready_servers(self):
        text = self.ask("GET", "/metrics")[1]
        found = re.findall(r'^agones_fleets_replicas_count\{[^}]*type="ready"[^}]*\} (\S+)', text, re.M)
        return sum(float(number) for number in found)

    def wait_ready(self, count):
        give_up = time.monotonic() + PATIENCE
        while self.ready_servers() < count:
            expect(time.monotonic() < give_up, f"{count} game servers are not ready")
            time.sleep(0.02)


class Secured(Running):
    """One over plain HTTP, or over mutual TLS with what tools/certs has made in the folder `certs` of its place."""

    def __init__(self, place, *options, tls=False, port=0):
        self.tls, self.place = tls, place
        pair = ["--tls-cert", str(place / "certs/server/tls.crt"), "--tls-key", str(place / "certs/server/tls.key"),
                "--client-ca", str(place / "certs/ca.crt")]
        super().__init__("--log-format", "json", *(pair if tls else []), *options, port=port)

    def text(self):
        return "".join(self.lines)

    def connection(self, client="client"):
        if not self.tls:
            return http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        context = ssl.create_default_context(cafile=str(self.place / "certs/ca.crt"))
        if client:
            pair = self.place / "certs/clients" / client
            context.load_cert_chain(pair / "tls.crt", pair / "tls.key")
        return http.client.HTTPSConnection("localhost", self.port, timeout=PATIENCE, context=context)

    def ask(self, method, path, body=None, headers=None, client="client"):
        """With an object for its body. The fields of the last answer are kept in `headers`."""
        link = self.connection(client)
        link.request(method, path, json.dumps(body) if body is not None else None,
                     {"Content-Type": "application/json", **(headers or {})})
        answer = link.getresponse()
        text = answer.read().decode()
        self.headers = dict(answer.getheaders())
        link.close()
        return answer.status, text


class WithFleets(Secured):
    """With the manifests of its fleets, and clusters by policies."""

    def __init__(self, place, name, fleets, *options, tls=False, policies=None, port=0):
        file = place / f"{name}.yaml"
        file.write_text(fleets)
        given = ["--fleets", str(file), "--start-up", "1ms", "--stream-heartbeat", "1s"]
        if policies is not None:
            write_policies(place / f"{name}-policies.json", policies)
            given += ["--policies", str(place / f"{name}-policies.json"), "--client-secrets", str(place / "certs/clients")]
        super().__init__(place, *given, *options, tls=tls, port=port)


def fleet_file(folder, replicas=10, name="simple", start_up="0s", file="fleet.yaml"):
    path = pathlib.Path(folder) / file
    path.write_text(FLEET.format(name=name, replicas=replicas, start_up=start_up))
    return str(path)


def run_cases(world=contextlib.nullcontext):
    """Each with a folder of its own, or what `world`, a context, makes of it; prints a line a case and a summary. 1 when one failed."""
    passed = failed = 0
    for function in cases:
        if WANTED not in function.__name__:
            continue
        name = function.__name__.replace("_", " ")
        try:
            with tempfile.TemporaryDirectory() as folder, world(folder) as given:
                function(given)
            passed += 1
            print(f"ok    {name}", flush=True)
        except Exception as problem:  # a case that breaks must not hide the others
            failed += 1
            steps = traceback.extract_tb(problem.__traceback__)[1:]
            way = ", ".join(f"{pathlib.Path(step.filename).name}:{step.lineno}" for step in steps)
            print(f"FAIL  {name}: {type(problem).__name__}: {problem} ({way})", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0
