"""Progress lines, on standard error: standard output is for what a caller reads."""
import sys


def say(text: str) -> None:
    print(f"==> {text}", file=sys.stderr, flush=True)
