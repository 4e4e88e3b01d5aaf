import type { LanguageProcess } from '#processes/languageProcess.ts';
import type { CellPlace, Finding } from '#shared/protocol/languageMessages.ts';
import { until } from './support.ts';

/** A notebook in the worker, with the worker's messages about it. */
export class OpenNotebook {
  readonly name: string;
  readonly folder: string;
  readonly findings = new Map<string, Finding[]>();
  readonly #worker: () => LanguageProcess;
  #texts: string[] = [];
  #ids: string[] = [];
  #count = 0;

  constructor(name: string, folder: string, worker: () => LanguageProcess) {
    this.name = name;
    this.folder = folder;
    this.#worker = worker;
  }

  /** Replaces the cells. */
  set(...texts: string[]): void {
    this.#texts = texts;
    this.#ids = texts.map(() => `cell-${this.#count++}`);
    this.#tell();
  }

  /** Reverses the order of the cells. */
  turn(): void {
    this.#texts.reverse();
    this.#ids.reverse();
    this.#tell();
  }

  edit(index: number, text: string): void {
    this.#texts[index] = text;
    this.#worker().tell('text', { notebook: this.name, cell: this.id(index), text });
  }

  id(index: number): string {
    return this.#ids[index] ?? '';
  }

  /** Returns the position after the last `text` in a cell. */
  at(index: number, text: string): CellPlace {
    const offset = (this.#texts[index] ?? '').lastIndexOf(text) + text.length;
    return { notebook: this.name, cell: this.id(index), offset };
  }

  #tell(): void {
    const cells = this.#texts.map((text, i) => ({ id: this.id(i), text }));
    this.#worker().tell('cells', { notebook: this.name, folder: this.folder, language: 'typescript', cells });
  }

  /** Returns the errors as `index TS2322 text`, after all cells were checked. */
  async errors(): Promise<string[]> {
    await until('findings', () => this.#ids.every((id) => this.findings.has(id)));
    return this.#texts.flatMap((text, i) =>
      (this.findings.get(this.id(i)) ?? [])
        .filter(({ severity }) => severity === 'error')
        .map(({ code, span }) => `${i} TS${code} ${text.slice(span.start, span.end)}`),
    );
  }

  codes(index: number): number[] | undefined {
    return this.findings.get(this.id(index))?.map(({ code }) => code);
  }
}
