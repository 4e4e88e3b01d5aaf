/**
 * The script of the pod, for the shell and the curl of its image: it gets the identity of the pod and a token from the
 * metadata server, writes an object with the token, and removes the object. It prints a line `probe WHAT RESULT` for
 * each step. The script never prints the token and never passes it in the arguments of a process.
 *
 * Its variables: METADATA and STORAGE (URLs), BUCKET and OBJECT (URL-encoded).
 */
export const probeScript = `
set -u
trap 'exit 1' TERM INT
say() { echo "probe $1 $2"; }
account="$METADATA/computeMetadata/v1/instance/service-accounts/default"
# The metadata server of a node takes some seconds until it knows a new pod.
ask() { curl -sS -f -m 10 --retry 10 --retry-delay 1 --retry-connrefused -H 'Metadata-Flavor: Google' "$account/$1"; }
email=$(ask email) || { say identity none; exit 1; }
say identity "$email"
token=$(ask token | sed -n 's/.*"access_token" *: *"\\([^"]*\\)".*/\\1/p')
[ -n "$token" ] || { say token none; exit 1; }
store() { printf 'header = "Authorization: Bearer %s"\\n' "$token" | curl -sS -m 20 -K - -o /dev/null -w '%{http_code}' "$@"; }
remove() { say removed "$(store -X DELETE "$STORAGE/storage/v1/b/$BUCKET/o/$OBJECT")"; }
trap 'remove; exit 1' TERM INT
written=$(store -X POST -H 'Content-Type: text/plain' --data-binary 'A probe of Lance Catalog; it may be removed.' \\
  "$STORAGE/upload/storage/v1/b/$BUCKET/o?uploadType=media&ifGenerationMatch=0&name=$OBJECT")
say written "$written"
trap 'exit 1' TERM INT
case "$written" in 2*) remove ;; *) exit 1 ;; esac
`.trimStart();

/** What a probe found out, read from the lines that it prints. */
export type ProbeLog = {
  /** The account that the metadata server returns. */
  readonly identity: string | undefined;
  /** HTTP status of writing the object; `000` if there was no response. */
  readonly written: string | undefined;
  /** HTTP status of removing the object. */
  readonly removed: string | undefined;
};

/** Reads the lines of a probe, and ignores any other output of the pod. */
export function readProbeLog(text: string): ProbeLog {
  const said = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [, what, result] = /^probe (\w+) (\S+)$/.exec(line.trim()) ?? [];
    if (what !== undefined && result !== undefined && result !== 'none') said.set(what, result);
  }
  return { identity: said.get('identity'), written: said.get('written'), removed: said.get('removed') };
}
