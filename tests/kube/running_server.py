"""The built server as a process of its own, with its log."""
import contextlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

import kit

PROGRAM = sys.argv[1] if len(sys.argv) > 1 else "build/examples/agones-alloc-server"


class RunningServer:
    """One agones-alloc-server on a port of its own; ends with the block. A subclass says how it is asked."""

    def __init__(self, *arguments: str, environment: dict[str, str] | None = None):
        self.process = subprocess.Popen([PROGRAM, "--listen=127.0.0.1:0", *arguments], text=True, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, env={**os.environ, **(environment or {})})
        self.killed = False
        self.lines: list[str] = []
        self.log: list[str] = []
        self.readers = [threading.Thread(target=lambda: self.log.extend(self.process.stderr), daemon=True)]
        self.readers[0].start()
        self.port = 0
        for line in self.process.stdout:
            self.lines.append(line)
            if found := re.search(r"listening on https?://127\.0\.0\.1:(\d+)", line):
                self.port = int(found[1])
            if "curl" in line:
                break
        kit.expect(self.port, self.lines, self.log)
        self.readers.append(threading.Thread(target=lambda: self.lines.extend(self.process.stdout), daemon=True))
        self.readers[1].start()

    def __enter__(self):
        return self

    def __exit__(self, *_) -> None:
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGCONT)
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise
        finally:
            for reader in self.readers:
                reader.join(5)

    def kill(self) -> None:
        """As when its machine fails. Its callers must bear it: see Results.cut."""
        self.killed = True
        self.process.kill()

    def get(self, path: str) -> tuple[int, str]:
        raise NotImplementedError

    def wait_ready(self, seconds: float = 60) -> None:
        deadline = time.monotonic() + seconds
        while self.get("/ready")[0] != 200:
            kit.expect(time.monotonic() < deadline, "not ready", self.get("/ready?full=1"), self.log)
            time.sleep(0.02)

    def wait_log(self, text: str, seconds: float = 30) -> None:
        """Until a line holds the text."""
        deadline = time.monotonic() + seconds
        while not any(text in line for line in list(self.log)):
            kit.expect(time.monotonic() < deadline, f"no line with: {text}", self.log)
            time.sleep(0.05)

    def cpu_seconds(self) -> float:
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def rests(*servers: RunningServer) -> None:
    """With nothing to do they do nothing: no busy loop is left behind."""
    before = [one.cpu_seconds() for one in servers]
    time.sleep(2)
    used = [one.cpu_seconds() - cpu for one, cpu in zip(servers, before)]
    kit.expect(max(used) < 1, "spins", used)
