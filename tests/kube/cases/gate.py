"""The readiness gate on a real API server, whose game servers' states are a closed set."""
import concurrent.futures
import contextlib
import http.client
import json
import threading
import time

import kit
from kit import case, expect, same, tool
from serving import Caller, Server, fill, patches, stored

READY = "agones.dev/sdk-session-ready"


class GatedCaller(Caller):
    """Asks with fields of its own."""

    def ask(self, **fields: str) -> tuple[int, dict, http.client.HTTPResponse]:
        headers = {"Content-Type": "application/json", **{name.replace("_", "-"): value for name, value in fields.items()}}
        self.connection.request("POST", self.path, json.dumps({"spec": {"metadata": {"labels": {"mode": "ranked"}}}}), headers)
        answer = self.connection.getresponse()
        return answer.status, json.loads(answer.read()), answer


def in_state(state: str, seconds: float = 20) -> str:
    """The name of the one server in this state, as kubectl shows it."""
    deadline = time.monotonic() + seconds
    while True:
        lines = tool("kubectl", "get", "gs", "--no-headers", "-o", "custom-columns=NAME:.metadata.name,STATE:.status.state").splitlines()
        found = [line.split()[0] for line in lines if line.split()[1] == state]
        if len(found) == 1:
            return found[0]
        expect(time.monotonic() < deadline, f"not one server is {state}", lines)
        time.sleep(0.05)


def say(name: str, what: str = "true") -> None:
    """What the game does by the SDK."""
    tool("kubectl", "annotate", "gs", name, f"{READY}={what}", "--overwrite")


@contextlib.contextmanager
def asking(server: Server, **fields: str):
    """A call under way; gives its future."""
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        yield pool.submit(lambda: GatedCaller(server).ask(**fields))


def metric(server: Server, name: str) -> float:
    return next((float(line.rpartition(" ")[2]) for line in server.get("/metrics")[1].splitlines() if line.startswith(name)), 0.0)


@case("with a gate a server is Reserved until its game says that it is ready, and then the caller gets it, by two writes")
def _():
    fill(2)
    with Server("--gate=watch") as server:
        server.wait_ready()
        with asking(server) as answer:
            name = in_state("Reserved")
            object_ = stored()[name]
            expect(object_["status"]["reservedUntil"], object_["status"])
            same(object_["metadata"]["labels"]["mode"], "ranked")
            expect(not answer.done(), "it was told too early")
            say(name)
            code, body, _ = answer.result(20)
        same((code, body["status"]["state"], body["status"]["gameServerName"]), (201, "Allocated", name))
        after = stored()[name]
        same(after["status"]["state"], "Allocated")
        expect(not after["status"].get("reservedUntil"), after["status"])
        left = [key for key in after["metadata"]["annotations"] if not key.startswith("agones-alloc.dev/claim.")]
        same(left, ["agones.dev/last-allocated"])
        same(metric(server, "agones_alloc_gate_pending"), 0)
    same(patches(name), [200, 200])
    events = json.loads(tool("kubectl", "get", "events", "-o", "json"))["items"]
    same({one["reason"] for one in events if one["involvedObject"].get("uid") == after["metadata"]["uid"]}, {"Allocating", "Allocated"})


@case("a pending server is carried on by the next process when its server is killed")
def _():
    fill(2)
    with Server("--gate=watch; timeout=60s", "--gate-owner=one", "--request-timeout=2m") as server:
        server.wait_ready()

        def call() -> str:
            try:
                return str(GatedCaller(server).ask(Idempotency_Key="match-1"))
            except (OSError, http.client.HTTPException):
                return "cut"

        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            answer = pool.submit(call)
            name = in_state("Reserved")
            server.kill()
            same(answer.result(20), "cut")
    same(in_state("Reserved"), name)
    with Server("--gate=watch; timeout=60s", "--gate-owner=one") as server:
        server.wait_ready()
        with asking(server, Idempotency_Key="match-1") as answer:
            time.sleep(0.5)
            expect(not answer.done(), "it was told too early")
            say(name)
            code, body, head = answer.result(20)
        same((code, body["status"]["gameServerName"]), (201, name))
        same(head.getheader("Agones-Alloc-Repeated"), "true")
        same(in_state("Allocated"), name)


@case("another server takes over what the killed one left, ready or not")
def _():
    fill(2)
    with Server("--gate=watch; timeout=4s") as server:
        server.wait_ready()
        ids = []
        for _ in range(2):
            code, body, head = GatedCaller(server).ask(Prefer="respond-async")
            same((code, body["reason"]), (202, "Pending"))
            ids.append(body)
        server.kill()
    with Server("--gate-takeover=500ms") as server:
        server.wait_ready()
        say(ids[0]["gameServerName"])
        same(in_state("Allocated"), ids[0]["gameServerName"])
        same(in_state("Shutdown"), ids[1]["gameServerName"])
        code, text = server.get(f"/v1/claims/{ids[1]['id']}?namespace=default")
        same((code, json.loads(text)["ended"]), (200, "timed_out"))


@case("a server that is never ready is ended by its policy, and the next one is handed over")
def _():
    fill(2)
    with Server() as server:
        server.wait_ready()
        with asking(server, Agones_Alloc_Gate="watch; timeout=4s; on-timeout=ReturnToReady; servers=100") as answer:
            first = in_state("Reserved")
            deadline = time.monotonic() + 20
            while (second := in_state("Reserved")) == first:
                expect(time.monotonic() < deadline, "it is still the first")
            before = stored()[first]
            same(before["status"]["state"], "Ready")
            expect("mode" not in before["metadata"]["labels"], before["metadata"])
            expect(not before["metadata"].get("annotations"), before["metadata"])
            # By the time that a busy machine has said it, it may be another one's turn.
            while not answer.done():
                say(second)
                expect(time.monotonic() < deadline + 20, "nobody's word is heard")
                with contextlib.suppress(AssertionError):
                    second = in_state("Reserved", 0.5)
            code, body, _ = answer.result()
        same((code, body["status"]["state"]), (201, "Allocated"))
        same(stored()[body["status"]["gameServerName"]]["status"]["state"], "Allocated")
        while not any(one["reason"] == "AllocationTimeout" and one["type"] == "Warning" and one["involvedObject"]["name"] == first
                      for one in json.loads(tool("kubectl", "get", "events", "-o", "json"))["items"]):
            expect(time.monotonic() < deadline + 20, "no Event tells of it")


@case("a stock cluster refuses the state Allocating, and the caller is told why; the label does it there")
def _():
    fill(1)
    with Server() as server:
        server.wait_ready()
        code, body, _ = GatedCaller(server).ask(Agones_Alloc_Gate="watch; carrier=Allocating")
        same(code, 422)
        expect("carrier Allocating" in body["message"] and "stock" in body["message"], body)
        same(stored()["gs-0000"]["status"]["state"], "Ready")
        with asking(server, Agones_Alloc_Gate="watch; carrier=Allocated") as answer:
            in_state("Allocated")
            same(stored()["gs-0000"]["metadata"]["labels"]["agones-alloc.dev/allocating"], "true")
            time.sleep(0.3)
            expect(not answer.done(), "it was told too early")
            say("gs-0000")
            same(answer.result(20)[0], 201)
        expect("agones-alloc.dev/allocating" not in stored()["gs-0000"]["metadata"]["labels"], stored())


@contextlib.contextmanager
def open_states():
    """The definition knows the state Allocating, as one of a cluster that was changed for it may."""
    path = "/spec/versions/0/schema/openAPIV3Schema/properties/status/properties/state/enum"
    known = json.loads(tool("kubectl", "get", "crd", "gameservers.agones.dev", "-o", "json"))
    for part in path.strip("/").split("/"):
        known = known[int(part) if part.isdigit() else part]

    def allow(states: list[str]) -> None:
        tool("kubectl", "patch", "crd", "gameservers.agones.dev", "--type=json",
             "-p", json.dumps([{"op": "replace", "path": path, "value": states}]))

    allow([*known, "Allocating"])
    try:
        client, deadline = kit.client(), time.monotonic() + 60
        # The API server takes a definition over when it comes to it.
        while client.ask("PATCH", f"{kit.SERVERS}/gs-0000?dryRun=All", {"status": {"state": "Allocating"}}, kit.MERGE)[0] != 200:
            expect(time.monotonic() < deadline, "the definition is not taken over")
            time.sleep(0.1)
        yield
    finally:
        allow(known)


@case("a cluster whose definition knows the state Allocating shows it, also to the next server when the first is killed")
def _():
    fill(2)
    with open_states():
        with Server("--gate=watch; carrier=Allocating; timeout=60s", "--gate-owner=one") as server:
            server.wait_ready()
            with asking(server) as answer:
                name = in_state("Allocating")
                expect(not stored()[name]["status"].get("reservedUntil"), stored()[name]["status"])
                time.sleep(0.3)
                expect(not answer.done(), "it was told too early")
                say(name)
                code, body, _ = answer.result(20)
            same((code, body["status"]["state"], body["status"]["gameServerName"]), (201, "Allocated", name))
            same(stored()[name]["status"]["state"], "Allocated")
            code, body, _ = GatedCaller(server).ask(Prefer="respond-async", Idempotency_Key="match-2")
            same((code, body["reason"]), (202, "Pending"))
            other = in_state("Allocating")
            expect(other != name, "it was handed over before")
            server.kill()
        with Server("--gate=watch; carrier=Allocating; timeout=60s", "--gate-owner=one") as server:
            server.wait_ready()
            with asking(server, Idempotency_Key="match-2") as answer:
                time.sleep(0.3)
                expect(not answer.done(), "it was told too early")
                say(other)
                code, body, _ = answer.result(20)
            same((code, body["status"]["gameServerName"]), (201, other))
    same({one["status"]["state"] for one in stored().values()}, {"Allocated"})


@case("two servers hand two hundred servers over, each once, by two writes each")
def _():
    fill(200)
    stop = threading.Event()

    def games() -> None:
        """Each game that is asked answers; two servers watch."""
        client = kit.client()
        while not stop.is_set():
            for one in client.ask("GET", kit.SERVERS)[1]["items"]:
                if one["status"]["state"] == "Reserved" and READY not in one["metadata"].get("annotations", {}):
                    client.ask("PATCH", f"{kit.SERVERS}/{one['metadata']['name']}", {"metadata": {"annotations": {READY: "true"}}}, kit.MERGE)

    with Server("--gate=watch", "--replica-share=0/2") as one, Server("--gate=watch", "--replica-share=1/2") as two:
        one.wait_ready()
        two.wait_ready()
        playing = threading.Thread(target=games)
        playing.start()
        try:
            names = []
            with concurrent.futures.ThreadPoolExecutor(16) as pool:
                def loop(server: Server) -> None:
                    caller = Caller(server)
                    for _ in range(12):
                        code, body = caller.allocate()
                        same((code, body["status"]["state"]), (201, "Allocated"))
                        names.append(body["status"]["gameServerName"])
                for done in [pool.submit(loop, server) for server in [one, two] * 8]:
                    done.result()
        finally:
            stop.set()
            playing.join()
    same(len(names), 192)
    same(len(set(names)), 192)
    found = stored()
    same({found[name]["status"]["state"] for name in names}, {"Allocated"})
