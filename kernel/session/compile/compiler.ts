import { createConverter, type Converter, type ConvertResult } from 'tslab/dist/converter.js';
import type { ConverterSet } from 'tslab/dist/executor.js';
import ts from 'typescript-6';
import type { CellMaps } from './cellMaps.ts';

/** What a notebook knows before its first cell. `db` is declared, not imported, so that a cell may assign to it. */
const prelude = `
import { CatalogError, arrow, connect, connectNamespace, display } from "lance-catalog";
declare let db: import("lance-catalog").Catalog;
`;

/**
 * tslab's converter, with three things of our own: the declarations of earlier cells are kept here (tslab's executor
 * forgets those of a cell that throws), the generated code has a name and a map, and a converter that was stopped in the
 * middle is replaced.
 */
export class CellCompiler {
  readonly set: ConverterSet;
  readonly #maps: CellMaps;
  #converter: Converter | undefined;
  #declarations = prelude;
  #isBusy = false;
  #count = 0;

  constructor(maps: CellMaps) {
    this.#maps = maps;
    const ours: Converter = {
      convert: (_, source) => this.#convert(source),
      inspect: (_, source, position) => this.#use((it) => it.inspect(this.#declarations, source, position)),
      complete: (_, source, position) => this.#use((it) => it.complete(this.#declarations, source, position)),
      addModule: (name, content, meta) => this.#use((it) => it.addModule(name, content, meta)),
      close: () => this.#converter?.close(),
    };
    this.set = { node: ours, browser: ours, close: () => ours.close() };
  }

  /** The execution count that names the code compiled next. */
  set count(count: number) {
    this.#count = count;
  }

  /** Loads the compiler's libraries, which takes most of a second the first time. */
  warmUp(): void {
    this.#use((it) => it.convert(this.#declarations, '1'));
  }

  /** To be called after code was stopped: a compiler cut off in the middle has no consistent state any more. */
  recover(): void {
    if (!this.#isBusy) return;
    this.#isBusy = false;
    this.#converter = undefined;
  }

  #convert(source: string): ConvertResult {
    const result = this.#use((it) => it.convert(this.#declarations, source));
    if (result.diagnostics.length > 0) return result;
    // A cell that throws half way keeps what it declared until then; the rest is undefined.
    this.#declarations = result.declOutput ?? '';
    if (hasTopLevelAwait(source)) result.hasToplevelAwait = true;
    if (result.output !== undefined) result.output = this.#maps.add(this.#count, result.output);
    return result;
  }

  // Not try/finally: when the code is stopped no `finally` runs, and that is how `recover` knows.
  #use<T>(action: (converter: Converter) => T): T {
    this.#isBusy = true;
    this.#converter ??= createConverter({ isJS: false, isBrowser: false });
    try {
      const result = action(this.#converter);
      this.#isBusy = false;
      return result;
    } catch (error) {
      this.recover();
      throw error;
    }
  }
}

function hasTopLevelAwait(source: string): boolean {
  const visit = (node: ts.Node): boolean => {
    if (ts.isFunctionLike(node)) return false;
    if (ts.isAwaitExpression(node) || (ts.isForOfStatement(node) && node.awaitModifier)) return true;
    // The flag of `await using` has two bits, those of `using` and of `const`.
    const awaitUsing: number = ts.NodeFlags.AwaitUsing;
    if (ts.isVariableDeclarationList(node) && (node.flags & awaitUsing) === awaitUsing) return true;
    return ts.forEachChild(node, visit) ?? false;
  };
  return source.includes('await') && visit(ts.createSourceFile('cell.ts', source, ts.ScriptTarget.Latest, false));
}
