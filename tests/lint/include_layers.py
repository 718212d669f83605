#!/usr/bin/env python3
"""Checks that each folder of the library includes only what its layer may."""
import re
import sys

import source_tree

# Folder: (folders of ours it may include besides its own and the root, families of third parties).
LAYERS = {
    "": (set(), {"core"}),
    "detail": (set(), {"core"}),
    "model": ({"detail"}, {"core"}),
    "select": ({"detail", "model"}, {"core"}),
    "cache": ({"detail", "model", "select"}, {"core"}),
    "flow": ({"detail", "model", "select", "cache"}, {"core"}),
    "port": ({"detail", "model"}, {"core", "asio"}),
    "async": ({"detail", "model", "select", "cache", "flow", "port"}, {"core", "asio"}),
    "embedded": ({"detail", "model", "select", "cache", "flow", "port", "async"}, {"core", "asio"}),
    "json": ({"detail", "model"}, {"core", "json"}),
    "yaml": ({"detail", "model", "json", "embedded"}, {"core", "json", "yaml"}),
    "beast": ({"detail", "model", "select", "cache", "flow", "port", "async", "embedded", "json", "yaml"},
              {"core", "asio", "json", "beast", "ssl", "process"}),
    # A library of its own, for the sake of what it links.
    "nats": ({"detail", "model", "port", "async", "json"}, {"core", "asio", "json", "nats"}),
    # The same.
    "grpc": ({"detail", "model", "select", "cache", "flow", "port", "async", "json", "beast"},
             {"core", "asio", "json", "ssl", "grpc"}),
}
# Ports without Asio in them: the pure layers may name these interfaces.
PURE_PORTS = {"port/random.hpp"}
PURE_LAYERS = {"select", "cache", "flow"}

FAMILIES = [
    (re.compile(r"boost/asio/ssl|openssl/"), "ssl"),
    (re.compile(r"boost/asio"), "asio"),
    (re.compile(r"boost/beast"), "beast"),
    (re.compile(r"boost/json"), "json"),
    (re.compile(r"yaml-cpp/"), "yaml"),
    (re.compile(r"nats/"), "nats"),
    # With the messages that are generated, and what those stand on.
    (re.compile(r"grpcpp/|grpc/|google/protobuf/|agones_alloc_proto/"), "grpc"),
    # POSIX: waiting for a program that was started.
    (re.compile(r"sys/wait\.h$"), "process"),
    # Header-only parts of Boost that cost little.
    (re.compile(r"boost/(system|core|container|container_hash|unordered|assert|config|throw_exception|current_function"
                r"|intrusive|smart_ptr|charconv|mp11|static_string|variant2|utility|functional)\b"), "core"),
]
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)


def layer_of(path: str) -> str:
    """Folder of an include name or path below agones_alloc/, the implementation counted with its header."""
    parts = path.split("/")
    if parts[0] == "impl":
        parts = parts[1:]
    return parts[0] if len(parts) > 1 else ""


def check(name: str, text: str) -> list[str]:
    problems = []
    layer = layer_of(name)
    if layer not in LAYERS:
        return [f"{name}: folder '{layer}' is in no layer; see include_layers.py"]
    ours, families = LAYERS[layer]
    for included in INCLUDE.findall(text):
        if included.startswith("agones_alloc/"):
            target = included.removeprefix("agones_alloc/")
            to = layer_of(target)
            if to in ("", layer) or to in ours or (layer in PURE_LAYERS and target in PURE_PORTS):
                continue
            problems.append(f"{name}: '{layer}' may not include {included}")
        elif "/" in included:
            family = next((kind for pattern, kind in FAMILIES if pattern.match(included)), None)
            if family is None and included.startswith(("sys/", "bits/")):
                problems.append(f"{name}: {included} is not portable")
            elif family not in families:
                problems.append(f"{name}: '{layer or 'root'}' may not include {included}")
        elif included.endswith(".hpp") or included.endswith(".ipp"):
            problems.append(f"{name}: include {included} by its full name, <agones_alloc/...>")
    return problems


def main() -> int:
    tree = source_tree.root()
    base = tree / "include/agones_alloc"
    listed = source_tree.files(tree, ["include/agones_alloc"], {".hpp", ".ipp"})
    problems = [p for f in listed for p in check(str(f.relative_to(base)), f.read_text())]
    # What is shown to users uses the public headers only.
    for path in source_tree.files(tree, ["examples", "tests", "benchmarks"], {".cpp", ".hpp"}):
        for included in INCLUDE.findall(path.read_text()):
            if included.startswith("agones_alloc/impl/"):
                problems.append(f"{path.relative_to(tree)}: {included} is not a public header")
    return source_tree.report(f"include layers of {len(listed)} files", problems)


if __name__ == "__main__":
    sys.exit(main())
