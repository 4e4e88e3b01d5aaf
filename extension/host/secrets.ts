import * as vscode from 'vscode';
import { isRecord } from '#shared/records.ts';

/** Credentials for a server. Every header value counts as a secret, because secret values can't be recognized. */
export type ServerSecrets = { apiKey?: string; token?: string; headers?: Record<string, string> };

/**
 * The owner of secrets: the name and the address of a connection. Another server with the same name has another
 * address, so it never gets the secrets.
 */
export type SecretOwner = { of?: 'connection' | 'ray'; name: string; uri: string };

/** Reads and writes VS Code's secret storage; nothing else does. */
export class Secrets implements vscode.Disposable {
  readonly #storage: vscode.SecretStorage;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #listening: vscode.Disposable;
  /** The values that this window last read or wrote. A stored value that differs was written by another window. */
  readonly #known = new Map<string, string | undefined>();
  /** Fires when another window changed a secret that this window has read. */
  readonly onDidChange = this.#changed.event;

  constructor({ secrets }: Pick<vscode.ExtensionContext, 'secrets'>) {
    this.#storage = secrets;
    this.#listening = secrets.onDidChange(({ key }) => void this.#compare(key));
  }

  /** Returns the secrets of a connection; none if the stored value is invalid. */
  async get(owner: SecretOwner): Promise<ServerSecrets> {
    const key = keyOf(owner);
    const kept = await this.#storage.get(key);
    this.#known.set(key, kept);
    return kept === undefined ? {} : read(kept);
  }

  /** Replaces the stored secrets; if there are none, deletes the entry. */
  async set(owner: SecretOwner, { apiKey, token, headers = {} }: ServerSecrets): Promise<void> {
    const kept = {
      ...(apiKey && { apiKey }),
      ...(token && { token }),
      ...(Object.keys(headers).length > 0 && { headers }),
    };
    if (Object.keys(kept).length === 0) return this.delete(owner);
    const key = keyOf(owner);
    const text = JSON.stringify(kept);
    this.#known.set(key, text);
    await this.#storage.store(key, text);
  }

  async delete(owner: SecretOwner): Promise<void> {
    const key = keyOf(owner);
    this.#known.set(key, undefined);
    await this.#storage.delete(key);
  }

  dispose(): void {
    this.#listening.dispose();
    this.#changed.dispose();
  }

  async #compare(key: string): Promise<void> {
    if (!this.#known.has(key)) return;
    // Ignore an error of the storage here, because the next `get` of the secret reports the error.
    const kept = await Promise.resolve(this.#storage.get(key)).catch(() => undefined);
    if (kept === this.#known.get(key)) return;
    this.#known.set(key, kept);
    this.#changed.fire();
  }
}

const keyOf = ({ of = 'connection', name, uri }: SecretOwner): string => JSON.stringify([of, name, uri]);

function read(text: string): ServerSecrets {
  let kept: unknown;
  try {
    kept = JSON.parse(text);
  } catch {
    return {};
  }
  if (!isRecord(kept)) return {};
  const { apiKey, token, headers } = kept;
  const texts = isRecord(headers) ? Object.entries(headers).filter(isTextEntry) : [];
  return {
    ...(typeof apiKey === 'string' && { apiKey }),
    ...(typeof token === 'string' && { token }),
    ...(texts.length > 0 && { headers: Object.fromEntries(texts) }),
  };
}

const isTextEntry = (entry: [string, unknown]): entry is [string, string] => typeof entry[1] === 'string';
