import { SourceMap } from 'node:module';
import { isAbsolute, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cellCountOf } from './scriptNames.ts';

/** Number of scripts whose positions can be translated; the oldest are dropped. */
const keep = 2000;
const mapComment = /\n?\/\/# sourceMappingURL=data:application\/json;(?:charset=[\w-]+;)?base64,([\w+/=]+)\s*/g;
/** A position in a cell or in a user's file, as written in stack traces. */
const position = /(\bcell-\d+(?:-\d+)?\.ts|file:\/\/[^\s()]*?):(\d+):(\d+)/g;
const cellFrame = /^ +at .*?\b(cell-\d+(?:-\d+)?\.ts):(\d+):(\d+)\)?$/;
/** The excerpt that Node puts before the stack of an error in a script: a position and a line of generated code. */
const excerpt = /^(?:cell-\d+(?:-\d+)?\.ts|file:\/\/\S*):\d+\n.*\n *\^+ *\n+/;
/** Stack frames of the kernel, which are not relevant to users. */
const ownFrame = /[\\/]dist[\\/]kernel\w*\.cjs/;

/** Translates positions in generated code to positions in the user's code. */
export class ScriptMaps {
  /**
   * Whether a debugger is attached. While a debugger is attached, scripts keep their source map comment, because the
   * debugger reads it. Otherwise the comment is removed, because it costs memory.
   */
  isDebugged = false;
  readonly #maps = new Map<string, string | SourceMap>();

  /** Stores the source map in generated code, and returns the code to run. */
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

  /** Returns the source map of a script as JSON; undefined if the script has no source map or the map was dropped. */
  mapOf(script: string): string | undefined {
    const map = this.#maps.get(script);
    return map instanceof SourceMap ? JSON.stringify(map.payload) : map && textOf(map);
  }

  /** Translates the positions in a stack trace: `[3]:2:7` in a cell, `util.ts:4:1` in a file. */
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

  /**
   * Formats the stack of an error. `Error.prepareStackTrace` calls this, so that `error.stack` has the right positions
   * wherever it is printed.
   */
  format(error: unknown, sites: readonly { toString(): string }[]): string {
    const frames = sites.map((site) => `\n    at ${site.toString()}`).filter((frame) => !ownFrame.test(frame));
    return header(error) + this.translate(frames.join(''));
  }

  /**
   * Whether a frame is in code that the compiler added, for instance for `using`. Such a frame has no position in the
   * source map.
   */
  #isAdded(line: string): boolean {
    const [, script = '', row, column] = cellFrame.exec(line) ?? [];
    if (this.#mapOf(script) === undefined) return false;
    return this.#original(script, Number(row), Number(column)) === undefined;
  }

  /** Returns the source position for a position in a script; lines and columns count from 1. */
  #original(script: string, line: number, column: number): { line: number; column: number } | undefined {
    const map = this.#mapOf(script);
    const entry = map?.findEntry(line - 1, column - 1);
    if (!entry || !('originalLine' in entry)) return undefined;
    return { line: entry.originalLine + 1, column: entry.originalColumn + 1 };
  }

  // Parses source maps lazily, because few cells throw.
  #mapOf(script: string): SourceMap | undefined {
    const map = this.#maps.get(script);
    if (typeof map !== 'string') return map;
    const read = new SourceMap(JSON.parse(textOf(map)));
    this.#maps.set(script, read);
    return read;
  }
}

const textOf = (map: string): string => Buffer.from(map, 'base64').toString('utf8');

/** Returns the path of a file URL, relative if it is inside the working directory. */
function pathOf(url: string): string | undefined {
  try {
    const path = fileURLToPath(url);
    const near = relative(process.cwd(), path);
    return near.startsWith('..') || isAbsolute(near) ? path : near;
  } catch {
    return undefined;
  }
}

/** Returns the first line of the stack of any thrown value: `RangeError: too far`. */
function header(error: unknown): string {
  try {
    // `console.trace` passes an object that is not an Error and has only a name and a message.
    return Error.prototype.toString.call(error);
  } catch {
    return 'Error';
  }
}
