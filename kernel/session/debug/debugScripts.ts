import { setNewest } from '#shared/setNewest.ts';
import { existsSync } from 'node:fs';
import type { Debugger } from 'node:inspector';
import { tmpdir } from 'node:os';
import { basename, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { dataFolder } from '#processes/userFolders.ts';
import { cellCountOf } from '#session/run/scriptNames.ts';
import type { MainHook } from './mainHook.ts';
import { asWritten, type Positions, readPositions } from './positions.ts';

const factor = 0x5bd1e995;

/**
 * Returns the 32-bit MurmurHash2 of a string's UTF-8 bytes, with which Jupyter's clients build the file name of a cell.
 * @param seed a 32-bit integer
 */
export function murmur2(text: string, seed: number): number {
  const bytes = Buffer.from(text, 'utf8');
  const whole = bytes.length - (bytes.length % 4);
  let hash = seed ^ bytes.length;
  for (let at = 0; at < whole; at += 4) {
    let word = Math.imul(bytes.readInt32LE(at), factor);
    word = Math.imul(word ^ (word >>> 24), factor);
    hash = Math.imul(hash, factor) ^ word;
  }
  if (whole < bytes.length) hash = Math.imul(hash ^ bytes.readUIntLE(whole, bytes.length - whole), factor);
  hash = Math.imul(hash ^ (hash >>> 13), factor);
  return (hash ^ (hash >>> 15)) >>> 0;
}

/** The seed of Jupyter's own kernel; clients read it from `debugInfo`. */
export const hashSeed = 0xc70f6907;
export const cellFileSuffix = '.ts';
/** Clients identify a cell by the path of a file named after its text. No such file exists. */
export const cellFilePrefix = `${join(tmpdir(), `lance-catalog-${process.pid}`)}${sep}`;

/** Returns the path by which clients identify a cell with this text. */
const pathOfCell = (code: string): string => `${cellFilePrefix}${murmur2(code, hashSeed)}${cellFileSuffix}`;

/** A cell as it was run. */
export type RunCell = {
  code: string;
  executionCount: number;
  /** The client's id of the cell. */
  cell?: string | undefined;
};

/** A script of the user: a cell that ran, or a file that was loaded. */
export type UserScript = {
  id: string;
  /** The path by which clients identify the script: the path of the file, or a path made from the text of the cell. */
  path: string;
  name: string;
  cell: RunCell | undefined;
  /** The last line of the script, from 0. */
  endLine: number;
  /** Maps positions in the script to the user's code. */
  positions: () => Promise<Positions>;
};

/** Maximum number of cells whose text is kept: cells that ran, and cells that a client has sent. */
const maxTexts = 2000;

/** The scripts of the main thread. A script of the user is also found by the path that clients use. */
export class DebugScripts {
  readonly #urls = new Map<string, string>();
  readonly #own = new Map<string, UserScript>();
  readonly #texts = new Map<string, string>();
  readonly #cellOf: (count: number) => RunCell | undefined;

  constructor(cellOf: (count: number) => RunCell | undefined) {
    this.#cellOf = cellOf;
  }

  /** Keeps the text of a cell; returns its path. */
  dump(code: string): string {
    const path = pathOfCell(code);
    setNewest(this.#texts, path, code, maxTexts);
    return path;
  }

  /** Returns the text of a cell by its path. */
  textOf(path: string): string | undefined {
    return this.#texts.get(path);
  }

  add({ scriptId, url, sourceMapURL, endLine }: Debugger.ScriptParsedEventDataType, hook: () => MainHook): void {
    this.#urls.set(scriptId, url);
    const named = this.#nameOf(url);
    if (!named) return;
    let read: Promise<Positions> | undefined;
    const positions = () => (read ??= positionsOf(url, sourceMapURL, hook()));
    this.#own.set(scriptId, { id: scriptId, positions, endLine, ...named });
  }

  urlOf(id: string): string {
    return this.#urls.get(id) ?? '';
  }

  hasUrl(url: string): boolean {
    return [...this.#urls.values()].includes(url);
  }

  get(id: string): UserScript | undefined {
    return this.#own.get(id);
  }

  all(): UserScript[] {
    return [...this.#own.values()];
  }

  /** Returns the scripts of a file or of a cell's text, the newest last. */
  byPath(path: string): UserScript[] {
    return this.all().filter((script) => script.path === path);
  }

  /** Forgets the scripts, but keeps the source of cells. */
  clear(): void {
    this.#urls.clear();
    this.#own.clear();
  }

  #nameOf(url: string): Pick<UserScript, 'path' | 'name' | 'cell'> | undefined {
    const count = cellCountOf(url);
    if (count !== undefined) {
      const cell = this.#cellOf(count);
      return cell && { path: this.dump(cell.code), name: `[${count}]`, cell };
    }
    if (!url.startsWith('file:') || url.includes('/node_modules/')) return undefined;
    const path = fileURLToPath(url);
    // A URL without a file on disk, or within the kernel's own folder, is a script of the kernel.
    if (path.startsWith(import.meta.dirname + sep) || path.startsWith(launcherFolder) || !existsSync(path))
      return undefined;
    return { path, name: basename(path), cell: undefined };
  }
}

const launcherFolder = join(dataFolder(), 'kernel') + sep;
const inlineMap = /^data:application\/json;(?:charset=[\w-]+;)?base64,/;

async function positionsOf(url: string, mapUrl: string | undefined, hook: MainHook): Promise<Positions> {
  const json = inlineMap.test(mapUrl ?? '')
    ? Buffer.from((mapUrl ?? '').replace(inlineMap, ''), 'base64').toString('utf8')
    : await hook.value('mapOf', url);
  if (json === undefined) return asWritten;
  const { mappings } = JSON.parse(json) as { mappings?: unknown };
  return typeof mappings === 'string' ? readPositions(mappings) : asWritten;
}
