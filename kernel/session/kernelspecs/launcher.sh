#!/bin/sh
# A Jupyter kernelspec runs `launcher.sh NODE FLAG... launcher.cjs ARGUMENT...`, and this script executes that command.
# launcher.cjs starts a whole Node only to find the kernel and to become its start-up snapshot, so it writes a note of
# everything its choice depends on (kernel/session/start/quickStart.ts). While all of this is unchanged, this script
# executes the snapshot directly.

note=${0%/*}/quick-start

# Returns if there is no note or anything differs from it; launcher.cjs then checks everything itself.
quick_start() {
  [ "${LANCE_CATALOG_SNAPSHOT-}" != off ] && [ -z "${NODE_OPTIONS-}" ] && [ -r "$note" ] && [ -O "$note" ] || return 0
  given=$1 given_flags=
  shift
  until [ "${1##*/}" = launcher.cjs ]; do
    [ $# -gt 0 ] || return 0
    given_flags="$given_flags $1"
    shift
  done
  shift
  case ${1-} in --connection-file=*) ;; *) return 0 ;; esac
  {
    IFS= read -r noted_flags && IFS= read -r noted_homes && IFS= read -r node && IFS= read -r flags &&
      IFS= read -r blob && IFS= read -r dist && IFS= read -r noted_key &&
      IFS= read -r listed_first && IFS= read -r listed_second || return 0
    [ "$given_flags" = "$noted_flags" ] && [ "${HOME-}:${XDG_CACHE_HOME-}" = "$noted_homes" ] || return 0
    # These paths change if another kernel is installed or this one is removed.
    while IFS= read -r watched; do
      [ ! -e "$watched" ] || [ "$note" -nt "$watched" ] || return 0
    done
  } < "$note"
  [ "$given" -ef "$node" ] && [ -r "$dist/kernelSnapshot.key" ] || return 0
  # `read` fails on a last line without a newline, but still sets the variable.
  IFS= read -r key < "$dist/kernelSnapshot.key" || :
  [ "$key" = "$noted_key" ] || return 0
  # Compare owner, mode, inode, length and time: both files are unchanged, and only the owner can write the snapshot.
  [ "$(LC_ALL=C ls -din -- "$node" "$blob" 2> /dev/null)" = "$listed_first
$listed_second" ] || return 0
  # If the file exists, a kernel is starting from this snapshot or has failed to start from it.
  attempt=${blob%.blob}.attempt
  [ ! -e "$attempt" ] && (umask 077 && printf %s "$$" > "$attempt") 2> /dev/null || return 0
  # The relay listens while the kernel starts (kernel/session/jupyter/relay). This script is a copy that outlives its
  # build: later builds have to support these lines, and earlier builds have no relay.
  if [ -r "$dist/relay.cjs" ]; then
    relay=${blob%/*}/$$.relay
    "$node" "$dist/relay.cjs" "$relay" $$ "$@" &
    set -- "$@" "--relay=$relay"
  fi
  # These are our own flags, which contain no blanks.
  # shellcheck disable=SC2086
  exec "$node" $flags --snapshot-blob "$blob" "$dist/fromSnapshot.cjs" "$@"
}

quick_start "$@"
exec "$@"
