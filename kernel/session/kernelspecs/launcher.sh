#!/bin/sh
# A kernelspec of Jupyter runs `launcher.sh NODE FLAG... launcher.cjs ARGUMENT...`, and this becomes that command. A whole
# Node starts there only to find the kernel and to become its start-up snapshot, so launcher.cjs leaves a note of all that
# it went by (kernel/session/start/quickStart.ts). While nothing of it has changed, this becomes the snapshot at once.

note=${0%/*}/quick-start

# Returns where anything is not as the note has it; then, or without a note, launcher.cjs looks at everything itself.
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
    # Where another kernel could have been installed, or this one removed.
    while IFS= read -r watched; do
      [ ! -e "$watched" ] || [ "$note" -nt "$watched" ] || return 0
    done
  } < "$note"
  [ "$given" -ef "$node" ] && [ -r "$dist/kernelSnapshot.key" ] || return 0
  # A last line without an end is read all the same.
  IFS= read -r key < "$dist/kernelSnapshot.key" || :
  [ "$key" = "$noted_key" ] || return 0
  # Owner, mode, inode, length and time of both: the same files, and the snapshot still one that only its owner can write.
  [ "$(LC_ALL=C ls -din -- "$node" "$blob" 2> /dev/null)" = "$listed_first
$listed_second" ] || return 0
  # A kernel is starting from it, or has not come up from it.
  attempt=${blob%.blob}.attempt
  [ ! -e "$attempt" ] && (umask 077 && printf %s "$$" > "$attempt") 2> /dev/null || return 0
  # What listens while the kernel comes up (kernel/session/jupyter/relay). These lines are a copy that outlives its build: later
  # ones have to understand them, and earlier ones have none.
  if [ -r "$dist/relay.cjs" ]; then
    relay=${blob%/*}/$$.relay
    "$node" "$dist/relay.cjs" "$relay" $$ "$@" &
    set -- "$@" "--relay=$relay"
  fi
  # Flags of ours, without blanks in them.
  # shellcheck disable=SC2086
  exec "$node" $flags --snapshot-blob "$blob" "$dist/fromSnapshot.cjs" "$@"
}

quick_start "$@"
exec "$@"
