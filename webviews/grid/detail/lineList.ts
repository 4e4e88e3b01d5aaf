import { createElement, createWrapper } from '../../parts/elements.ts';
import { RowScroll } from '../rowScroll.ts';

const lineHeight = 18;

export type LineListOptions = {
  readonly count: number;
  readonly line: (index: number) => string;
  /** Names the list for assistive technology. */
  readonly label: string;
};

/** Lines of text of any number. Only those in the view have elements. */
export class LineList {
  readonly element = createElement('div', { className: 'lance-lines', role: 'group' });
  readonly #content = createWrapper('lance-lines-content');
  readonly #layer = createWrapper('lance-lines-layer');
  readonly #rows: RowScroll;
  readonly #line: (index: number) => string;
  readonly #resizing: ResizeObserver;

  constructor({ count, line, label }: LineListOptions) {
    this.#line = line;
    this.#rows = new RowScroll(count, lineHeight);
    const { element } = this;
    element.tabIndex = 0;
    element.ariaLabel = label;
    this.#content.style.height = `${this.#rows.contentHeight}px`;
    this.#content.append(this.#layer);
    element.append(this.#content);
    element.addEventListener('scroll', () => {
      this.#rows.follow(element.scrollTop);
      this.#draw();
    });
    // Without this, a tick of the wheel or a key skips lines where the scroll bar stands for a part of a pixel.
    if (this.#rows.isScaled) {
      element.addEventListener('wheel', (event) => this.#moveBy(event, event.deltaY), { passive: false });
      element.addEventListener('keydown', (event) => this.#onKey(event));
    }
    this.#resizing = new ResizeObserver(() => {
      this.#rows.resize(element.clientHeight);
      this.#draw();
    });
    this.#resizing.observe(element);
  }

  close(): void {
    this.#resizing.disconnect();
  }

  #onKey(event: KeyboardEvent): void {
    const page = this.#rows.viewHeight - lineHeight;
    const by = { ArrowDown: lineHeight, ArrowUp: -lineHeight, PageDown: page, PageUp: -page }[event.key];
    if (by !== undefined && !event.altKey) this.#moveBy(event, by);
  }

  #moveBy(event: Event, pixels: number): void {
    event.preventDefault();
    this.#rows.moveBy(pixels);
    this.element.scrollTop = this.#rows.scrollTop;
    this.#draw();
  }

  #draw(): void {
    const { firstRow, endRow, top } = this.#rows;
    const lines = Array.from({ length: Math.max(0, endRow - firstRow) }, (_, at) => this.#line(firstRow + at));
    this.#layer.textContent = lines.join('\n');
    this.#layer.style.transform = `translateY(${firstRow * lineHeight - top}px)`;
  }
}
