#!/bin/sh
# The first process of separate network and process namespaces, in which only one Ray runs: Ray always listens on every
# interface, and the only interface here is a separate loopback. Killing this process ends all others.
#   rayInside.sh FOLDER SOCKET PROCESSORS NODE        with `ray` on PATH
set -eu
ip link set lo up
# Clients connect through a socket in the file system, which both namespaces share.
"$4" "$(dirname "$0")/rayRelay.ts" "$2" 8265 &
ray start --head --block --disable-usage-stats --temp-dir "$1" --num-cpus "$3" \
  --dashboard-host 127.0.0.1 --dashboard-port 8265 --object-store-memory 100000000 &
# A shell as the first process also reaps orphaned processes. The shell ends when Ray ends.
wait $!
