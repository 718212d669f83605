#!/usr/bin/env python3
"""A tiny game server, or several: answers HTTP readiness on each of its ports, `503` until its level is loaded and `200` from then on.

Usage: game.py SECONDS-TO-LOAD PORT...
Loading begins with the first question on a port, as a game would begin with the match it is told of. SECONDS may be `never`.
Needs nothing but Python.
"""
import http.server
import sys
import threading
import time


class Game(http.server.BaseHTTPRequestHandler):
    def do_GET(self):  # the name that http.server looks for
        server = self.server
        if server.loading_since is None:
            server.loading_since = time.monotonic()
        ready = server.seconds is not None and time.monotonic() - server.loading_since >= server.seconds
        self.send_response(200 if ready else 503)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    seconds = None if sys.argv[1] == "never" else float(sys.argv[1])
    servers = []
    for port in sys.argv[2:]:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", int(port)), Game)
        server.seconds, server.loading_since = seconds, None
        servers.append(server)
    for server in servers[1:]:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    print("ready to be asked", flush=True)
    servers[0].serve_forever()


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        pass
