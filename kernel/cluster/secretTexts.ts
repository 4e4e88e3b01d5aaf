import type { CheckResult } from './result.ts';

/** Shapes of secrets recognized without registration: tokens, presigned URLs, keys in a kubeconfig. */
const shapes: readonly RegExp[] = [
  /\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g,
  /\bk8s-aws-v1\.[\w-]+/g,
  /\bya29\.[\w.-]+/g,
  /(?<=\bBearer\s+)[\w.~+/=-]{8,}/gi,
  /(?<=[?&](?:X-Amz-(?:Signature|Security-Token|Credential)|access_token|token|sig)=)[^&\s"']+/gi,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  /(?<="?\b(?:client-key-data|token|id-token|refresh-token|password|secretAccessKey|SecretAccessKey|sessionToken|SessionToken|private_key)"?\s*[:=]\s*"?)[^\s",}]{6,}/g,
];

const redactedMark = '•••';

/** Minimum length. A shorter string is unlikely to be a secret and likely to be part of a word. */
const shortest = 6;

/**
 * Redacts the secrets that a run has found. Code registers a credential before it uses it, so that later quotes of it
 * (a response, an error of a library) never show it.
 */
export class SecretRedactor {
  readonly #secrets = new Set<string>();

  add(...secrets: readonly (string | undefined)[]): void {
    for (const secret of secrets) if (secret !== undefined && secret.length >= shortest) this.#secrets.add(secret);
  }

  /** Redacts every registered secret and everything that looks like a secret. */
  hide(text: string): string {
    let shown = text;
    // The longest secret is replaced first. Otherwise a part of a secret that contains another secret could stay
    // visible.
    for (const secret of [...this.#secrets].toSorted((a, b) => b.length - a.length)) {
      shown = shown.replaceAll(secret, redactedMark);
      const escaped = encodeURIComponent(secret);
      if (escaped !== secret) shown = shown.replaceAll(escaped, redactedMark);
    }
    return shapes.reduce((rest, shape) => rest.replace(shape, redactedMark), shown);
  }

  hideIn<T extends CheckResult>(result: T): T {
    return this.#walk(result) as T;
  }

  #walk(value: unknown): unknown {
    if (typeof value === 'string') return this.hide(value);
    if (Array.isArray(value)) return value.map((one) => this.#walk(one));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, this.#walk(one)]));
  }
}
