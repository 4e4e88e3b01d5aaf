import { SourceMap } from 'node:module';
import { isAbsolute, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cellCountOf } from './scriptNames.ts';

/** Scripts of which positions can be translated; the oldest are forgotten. */
const keep = 2000;
const mapComment = /\n?\/\/# sourceMappingURL=data:application\/json;(?:charset=[\w-]+;)?base64,([\w+/=]+)\s*/g;
/** A position in a cell or in a file of the person's own, as stack traces write it. */
const position = /(\bcell-\d+(?:-\d+)?\.ts|file:\/\/[^\s()]*?):(\d+):(\d+)/g;
const cellFrame = /^ +at .*?\b(cell-\d+(?:-\d+)?\.ts):(\d+):(\d+)\)?$/;
/** What Node puts before the stack of an error thrown in a script: a place and a line, both of generated code. */
const excerpt = /^(?:cell-\d+(?:-\d+)?\.ts|file:\/\/\S*):\d+\n.*\n *\^+ *\n+/;
/** Frames of the kernel, which say nothing about the cell. */
const ownFrame = /[\\/]dist[\\/]kernel\w*\.cjs/;

/** Knows for positions in generated code where they are in what the person wrote. */
export class ScriptMaps {
  /** Whether a debugger is attached. Scripts have their map with them then, which costs memory and tells it of them. */
  isDebugged = false;
  readonly #maps = new Map<string, string | SourceMap>();

  /** Takes the map of a script from its generated code, and gives the code that is to be run. */
  add(script: string, code: string): string {
    let map: string | undefined;
    const bare = code.replace(mapComment, (_, base64: string) => {
      map = base64;
      return '\n';
    });
    if (map === undefined) return bare;
    this.#maps.delete(script);
    this.#maps.set(script, map);
    const oldest = this.#maps.keys().next();
    if (this.#maps.size > keep && !oldest.done) this.#maps.delete(oldest.value);
    return this.isDebugged ? code : bare;
  }

  /** The map of a script as JSON; undefined when there is none, or it was forgotten. */
  mapOf(script: string): string | undefined {
    const map = this.#maps.get(script);
    return map instanceof SourceMap ? JSON.stringify(map.payload) : map && textOf(map);
  }

  /** Writes the positions of a stack trace as the person knows them: `[3]:2:7` in a cell, `util.ts:4:1` in a file. */
  translate(stack: string): string {
    const lines = stack.replace(excerpt, '').split('\n');
    const written = lines.filter((line) => !this.#isAdded(line)).join('\n');
    return written.replace(position, (whole, script: string, line: string, column: string) => {
      const at = this.#original(script, Number(line), Number(column));
      const cell = cellCountOf(script);
      if (cell !== undefined) return at ? `[${cell}]:${at.line}:${at.column}` : `[${cell}]`;
      const path = pathOf(script);
      if (path === undefined) return whole;
      return at ? `${path}:${at.line}:${at.column}` : `${path}:${line}:${column}`;
    });
  }

  /** For `Error.prepareStackTrace`, so that `error.stack` is right wherever it is printed. */
  format(error: unknown, sites: readonly { toString(): string }[]): string {
    const frames = sites.map((site) => `\n    at ${site.toString()}`).filter((frame) => !ownFrame.test(frame));
    return header(error) + this.translate(frames.join(''));
  }

  /** Whether a frame is of code that the compiler added to a cell, as it does for `using`: its map has no place for it. */
  #isAdded(line: string): boolean {
    const [, script = '', row, column] = cellFrame.exec(line) ?? [];
    if (this.#mapOf(script) === undefined) return false;
    return this.#original(script, Number(row), Number(column)) === undefined;
  }

  /** Where a position of a script is in what the person wrote; lines and columns count from 1. */
  #original(script: string, line: number, column: number): { line: number; column: number } | undefined {
    const map = this.#mapOf(script);
    const entry = map?.findEntry(line - 1, column - 1);
    if (!entry || !('originalLine' in entry)) return undefined;
    return { line: entry.originalLine + 1, column: entry.originalColumn + 1 };
  }

  // Few cells throw, so a map is read when the first one does.
  #mapOf(script: string): SourceMap | undefined {
    const map = this.#maps.get(script);
    if (typeof map !== 'string') return map;
    const read = new SourceMap(JSON.parse(textOf(map)));
    this.#maps.set(script, read);
    return read;
  }
}

const textOf = (map: string): string => Buffer.from(map, 'base64').toString('utf8');

/** The path of a file URL, from the working directory where it is below that. */
function pathOf(url: string): string | undefined {
  try {
    const path = fileURLToPath(url);
    const near = relative(process.cwd(), path);
    return near.startsWith('..') || isAbsolute(near) ? path : near;
  } catch {
    return undefined;
  }
}

/** `RangeError: too far`, of anything at all. */
function header(error: unknown): string {
  try {
    // Of `console.trace` it is no error, only something with a name and a message.
    return Error.prototype.toString.call(error);
  } catch {
    return 'Error';
  }
}
