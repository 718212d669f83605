"""The test cluster's own certificate authorities, certificates and keys, made with the openssl command."""
import pathlib
import secrets
import shutil
import subprocess
import tempfile

from . import ClusterError

DAYS = 3650
# No extension but those asked for, whatever the machine's own configuration says.
CONFIGURATION = "[req]\ndistinguished_name = name\n[name]\n"
SERVER_NAMES = ("DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc,"
                "IP:127.0.0.1,IP:0:0:0:0:0:0:0:1,IP:127.0.128.1")


def openssl(*arguments: str) -> None:
    if shutil.which("openssl") is None:
        raise ClusterError("the openssl command is missing (Debian: apt-get install openssl)")
    done = subprocess.run(["openssl", *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ClusterError(f"openssl {arguments[0]} failed:\n{done.stderr[-2000:]}")


def issue(target: pathlib.Path, subject: str, extensions: list[str], authority: pathlib.Path | None = None,
          days: int = DAYS) -> None:
    """Writes target.crt and target.key (EC P-256); signed by authority.crt/.key, else by itself.
    A negative number of days gives one that has expired."""
    signer = ["-CA", f"{authority}.crt", "-CAkey", f"{authority}.key"] if authority else ["-signkey", f"{target}.key"]
    with tempfile.TemporaryDirectory() as folder:
        configuration, wish, added = (pathlib.Path(folder, name) for name in ("openssl.cnf", "csr", "extensions"))
        configuration.write_text(CONFIGURATION)
        added.write_text("".join(f"{extension}\n" for extension in extensions))
        openssl("req", "-config", str(configuration), "-new", "-nodes", "-newkey", "ec",
                "-pkeyopt", "ec_paramgen_curve:P-256", "-subj", subject, "-keyout", f"{target}.key", "-out", str(wish))
        openssl("x509", "-req", "-in", str(wish), "-sha256", "-days", str(days), *signer,
                "-set_serial", str(secrets.randbits(63)), "-extfile", str(added), "-out", f"{target}.crt")
    pathlib.Path(f"{target}.key").chmod(0o600)


def authority(target: pathlib.Path, name: str) -> None:
    issue(target, f"/CN={name}", ["basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign,cRLSign",
                                  "subjectKeyIdentifier=hash"])


def leaf(target: pathlib.Path, subject: str, by: pathlib.Path, usage: str, names: str = "", days: int = DAYS) -> None:
    """usage: clientAuth, serverAuth or both with a comma; names: a subjectAltName list."""
    extensions = ["basicConstraints=critical,CA:FALSE", "keyUsage=critical,digitalSignature",
                  f"extendedKeyUsage={usage}", "authorityKeyIdentifier=keyid"]
    issue(target, subject, extensions + ([f"subjectAltName={names}"] if names else []), by, days)


def create(folder: pathlib.Path) -> None:
    """Everything an API server wants:
      ca                  signs the serving certificate and client certificates
      apiserver           serving certificate
      admin               client certificate in system:masters
      front-proxy-ca      signs only front-proxy-client, as whom the API server calls aggregated servers
      service-account     key pair of service-account tokens
    """
    folder.mkdir(parents=True, mode=0o700)
    authority(folder / "ca", "test-cluster-ca")
    leaf(folder / "apiserver", "/CN=kube-apiserver", folder / "ca", "serverAuth", SERVER_NAMES)
    leaf(folder / "admin", "/O=system:masters/CN=admin", folder / "ca", "clientAuth")
    authority(folder / "front-proxy-ca", "test-cluster-front-proxy-ca")
    leaf(folder / "front-proxy-client", "/CN=front-proxy-client", folder / "front-proxy-ca", "clientAuth")
    openssl("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048",
            "-out", str(folder / "service-account.key"))
    openssl("pkey", "-in", str(folder / "service-account.key"), "-pubout",
            "-out", str(folder / "service-account.pub"))
