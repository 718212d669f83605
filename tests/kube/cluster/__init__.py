"""What tools/cluster is made of: a real etcd and kube-apiserver on loopback, for tests. Standard library only."""


class ClusterError(Exception):
    """Something the caller should read; tools/cluster prints it without a traceback."""
