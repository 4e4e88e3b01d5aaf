"""Upstream's own REST server on directories. Each line on stdin is a root, each line on stdout the port of its server.

Ends when stdin closes, so that it does not outlive the tests.
"""

import sys

import lance.namespace

servers = []
for line in sys.stdin:
    server = lance.namespace.RestAdapter("dir", {"root": line.rstrip("\n")}, port=0)
    server.start()
    servers.append(server)
    print(server.port, flush=True)
