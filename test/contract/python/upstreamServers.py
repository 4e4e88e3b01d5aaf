"""Upstream's own REST server over directories: a root a line on stdin, the port of its server a line on stdout.

Ends when stdin closes, so that it never outlives the tests.
"""

import sys

import lance.namespace

servers = []
for line in sys.stdin:
    server = lance.namespace.RestAdapter("dir", {"root": line.rstrip("\n")}, port=0)
    server.start()
    servers.append(server)
    print(server.port, flush=True)
