"""Matchmakers with ids and retries, three replicas, faults, and books that are checked afterwards."""
