"""Several of the built server that are called over gRPC, and peers that speak HTTP/2 by hand."""
import json
import re
import time

import clusters_world
import http2
from kit import PATIENCE, expect


def over_grpc(port):
    return f"grpc://127.0.0.1:{port}"


class World(clusters_world.World):
    def remote(self, name, replicas, *options, **named):
        """One that is called over gRPC with mutual TLS."""
        made = self.server(name, replicas, "--grpc-listen", "127.0.0.1:0", *options, tls=True, **named)
        wait_until(lambda: "listening for gRPC" in made.text(), "it does not listen for gRPC")
        line = next(line for line in made.lines if "listening for gRPC" in line)
        made.grpc_port = int(re.search(r'127\.0\.0\.1:(\d+)', line)[1])
        wait_until(lambda: http2.is_serving(self.place, made.grpc_port), "its health service does not say that it serves")
        return made

    def peer(self, allocate):
        made = http2.Peer(self.place, allocate)
        self.started.append(made.close)
        return made


def wait_until(true, words):
    give_up = time.monotonic() + PATIENCE
    while not true():
        expect(time.monotonic() < give_up, words)
        time.sleep(0.02)


def endpoint_of(server, cluster):
    listed = json.loads(server.ask("GET", "/v1/clusters")[1])["clusters"]
    return next(one for one in listed if one["name"] == cluster)["endpoints"][0]
