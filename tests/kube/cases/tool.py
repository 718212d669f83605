"""tools/cluster itself: building, starting, what it prints."""
import json
import pathlib
import subprocess
import sys
import tempfile

import kit
from cluster import ClusterError
from cluster.instance import Cluster
from cluster.processes import Process
from kit import case, expect, pids, same, tool


@case("help names the commands, and an unknown command or target is refused")
def _():
    text = tool("--help")
    for word in ("up", "down", "status", "env", "kubectl", "restart", "pause", "resume", "kill", "compact"):
        expect(f"    {word} " in text, word, text)
    expect("invalid choice" in tool("fly", good=False))
    expect("invalid choice" in tool("pause", "scheduler", good=False))
    expect("no cluster name" in tool("--name", "../x", "up", good=False))


@case("a command on a cluster that does not exist says how to start it")
def _():
    for command in (["kubectl", "get", "gs"], ["env"], ["restart", "etcd"], ["compact"]):
        expect("tools/cluster up --name nobody starts it" in tool("--name", "nobody", *command, good=False))
    same(tool("status").strip(), "no cluster")


@case("a build that cannot reach its modules says so and leaves nothing behind")
def _():
    with tempfile.TemporaryDirectory() as folder:
        cut_off = {"XDG_CACHE_HOME": folder, "GOPROXY": "off", "GOMODCACHE": f"{folder}/modules", "PIP_NO_INDEX": "1",
                   "GOFLAGS": "-modcacherw"}
        expect("cannot be" in tool("build", good=False, environment=cut_off))
        same([p.name for p in pathlib.Path(folder, "agones_alloc/kube").iterdir()], [".lock"])


@case("a process that ends while it is being stopped is stopped, and cannot be paused")
def _():
    with tempfile.TemporaryDirectory() as folder:
        one = Process(pathlib.Path(folder), "sleeper")
        for _ in range(100):
            one.start(["sleep", "600"])
            one.stop(10)
            expect(one.pid() is None and not one.pid_file.exists(), "it is still there")
        for gone in (one.pause, one.resume):
            try:
                gone()
            except ClusterError as error:
                same(str(error), "sleeper does not run")
            else:
                expect(False, f"{gone} of nothing")
        one.stop(10)


@case("up starts a cluster and prints its kubeconfig")
def _():
    path = pathlib.Path(tool("up").strip())
    same(path, Cluster("default").admin_kubeconfig())
    same(path.stat().st_mode & 0o777, 0o600)
    expect(all(pids()), pids())
    expect(" running" in tool("status", "--name", "default"))


@case("what is built is found again without Go and without a network")
def _():
    tool("build", environment={"PATH": "/usr/bin:/bin", "GOPROXY": "off", "PIP_NO_INDEX": "1"})


@case("up on a running cluster changes nothing and prints the same")
def _():
    before = pids()
    same(tool("up").strip(), str(Cluster("default").admin_kubeconfig()))
    same(pids(), before)
    expect("other flags" in tool("up", "--audit-log", good=False))


@case("both kubeconfigs are an administrator's, by certificate and by token")
def _():
    for name, user in (("admin", "admin"), ("admin-token", "admin-token")):
        config = f"--kubeconfig={Cluster('default').folder}/{name}.kubeconfig"
        answer = json.loads(tool("kubectl", config, "auth", "whoami", "-o", "json"))["status"]["userInfo"]
        same(answer["username"], user)
        expect("system:masters" in answer["groups"], answer)
        same(tool("kubectl", config, "auth", "can-i", "*", "*").strip(), "yes")


@case("env points a shell at it")
def _():
    with_env = f'eval "$({sys.executable} {kit.ROOT}/tools/cluster env)" && '
    script = with_env + ('"$AGONES_ALLOC_KUBECTL" get --raw /readyz && '
                         'test -s "$AGONES_ALLOC_KUBE_CA_FILE" && test -s "$AGONES_ALLOC_KUBE_CERT_FILE" && '
                         'test -s "$AGONES_ALLOC_KUBE_KEY_FILE" && test -s "$AGONES_ALLOC_KUBE_TOKEN_FILE"')
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=False)
    same((done.returncode, done.stdout), (0, "ok"))
