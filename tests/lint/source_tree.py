"""Which files the lint scripts look at, and how they report."""
import pathlib
import sys

CODE = {".hpp", ".ipp", ".cpp"}
TEXT = CODE | {".py", ".sh", ".md", ".build", ".txt", ".yaml", ".yml", ".json", ".in", ""}


def root() -> pathlib.Path:
    """The tree to check: the first argument, else this repository."""
    return pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2]


def files(tree: pathlib.Path, folders: list[str], kinds: set[str]) -> list[pathlib.Path]:
    """Files below the folders of the tree, by extension, sorted; build folders and Git's own are left out."""
    found = []
    for folder in folders:
        for path in (tree / folder).rglob("*"):
            parts = path.relative_to(tree).parts
            if parts[0] == ".git" or parts[0] == "build" or parts[0].startswith("build-") or "__pycache__" in parts:
                continue
            if path.is_file() and path.suffix in kinds:
                found.append(path)
    return sorted(set(found))


def report(title: str, problems: list[str], notes: list[str] = ()) -> int:
    """Prints and gives the exit code."""
    for line in notes:
        print(f"note: {line}")
    for line in problems:
        print(f"PROBLEM: {line}")
    print(f"{title}: {len(problems)} problems")
    return 1 if problems else 0
