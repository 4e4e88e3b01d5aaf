/** A Kubernetes object as written in a manifest. */
export type KubernetesManifest = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string } & Readonly<Record<string, unknown>>;
} & Readonly<Record<string, unknown>>;

/**
 * The fix of a failed check. Checks never apply it: a command is copied, a document is reviewed, and objects are
 * applied only after the user has seen a preview (`applyFix`).
 */
export type Fix =
  /** A shell line, such as an `aws`, `gcloud`, `helm` or `kubectl` command. */
  | { readonly kind: 'command'; readonly command: string }
  /** Kubernetes objects, or parts to merge into existing ones, and the equivalent `kubectl` line. */
  | { readonly kind: 'objects'; readonly objects: readonly KubernetesManifest[]; readonly command: string }
  /** A file for another system, such as a trust policy, and the command that installs it. */
  | {
      readonly kind: 'document';
      readonly title: string;
      readonly language: 'json' | 'yaml';
      readonly text: string;
      readonly command: string;
    }
  /** A manual step, in one sentence. */
  | { readonly kind: 'advice'; readonly text: string };
