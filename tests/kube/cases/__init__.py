"""Cases of cluster_test.py."""
