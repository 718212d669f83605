"""One at a time: a file lock that goes away with its process, however that ends."""
import contextlib
import fcntl
import os
import pathlib
import typing

from . import say


@contextlib.contextmanager
def held(path: pathlib.Path, waiting_for: str) -> typing.Iterator[None]:
    """Holds the lock; says so when it has to wait for another process."""
    path.parent.mkdir(parents=True, exist_ok=True)
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                say.say(f"waiting for {waiting_for}")
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            # Whoever held it may have removed the file: then this is a lock on nothing.
            try:
                same = os.fstat(descriptor).st_ino == os.stat(path).st_ino
            except FileNotFoundError:
                same = False
            if same:
                yield
                return
        finally:
            os.close(descriptor)
