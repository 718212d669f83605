"""Installs the CustomResourceDefinitions of tests/kube/crds; each file is named after its object."""
import pathlib
import typing

from . import ClusterError
from .client import Client
from .say import say

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "crds"
PATH = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def names() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def install(client: Client, wait_for: typing.Callable[[str, typing.Callable[[], bool]], None]) -> None:
    """Creates or changes them, and waits until every resource is served."""
    say(f"installing {len(names())} CustomResourceDefinitions")
    for name in names():
        path = f"{PATH}/{name}?fieldManager=tools-cluster&force=true&fieldValidation=Strict"
        status, answer = client.ask("PATCH", path, (FOLDER / f"{name}.yaml").read_bytes(),
                                    "application/apply-patch+yaml")
        if status not in (200, 201):
            message = answer.get("message") if isinstance(answer, dict) else answer
            raise ClusterError(f"tests/kube/crds/{name}.yaml is refused: {status} {message}")
    for name in names():
        wait_for(f"{name} is established", lambda: established(client, name))
        plural, _, group = name.partition(".")
        wait_for(f"{name} is served", lambda: client.ask("GET", f"/apis/{group}/v1/{plural}")[0] == 200)


def established(client: Client, name: str) -> bool:
    code, answer = client.ask("GET", f"{PATH}/{name}")
    if code != 200:
        return False
    conditions = {c["type"]: c["status"] for c in answer.get("status", {}).get("conditions") or []}
    return conditions.get("Established") == "True"
