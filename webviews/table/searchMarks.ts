import type { PanelSearch, SearchedColumns } from '#shared/protocol/webviewMessages.ts';
import { markedText } from '../grid/markedText.ts';

const name = 'lance-search';

/** Returns what a search finds in text: the string, or whole words if an index has found the rows. */
export function searchPattern(text: string, isIndex: boolean): RegExp {
  const parts = isIndex ? text.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '') : [text];
  const escaped = parts.map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)).join('|');
  return isIndex
    ? new RegExp(String.raw`(?<![\p{L}\p{N}])(?:${escaped})(?![\p{L}\p{N}])`, 'giu')
    : new RegExp(escaped, 'giu');
}

/** Marks what a search has found in the drawn cells, by ranges that need no elements. */
export class SearchMarks {
  readonly #observer = new MutationObserver(() => this.#markSoon());
  #shown: { readonly grid: HTMLElement; readonly pattern: RegExp; readonly columns: ReadonlySet<string> } | undefined;
  #isRequested = false;

  /** Marks the cells of a grid from now on, or none without a search. */
  show(grid: HTMLElement, search: PanelSearch | undefined, searched: SearchedColumns | undefined): void {
    this.#observer.disconnect();
    CSS.highlights.delete(name);
    this.#shown = undefined;
    if (!search || !searched || search.text.trim() === '') return;
    const pattern = searchPattern(search.text.trim(), searched.isIndex);
    this.#shown = { grid, pattern, columns: new Set(searched.columns.map(markedText)) };
    this.#observer.observe(grid, { subtree: true, childList: true, characterData: true });
    this.#markSoon();
  }

  #markSoon(): void {
    if (this.#isRequested) return;
    this.#isRequested = true;
    requestAnimationFrame(() => {
      this.#isRequested = false;
      this.#mark();
    });
  }

  #mark(): void {
    if (!this.#shown) return;
    const { grid, pattern, columns } = this.#shown;
    const heads = Array.from(grid.querySelectorAll<HTMLElement>('.lance-header'));
    const selectors = heads.flatMap((head) =>
      columns.has(head.querySelector('.lance-name')?.textContent ?? '')
        ? [`.lance-row [aria-colindex="${head.ariaColIndex}"]`]
        : [],
    );
    if (selectors.length === 0) return void CSS.highlights.delete(name);
    const ranges = Array.from(grid.querySelectorAll(selectors.join(', '))).flatMap((cell) => rangesIn(cell, pattern));
    CSS.highlights.set(name, new Highlight(...ranges));
  }
}

function rangesIn(cell: Element, pattern: RegExp): Range[] {
  const ranges: Range[] = [];
  const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node; node = texts.nextNode())
    for (const { index, 0: found } of (node.textContent ?? '').matchAll(pattern)) {
      if (found === '') continue;
      const range = new Range();
      range.setStart(node, index);
      range.setEnd(node, index + found.length);
      ranges.push(range);
    }
  return ranges;
}
