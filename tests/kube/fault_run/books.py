"""Checks etcd's history of the game servers against the callers' histories: nothing double, nothing lost."""
import collections

from .history import History, claims_of
from .matchmakers import Session

LOBBY = "lobby"
CLOCK = 0.05  # seconds: rounding of what is written and read


def check(history: History, sessions: list[Session]) -> tuple[list[str], collections.Counter]:
    """What is wrong, and counts of what there was."""
    by_id = {session.id: session for session in sessions}
    counts: collections.Counter = collections.Counter()
    problems = [f"no history: {history.problem}"] if history.problem else []
    problems += _check_writes(history, by_id, counts)
    problems += _check_answers(history, sessions)
    problems += _check_intervals(history, sessions)
    return problems, counts


def _check_writes(history: History, by_id: dict[str, Session], counts: collections.Counter) -> list[str]:
    problems = []
    before: dict[str, dict] = {}
    holders: dict[str, set[str]] = collections.defaultdict(set)  # servers that have a claim of that id now
    for write in history.writes:
        old, new = before.get(write.name), write.server
        had, has = claims_of(old), claims_of(new)
        what = f"{write.name} at revision {write.revision}"
        lobby = write.name.startswith(LOBBY)
        for one in has.keys() - had.keys():
            counts["claims made"] += 1
            holders[one].add(write.name)
            if len(holders[one]) > 1:
                counts["twins"] += 1
            if not lobby and (old is None or old["status"]["state"] != "Ready"):
                problems.append(f"{what}: claimed by {one} while {old and old['status']['state']} with {list(had)}")
        for one in had.keys() - has.keys():
            holders[one].discard(write.name)
            session = by_id.get(one)
            asked = session is not None and session.release_asked and session.release_asked <= write.seen
            late = had[one].expires is not None and had[one].expires <= write.seen + CLOCK
            counts["claims expired" if late and not asked else "claims released"] += 1
            if new is not None and not asked and not late:
                problems.append(f"{what}: the claim of {one} is gone, neither released nor over: {had[one]} {session}")
        for one in had.keys() & has.keys():
            if had[one].expires is None and has[one].expires is not None:
                problems.append(f"{what}: the confirmed claim of {one} is to expire")
        if new is not None and not lobby:
            state = new["status"]["state"]
            if len(has) > 1:
                problems.append(f"{what}: held by two: {list(has)}")
            if (state == "Allocated") != bool(has):
                problems.append(f"{what}: {state} with claims of {list(has)}")
        if new is not None and lobby and new["status"]["counters"]["sessions"]["count"] != len(has):
            problems.append(f"{what}: counts {new['status']['counters']['sessions']['count']} of {len(has)} sessions")
        if new is None and old is not None and old["status"]["state"] not in ("Shutdown",) and not lobby and had:
            problems.append(f"{what}: deleted while {old['status']['state']} with claims of {list(had)}")
        before[write.name] = new
    return problems


def _check_answers(history: History, sessions: list[Session]) -> list[str]:
    """What somebody was told stands in etcd, or stood there."""
    made, confirmed = set(), set()
    for write in history.writes:
        for one in claims_of(write.server).values():
            made.add((write.name, one.id))
            if one.expires is None:
                confirmed.add((write.name, one.id))
    problems = []
    for session in sessions:
        for server, _, _ in session.held:
            if (server, session.id) not in made:
                problems.append(f"{session.id} was told {server}, which never had its claim")
        if session.confirmed and (session.server, session.id) not in confirmed:
            problems.append(f"{session.id} was told that {server} is confirmed, which it never was")
    return problems


def _check_intervals(history: History, sessions: list[Session]) -> list[str]:
    """By what callers were told: no server is two sessions' at a time."""
    expiries = collections.defaultdict(list)
    for write in history.writes:
        for one in claims_of(write.server).values():
            if one.expires is not None:
                expiries[write.name, one.id].append(one.expires)
    spans = collections.defaultdict(list)
    for session in sessions:
        if session.kind != "lobby":
            for server, begin, end in session.held:
                if end is None:
                    end = min((t for t in expiries[server, session.id] if t >= begin), default=begin)
                if begin < end:  # else the answer came when its claim was over: its replica had been stopped meanwhile
                    spans[server].append((begin, end, session.id))
    problems = []
    for server, of_it in spans.items():
        of_it.sort()
        for (_, end, one), (begin, _, other) in zip(of_it, of_it[1:]):
            if begin < end - CLOCK:
                problems.append(f"{server}: given to {other} {end - begin:.3f} s before {one} is over")
    return problems


def check_rest(servers: dict[str, dict], wanted: int) -> list[str]:
    """After all sessions: every server is free again, with nothing left of them."""
    problems = []
    free = [name for name, one in servers.items() if one["status"]["state"] == "Ready"]
    if len(free) != wanted:
        problems.append(f"lost: {wanted - len(free)} of {wanted} servers are not Ready")
    for name, one in servers.items():
        if claims_of(one):
            problems.append(f"lost: {name} is {one['status']['state']} with claims {claims_of(one)}")
        elif not name.startswith(LOBBY) and "session" in one["metadata"].get("labels", {}):
            problems.append(f"{name} has the label of a session that is over")
    return problems
