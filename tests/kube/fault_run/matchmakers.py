"""Callers that retry, lose answers, forget, confirm and release; each keeps a history of what it was told."""
import collections
import dataclasses
import http.client
import json
import random
import threading
import time
import urllib.parse

PATH = "/apis/allocation.agones.dev/v1/namespaces/default/gameserverallocations"
CLAIM_SECONDS = 4
WAIT_SECONDS = 3
REQUEST_SECONDS = 5
KNOWN_BY_ALL_SECONDS = 5  # a watch may lag behind a write
PATIENCE = 25  # more than a server may take, on a busy machine; who has no answer by then has none


@dataclasses.dataclass
class Session:
    """All times are seconds since the epoch; 0: it has not happened."""
    id: str
    kind: str                # keeps, forgets, lobby
    server: str = ""         # as it was told
    told: float = 0
    expires: float = 0       # unless it is confirmed
    confirm_asked: float = 0
    confirmed: float = 0
    release_asked: float = 0
    released: float = 0
    was_late: bool = False   # its claim had ended when it came to confirm
    held: list = dataclasses.field(default_factory=list)  # (server, from, until or nothing: its expiry) that it knew as its own


class Unanswered(Exception):
    """A server that lives has not answered in its time."""


class Replicas:
    """Which servers there are now; others kill and start them."""

    def __init__(self, running: list):
        self.running = running

    def ask(self, index: int, method: str, path: str, body: dict | None = None, fields: dict | None = None,
            leave_after: float = 0) -> tuple[int, dict, dict]:
        """Raises OSError where there is no answer for a reason; `leave_after`: the caller hangs up then."""
        server = self.running[index]
        if server is None:
            raise ConnectionError("not running")
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=leave_after or PATIENCE)
        try:
            connection.request(method, path, None if body is None else json.dumps(body),
                               {"Content-Type": "application/json", **(fields or {})})
            answer = connection.getresponse()
            text = answer.read()
        except TimeoutError as error:
            if leave_after or server.killed or server.stopped:
                raise ConnectionError("left") from error
            raise Unanswered(f"{method} {path} {fields} by replica {index}") from error
        except http.client.HTTPException as error:
            raise ConnectionError(repr(error)) from error
        finally:
            connection.close()
        return answer.status, json.loads(text or b"{}"), dict(answer.getheaders())


class Matchmaker(threading.Thread):
    def __init__(self, number: int, seed: int, replicas: Replicas, over: threading.Event):
        super().__init__(daemon=True)
        self.number, self.replicas, self.over = number, replicas, over
        self.random = random.Random(f"{seed}-{number}")
        self.prefix = f"{seed}-{number}"
        self.at = number % len(replicas.running)  # the replica it asks
        self.answers: collections.deque = collections.deque(maxlen=100)  # (when, replica, what), the last ones, to be shown when it fails
        self.sessions: list[Session] = []
        self.counts: collections.Counter = collections.Counter()
        self.problems: list[str] = []

    def run(self) -> None:
        while not self.over.is_set():
            kind = "lobby" if self.number % 8 == 0 else "forgets" if self.random.random() < 0.25 else "keeps"
            session = Session(f"{self.prefix}-{len(self.sessions)}", kind)
            self.sessions.append(session)
            try:
                self.play(session)
            except Unanswered as error:
                self.problems.append(f"unanswered: {error}: {list(self.answers)}")
            except Exception as error:  # noqa: BLE001 - a thread that ends silently would hide it
                self.problems.append(f"{session.id}: {error!r}")

    # --- one session
    def play(self, session: Session) -> None:
        if not self.allocate(session):
            return
        if session.kind == "forgets":
            session.held.append((session.server, session.told, None))
            return
        if not self.confirm(session):
            return
        self.rest(self.random.uniform(0.1, 1.0))
        self.release(session)

    def wish(self, session: Session) -> dict:
        metadata = {"labels": {"session": session.id}}
        if session.kind != "lobby":
            return {"spec": {"selectors": [{"matchLabels": {"agones.dev/fleet": "simple"}}], "metadata": metadata}}
        return {"spec": {"selectors": [{"matchLabels": {"agones.dev/fleet": "lobby"}, "gameServerState": "Allocated",
                                        "counters": {"sessions": {"minAvailable": 1}}}],
                         "counters": {"sessions": {"action": "Increment", "amount": 1}}}}

    def allocate(self, session: Session) -> bool:
        fields = {"Idempotency-Key": session.id, "Agones-Alloc-Claim-TTL": f"{CLAIM_SECONDS}s", "Prefer": f"wait={WAIT_SECONDS}"}
        begun = time.time()
        while time.time() < begun + 90:
            leaves = self.random.uniform(0.005, 0.2) if self.random.random() < 0.1 else 0
            answer = self.ask("POST", PATH, self.wish(session), fields, leaves)
            if answer is None:
                continue
            code, body, head = answer
            status = body.get("status")
            state = status.get("state", "") if isinstance(status, dict) else f"error {code}"
            self.counts[state] += 1
            if state == "Allocated":
                self.was_told(session, status["gameServerName"])
                self.counts["repeated"] += "Agones-Alloc-Repeated" in head
                return True
            if 400 <= code < 499:
                raise AssertionError(f"refused: {code} {body}")
            self.rest(0.02)
        raise Unanswered(f"no server for {session.id} in 90 s")

    def was_told(self, session: Session, server: str) -> None:
        session.server, session.told = server, time.time()
        session.expires = session.told + CLAIM_SECONDS  # at the latest: it counts from the write

    def confirm(self, session: Session) -> bool:
        session.confirm_asked = time.time()
        while time.time() < session.confirm_asked + 90:
            answer = self.ask("POST", self.claim_path(session, ":confirm"))
            if answer is None:
                continue
            code, body, _ = answer
            self.counts[f"confirm {code}"] += 1
            if code == 200:
                session.confirmed = time.time()
                # Two replicas that were asked at once: the claim that counts is the one that is confirmed.
                if body["gameServerName"] != session.server:
                    self.counts["moved"] += 1
                    session.held.append((session.server, session.told, session.confirmed))
                    session.server, session.told = body["gameServerName"], session.confirmed
                return True
            # Perhaps this replica has not seen it yet; it is over when its time is.
            if code == 404 and time.time() > session.expires:
                session.was_late = True
                session.held.append((session.server, session.told, None))
                return False
            self.rest(0.05)
        raise Unanswered(f"{session.id} is neither confirmed nor over after 90 s")

    def release(self, session: Session) -> None:
        session.release_asked = time.time()
        session.held.append((session.server, session.told, session.release_asked))
        to = "shutdown" if session.kind == "keeps" and self.random.random() < 0.15 else "ready"
        missing: set[int] = set()
        missing_since = 0.0
        while time.time() < session.release_asked + 90:
            at = self.at
            answer = self.ask("POST", self.claim_path(session, ":release", f"&to={to}"))
            if answer is None or answer[0] != 404:
                missing.clear()
                missing_since = 0
            if answer is None:
                continue
            code = answer[0]
            self.counts[f"release {code}"] += 1
            if code == 200:
                session.released = time.time()
                return
            if code == 404:
                # An earlier try may have done it; or this replica has not heard of the claim yet: all are asked, for a while.
                missing_since = missing_since or time.time()
                missing.add(at)
                if len(missing) == len(self.replicas.running) and time.time() > missing_since + KNOWN_BY_ALL_SECONDS:
                    return
                self.at = (self.at + 1) % len(self.replicas.running)
            self.rest(0.05)
        raise Unanswered(f"{session.id} is not released after 90 s")

    # --- its tools
    def claim_path(self, session: Session, verb: str, more: str = "") -> str:
        return f"/v1/claims/{urllib.parse.quote(session.id)}{verb}?namespace=default{more}"

    def ask(self, method: str, path: str, body: dict | None = None, fields: dict | None = None, leaves: float = 0):
        """Nothing: no answer. Then the next replica is asked, at times the same again."""
        asked = time.time()
        what = f"{method} {path.rpartition('/')[2]}"
        try:
            answer = self.replicas.ask(self.at, method, path, body, fields, leaves)
            told = answer[1].get("status")
            self.answers.append((f"{asked:.2f}", f"{time.time() - asked:.2f} s", self.at, what, answer[0],
                                 told.get("state") if isinstance(told, dict) else answer[1].get("message")))
            return answer
        except OSError as error:
            self.answers.append((f"{asked:.2f}", f"{time.time() - asked:.2f} s", self.at, what, repr(error)))
            self.counts["lost answers"] += 1
            if self.random.random() < 0.5:
                self.at = (self.at + 1) % len(self.replicas.running)
            self.rest(self.random.uniform(0.01, 0.1))
            return None

    def rest(self, seconds: float) -> None:
        time.sleep(seconds)
