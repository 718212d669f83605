"""What goes wrong during a run."""
import http.client
import random
import signal
import threading
import time
import typing

import kit
from serving import Server

from .matchmakers import Replicas, REQUEST_SECONDS


class Replica(Server):
    """`stopped`: it does not run for a while, so nobody can expect its answer."""
    stopped = False


def start(index: int, number: int) -> Replica:
    return Replica(f"--request-timeout={REQUEST_SECONDS}s", "--no-events", "--no-node-ranking", f"--replica-share={index}/{number}",
                   "--log-level=warning")


class Faults:
    """One after the other, from a seed."""

    def __init__(self, seed: int, replicas: Replicas):
        self.random = random.Random(seed)
        self.replicas = replicas
        self.done: list[str] = []

    def run(self, seconds: float) -> None:
        """Each kind once, then at random, until the time is over."""
        deadline = time.monotonic() + seconds
        kinds = [self.pause_api_server, self.kill_replica, self.kill_api_server, self.pause_replica]
        following = iter(kinds)
        while time.monotonic() < deadline:
            time.sleep(self.random.uniform(2, 4))
            one = next(following, None) or self.random.choice(kinds)
            self.happens(one)

    def happens(self, fault: typing.Callable[[], None]) -> None:
        began = time.monotonic()
        fault()
        self.done.append(f"{fault.__name__} {time.monotonic() - began:.1f} s")

    def pause_api_server(self) -> None:
        kit.tool("pause", "apiserver")
        time.sleep(self.random.uniform(0.5, 4))
        kit.tool("resume", "apiserver")

    def kill_api_server(self) -> None:
        kit.tool("kill", "apiserver")
        time.sleep(self.random.uniform(0, 2))
        kit.tool("start", "apiserver")

    def kill_replica(self) -> None:
        index = self.random.randrange(len(self.replicas.running))
        old = self.replicas.running[index]
        self.replicas.running[index] = None
        old.kill()
        old.process.wait()
        time.sleep(self.random.uniform(0, 2))
        self.replicas.running[index] = start(index, len(self.replicas.running))

    def pause_replica(self) -> None:
        one = self.random.choice(self.replicas.running)
        one.stopped = True
        one.process.send_signal(signal.SIGSTOP)
        time.sleep(self.random.uniform(0.5, 6))
        one.process.send_signal(signal.SIGCONT)
        # What was asked meanwhile may take its time from here on.
        threading.Timer(20, lambda: setattr(one, "stopped", False)).start()


class Keeper(threading.Thread):
    """In place of Agones' controllers: a server that is shut down is deleted, and another one made."""

    def __init__(self, wanted: int):
        super().__init__(daemon=True)
        self.wanted, self.made, self.over = wanted, 0, threading.Event()

    def run(self) -> None:
        while not self.over.is_set():
            try:
                self.replace()
            except (OSError, ValueError, http.client.HTTPException):
                pass  # the API server is away
            time.sleep(0.3)

    def replace(self) -> None:
        code, answer = kit.client(timeout=5).ask("GET", kit.SERVERS + "?labelSelector=agones.dev/fleet=simple")
        if code != 200:
            return
        over = [one["metadata"]["name"] for one in answer["items"] if one["status"]["state"] == "Shutdown"]
        for name in over:
            kit.client(timeout=5).ask("DELETE", f"{kit.SERVERS}/{name}")
        for _ in range(self.wanted - (len(answer["items"]) - len(over))):
            self.made += 1
            kit.client(timeout=5).ask("POST", kit.SERVERS, kit.game_server(f"new-{self.made:04d}", nodeName=f"node-{self.made % 7}"))
