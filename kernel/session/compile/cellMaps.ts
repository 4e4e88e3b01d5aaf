import { SourceMap } from 'node:module';

type Position = { line: number; column: number };

const keep = 500;
const mapComment = /\n?\/\/# sourceMappingURL=data:application\/json;base64,([\w+/=]+)\s*/g;
const cellPosition = /\b(cell-\d+\.ts):(\d+):(\d+)/;
/** What Node puts before the stack of an error thrown in a script: a place and a line, both of generated code. */
const excerpt = /^cell-\d+\.ts:\d+\n.*\n *\^+ *\n+/;
/** The line that tslab puts before every cell. */
const linesBefore = 1;

/** Names the generated code of cells, and finds for a position in it the position that the person wrote. */
export class CellMaps {
  readonly #cells = new Map<string, { maps: SourceMap[]; lines: number }>();

  /** Takes the maps out of generated code and gives it the name that stack traces will show. */
  add(count: number, code: string): string {
    const name = `cell-${count}.ts`;
    const maps: SourceMap[] = [];
    const bare = code.replace(mapComment, (_, base64: string) => {
      maps.push(new SourceMap(JSON.parse(Buffer.from(base64, 'base64').toString('utf8'))));
      return '\n';
    });
    // Two steps made the code, so there are two maps; the later step's comment comes last.
    this.#cells.set(name, { maps: maps.toReversed(), lines: bare.split('\n').length });
    const oldest = this.#cells.keys().next();
    if (this.#cells.size > keep && !oldest.done) this.#cells.delete(oldest.value);
    return `${bare}\n//# sourceURL=${name}`;
  }

  /** Replaces every `cell-3.ts:7:1` in a stack trace by the line of the cell itself. */
  translate(stack: string): string {
    return stack
      .replace(excerpt, '')
      .split('\n')
      .flatMap((frame) => this.#translateFrame(frame) ?? [])
      .join('\n');
  }

  #translateFrame(frame: string): string | undefined {
    const [whole, name = '', line, column] = cellPosition.exec(frame) ?? [];
    const cell = this.#cells.get(name);
    if (whole === undefined || !cell) return frame;
    // Behind the code comes the line with which tslab calls it.
    if (Number(line) > cell.lines) return undefined;
    const at = original(cell.maps, { line: Number(line) - 1, column: Number(column) - 1 });
    return at ? frame.replace(whole, `${name}:${at.line + 1 - linesBefore}:${at.column + 1}`) : frame;
  }
}

function original(maps: readonly SourceMap[], position: Position): Position | undefined {
  let at = position;
  for (const map of maps) {
    const entry = map.findEntry(at.line, at.column);
    if (!('originalLine' in entry)) return undefined;
    at = { line: entry.originalLine, column: entry.originalColumn };
  }
  return at;
}
