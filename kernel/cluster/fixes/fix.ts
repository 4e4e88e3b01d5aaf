/** A Kubernetes object as it is written in a manifest, with what names it. */
export type KubernetesManifest = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string } & Readonly<Record<string, unknown>>;
} & Readonly<Record<string, unknown>>;

/**
 * What puts a failed check right. Nothing of it is done by a check: a command is copied, a document is reviewed, and objects
 * are applied only after somebody has seen what the API server would make of them (`applyMend`).
 */
export type Mend =
  /** A line for a shell, such as an `aws`, `gcloud`, `helm` or `kubectl` command. */
  | { readonly kind: 'command'; readonly command: string }
  /** Kubernetes objects, whole or the part of one to be merged, and the `kubectl` line that does the same. */
  | { readonly kind: 'objects'; readonly objects: readonly KubernetesManifest[]; readonly command: string }
  /** A text that belongs somewhere else, such as a trust policy, and the command that puts it there. */
  | {
      readonly kind: 'document';
      readonly title: string;
      readonly language: 'json' | 'yaml';
      readonly text: string;
      readonly command: string;
    }
  /** Something only a person can do, in one sentence. */
  | { readonly kind: 'advice'; readonly text: string };
