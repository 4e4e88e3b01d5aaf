"""Measures upstream's own server and client: `upstreamReader.py root table rows runs warmUps` prints one line of JSON.

The server is `RestAdapter` in a separate process, the client is `RestNamespace`; pyarrow reads the response.
"""

import json
import subprocess
import sys
import time

import lance.namespace
import pyarrow as pa

SERVER = """
import sys, lance.namespace
with lance.namespace.RestAdapter("dir", {"root": sys.argv[1]}, port=0) as server:
    print(server.port, flush=True)
    sys.stdin.read()
"""


def peak(pid):
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM:"))


def main(root, table, rows, runs, warm_ups):
    command = [sys.executable, "-c", SERVER, root]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        port = int(server.stdout.readline())
        client = lance.namespace.RestNamespace(uri=f"http://127.0.0.1:{port}")
        measured = []
        for run in range(warm_ups + runs):
            started = time.perf_counter()
            reply = client.query_table({"id": [table], "k": rows, "vector": {"single_vector": []}})
            first, found = None, 0
            with pa.ipc.open_file(pa.BufferReader(reply.data)) as reader:
                for index in range(reader.num_record_batches):
                    found += reader.get_batch(index).num_rows
                    first = first or time.perf_counter() - started
            total = time.perf_counter() - started
            if found != rows:
                raise SystemExit(f"{found} rows came where there are {rows}")
            if run >= warm_ups:
                measured.append({"first": (first or total) * 1000, "total": total * 1000})
        peaks = {"reader": peak("self"), "server": peak(server.pid)}
        server.stdin.close()
        print(json.dumps({"runs": measured, "peak": peaks}))


main(sys.argv[1], sys.argv[2], *(int(argument) for argument in sys.argv[3:6]))
