"""What Fleets say of themselves on a real API server, next to what is counted from their game servers."""
import json
import random
import time
import typing

import kit
from kit import case, client, expect, patch, same, tool
from serving import Caller, Server, fill, stored

FLEETS = "/apis/agones.dev/v1/namespaces/default/fleets"
# What the directory calls a Fleet's own numbers, and what its status does.
OWN = {"totalGameservers": "replicas", "readyGameservers": "readyReplicas", "reservedGameservers": "reservedReplicas",
       "allocatedGameservers": "allocatedReplicas"}


def made(name: str, replicas: int) -> None:
    same(client().ask("POST", FLEETS, {
        "apiVersion": "agones.dev/v1", "kind": "Fleet", "metadata": {"name": name, "labels": {"tier": "gold"}},
        "spec": {"replicas": replicas, "template": {"spec": {"template": {"spec": {"containers": [{"name": "game", "image": "x"}]}}}}},
    })[0], 201)


def report(name: str, *numbers: int) -> None:
    """As Agones' controller writes it."""
    same(patch(f"{name}/status", {"status": dict(zip(OWN.values(), numbers))}, FLEETS)[0], 200)


def rows(server: Server) -> dict[str, dict]:
    code, text = server.get("/v1/fleets")
    same(code, 200)
    return {row["fleetName"]: row for row in json.loads(text)["fleets"]}


def own(row: dict | None) -> list[int | None]:
    """Desired, and the status in the order of OWN; None where it is not told."""
    return [row.get(name) if row else None for name in ("desiredGameservers", *OWN)]


def counted(row: dict) -> list[int]:
    return [row["recount"][name] for name in OWN]


def becomes(look: typing.Callable[[], typing.Any], wanted: typing.Any, seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while (found := look()) != wanted:
        expect(time.monotonic() < deadline, f"found {found!r}", f"wanted {wanted!r}")
        time.sleep(0.05)


@case("a Fleet's own status and the count of its servers stand side by side, and each moves by its own changes")
def _():
    fill(4)
    made("simple", 5)
    report("simple", 7, 6, 0, 1)
    made("empty", 0)
    with Server() as server:
        server.wait_ready()
        becomes(lambda: own(rows(server).get("simple")), [5, 7, 6, 0, 1])
        same(counted(rows(server)["simple"]), [4, 4, 0, 0])
        same((own(rows(server)["empty"])[0], counted(rows(server)["empty"])), (0, [0, 0, 0, 0]))
        code, answer = Caller(server).allocate({"selectors": [{"matchLabels": {"agones.dev/fleet": "simple"}}]})
        same((code, answer["status"]["state"]), (201, "Allocated"))
        same(counted(rows(server)["simple"]), [4, 3, 0, 1])  # at once: it was counted before it was answered
        same(own(rows(server)["simple"]), [5, 7, 6, 0, 1])
        report("simple", 8, 5, 1, 2)
        becomes(lambda: own(rows(server)["simple"]), [5, 8, 5, 1, 2])
        same(counted(rows(server)["simple"]), [4, 3, 0, 1])
        tool("kubectl", "scale", "fleet", "simple", "--replicas=9")
        becomes(lambda: own(rows(server)["simple"]), [9, 8, 5, 1, 2])
        kit.created("simple-late", "Reserved")
        becomes(lambda: counted(rows(server)["simple"]), [5, 3, 1, 1])
        tool("kubectl", "delete", "fleet", "simple", "empty")
        becomes(lambda: own(rows(server).get("simple")), [None] * 5)
        same((counted(rows(server)["simple"]), rows(server)["simple"]["labels"]), ([5, 3, 1, 1], {}))
        becomes(lambda: sorted(rows(server)), ["simple"])
        fill(0)
        becomes(lambda: rows(server), {})


@case("many Fleets that come, change and go one by one are told as the API server has them")
def _():
    draw = random.Random(7)
    there: set[str] = set()
    with Server() as server:
        server.wait_ready()
        for number in range(150):
            name = f"fleet-{draw.randrange(25)}"
            if name not in there:
                made(name, number)
                there.add(name)
            elif draw.randrange(4) == 0:
                same(client().ask("DELETE", f"{FLEETS}/{name}")[0], 200)
                there.remove(name)
            else:
                report(name, number, number // 2, number // 3, number // 4)
        agree(server)
        # What a watch has missed comes with the next one, or with the next list.
        tool("stop", "apiserver")
        tool("start", "apiserver")
        gone = sorted(there)[0]
        same(client().ask("DELETE", f"{FLEETS}/{gone}")[0], 200)
        report(sorted(there)[1], 1000, 900, 60, 40)
        made("late", 3)
        agree(server)


def agree(server: Server) -> None:
    """Until every Fleet's row says what the API server says of it, and the counts are those of etcd's game servers."""
    def wanted() -> dict[str, list[int | None]]:
        code, answer = client().ask("GET", FLEETS)
        same(code, 200)
        return {one["metadata"]["name"]: [one["spec"]["replicas"], *(one.get("status", {}).get(name, 0) for name in OWN.values())]
                for one in answer["items"]}

    expect(len(wanted()) > 5, wanted())
    becomes(lambda: {name: own(row) for name, row in rows(server).items()}, wanted())
    same({name: counted(row)[0] for name, row in rows(server).items()},
         {name: sum(one["metadata"]["labels"]["agones.dev/fleet"] == name for one in stored().values()) for name in wanted()})
