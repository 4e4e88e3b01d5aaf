#!/bin/sh
# The first process of a network and a process namespace in which nothing but one Ray runs: Ray listens on every interface of
# the machine whatever it is told, and here there is only a loopback of its own. Whoever kills this process ends all of it.
#   rayInside.sh FOLDER SOCKET PROCESSORS NODE        with `ray` on PATH
set -eu
ip link set lo up
# Clients come through a socket in the file system, which is the same on both sides.
"$4" "$(dirname "$0")/rayRelay.ts" "$2" 8265 &
ray start --head --block --disable-usage-stats --temp-dir "$1" --num-cpus "$3" \
  --dashboard-host 127.0.0.1 --dashboard-port 8265 --object-store-memory 100000000 &
# A shell as the first process also takes leave of those whose parents are gone; it ends with whichever of the two ends.
wait $!
