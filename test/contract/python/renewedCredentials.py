"""Reads a table in the namespace shop again and again, with credentials that expire soon. Arguments: the server's
address, a key, the database and the table.

Prints the number of rows of each read as JSON.
"""

import json
import sys
import time

import lance
import lance_namespace as ln

uri, key, database, table = sys.argv[1:]
client = ln.connect("rest", {"uri": uri, "header.x-api-key": key, "header.x-service-database": database})
dataset = lance.dataset(namespace_client=client, table_id=["shop", table])
counts = []
for _ in range(3):
    # Reads the list of versions from the storage; rows of the same version would come from a cache.
    dataset.checkout_latest()
    counts.append(dataset.to_table().num_rows)
    time.sleep(1.5)
print(json.dumps(counts))
