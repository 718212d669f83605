"""Kubeconfig files, as JSON, which is YAML too."""
import base64
import json
import os
import pathlib


def write(path: pathlib.Path, server: str, authority: pathlib.Path, user: dict) -> None:
    """One cluster, one user, one context, all named after the file."""
    name = path.name.removesuffix(".kubeconfig")
    content = {
        "apiVersion": "v1", "kind": "Config", "current-context": name,
        "clusters": [{"name": name, "cluster": {"server": server, "certificate-authority-data": encoded(authority)}}],
        "users": [{"name": name, "user": user}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name, "namespace": "default"}}],
    }
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(descriptor, "w", encoding="utf-8") as file:
        json.dump(content, file, indent=2)
        file.write("\n")


def encoded(path: pathlib.Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()
