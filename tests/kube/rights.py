"""What a ServiceAccount may do, as the API server says it and as the documents list it."""
import re

from kit import ROOT, tool
from secure_serving import NAMESPACE


def rules(account: str, namespace: str) -> set[tuple[str, str, str]]:
    """(resource, names, verb) that `kubectl auth can-i --list` shows for a ServiceAccount, and (URL, "", verb)."""
    text = tool("kubectl", "auth", "can-i", "--list", f"--as=system:serviceaccount:{NAMESPACE}:{account}", "-n", namespace)
    found = set()
    for line in text.splitlines()[1:]:
        resource, url, names, verbs = re.fullmatch(r"(\S*)\s+\[(.*?)\]\s+\[(.*?)\]\s+\[(.*?)\]\s*", line).groups()
        found |= {(resource or url, names, verb) for verb in verbs.split()}
    return found


def documented(heading: str = "Permissions", page: str = "docs/kubernetes.md") -> set[tuple[str, str, str]]:
    """The same, from a table of a document."""
    text = (ROOT / page).read_text().partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    found = set()
    for group, resource, verbs in re.findall(r"^\| (`[\w.]+`|core) \| (.+?) \| (.+?) \|", text, re.M):
        words = re.findall(r"`([^`]+)`", resource)
        name = words[0] if group == "core" else f"{words[0]}.{group.strip('`')}"
        found |= {(name, " ".join(words[1:2]), verb) for verb in re.findall(r"`(\w+)`", verbs)}
    return found
