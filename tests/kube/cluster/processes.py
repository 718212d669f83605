"""Processes that outlive the one who starts them, found again by a pid file that a reused pid cannot fool."""
import json
import os
import pathlib
import signal
import subprocess
import time

from . import ClusterError


def start_time(pid: int) -> str | None:
    """When the process started, in the kernel's ticks; nothing if it does not run (a zombie does not)."""
    try:
        text = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = text[text.rindex(")") + 2:].split()  # the name before may hold spaces
    return None if fields[0] in "ZX" else fields[19]


class Process:
    """A program with a pid file and a log in a folder. Not thread-safe; the cluster's lock is around it."""

    def __init__(self, folder: pathlib.Path, name: str):
        self.name = name
        self.pid_file = folder / f"{name}.pid"
        self.log = folder / "logs" / f"{name}.log"
        self.child_: subprocess.Popen | None = None

    def pid(self) -> int | None:
        """Of the running (or paused) process."""
        if self.child_ is not None:
            self.child_.poll()  # ours to bury
        try:
            record = json.loads(self.pid_file.read_text())
        except (FileNotFoundError, ValueError):
            return None
        return record["pid"] if start_time(record["pid"]) == record["start_time"] else None

    def paused(self) -> bool:
        pid = self.pid()
        try:
            text = "" if pid is None else pathlib.Path(f"/proc/{pid}/stat").read_text()
            return text.rpartition(")")[2].split()[:1] == ["T"]
        except (FileNotFoundError, ProcessLookupError):
            return False

    def start(self, command: list[str]) -> None:
        if self.pid() is not None:
            return
        self.log.parent.mkdir(parents=True, exist_ok=True)

        def record() -> None:
            # In the child, before the program runs: no moment in which it runs unrecorded.
            text = json.dumps({"pid": os.getpid(), "start_time": start_time(os.getpid())})
            half = self.pid_file.with_suffix(".new")
            half.write_text(text)
            half.rename(self.pid_file)

        # A session of its own: a terminal's or a test runner's signals do not reach it.
        with self.log.open("ab") as log:
            try:
                self.child_ = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/",
                                               start_new_session=True, preexec_fn=record)
            except (OSError, subprocess.SubprocessError) as error:
                raise ClusterError(f"{self.name} cannot be started: {error}") from error

    def send(self, number: signal.Signals) -> bool:
        """False: it does not run. It may end at any moment, so nobody looks first whether it does."""
        pid = self.pid()
        if pid is None:
            return False
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            return False
        return True

    def pause(self) -> None:
        if not self.send(signal.SIGSTOP):
            raise ClusterError(f"{self.name} does not run")
        # The signal is on its way; a caller counts on silence from here on.
        deadline = time.monotonic() + 5
        while not self.paused() and self.pid() is not None and time.monotonic() < deadline:
            time.sleep(0.005)

    def resume(self) -> None:
        if not self.send(signal.SIGCONT):
            raise ClusterError(f"{self.name} does not run")

    def stop(self, patience: float) -> None:
        """SIGTERM, and SIGKILL after `patience` seconds. Nothing if it does not run."""
        pid = self.pid()
        if pid is not None:
            if patience > 0:
                self.send(signal.SIGTERM)
                self.send(signal.SIGCONT)
                self.wait_gone(patience)
            self.send(signal.SIGKILL)
            if not self.wait_gone(10):
                raise ClusterError(f"{self.name} (pid {pid}) does not end")
        self.pid_file.unlink(missing_ok=True)

    def wait_gone(self, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while self.pid() is not None:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.02)
        return True

    def last_lines(self, number: int = 30) -> str:
        try:
            with self.log.open("rb") as log:
                log.seek(max(0, self.log.stat().st_size - 20000))
                return "\n".join(log.read().decode(errors="replace").splitlines()[-number:])
        except FileNotFoundError:
            return "(no log)"
