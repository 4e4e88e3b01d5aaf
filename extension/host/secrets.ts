import * as vscode from 'vscode';
import { isRecord } from '#shared/records.ts';

/** What lets a person into a server. Header values count as secret all of them: nobody can tell which are not. */
export type ServerSecrets = { apiKey?: string; token?: string; headers?: Record<string, string> };

/** Whose secrets: a connection at an address, so that what is listed under its name elsewhere never gets them. */
export type SecretOwner = { of?: 'connection' | 'ray'; name: string; uri: string };

/** The only reader and writer of the editor's secret storage. */
export class Secrets implements vscode.Disposable {
  readonly #storage: vscode.SecretStorage;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #listening: vscode.Disposable;
  /** What was read or written here last, so that only what another window wrote counts as a change. */
  readonly #known = new Map<string, string | undefined>();
  /** Another window changed a secret that this one has read. */
  readonly onDidChange = this.#changed.event;

  constructor({ secrets }: Pick<vscode.ExtensionContext, 'secrets'>) {
    this.#storage = secrets;
    this.#listening = secrets.onDidChange(({ key }) => void this.#compare(key));
  }

  /** What is kept for a connection; nothing where what is there has another shape. */
  async get(owner: SecretOwner): Promise<ServerSecrets> {
    const key = keyOf(owner);
    const kept = await this.#storage.get(key);
    this.#known.set(key, kept);
    return kept === undefined ? {} : read(kept);
  }

  /** Keeps these and no others; none at all leave no trace. */
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
    // A storage that can't be read now says so to the next who needs the secret.
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
