import { createElement } from '../parts/elements.ts';
import type { DetailCell, DetailDeps, DetailView } from './detail/detailView.ts';
import { LazyPart } from './lazyPart.ts';

/** From this width on, the pane is beside the rows; below, it is under them. */
const besideWidth = 640;
/** Part of the space that the pane takes: at first, at least and at most; and by a key. */
const share = { first: 0.42, least: 0.15, most: 0.85, step: 0.05 } as const;

/** What a grid keeps about its pane. */
export type PaneState = { readonly isOpen: boolean; readonly share: number };

export type DetailPaneDeps = Pick<DetailDeps, 'frame' | 'save' | 'step'> & {
  /** Holds the rows, and the pane while it is open. */
  readonly place: HTMLElement;
  readonly state: PaneState | undefined;
  /** Returns the active cell; `undefined` in the header or without rows. */
  readonly cell: () => DetailCell | undefined;
  readonly focusGrid: () => void;
  readonly onState: () => void;
};

/**
 * The pane that shows the whole value of the active cell, beside the rows or below them. What it shows is in a bundle
 * that is loaded when the pane is opened.
 */
export class DetailPane {
  readonly #deps: DetailPaneDeps;
  readonly #element = createElement('section', { className: 'lance-pane' });
  readonly #splitter = createElement('div', { className: 'lance-splitter', role: 'separator' });
  readonly #resizing: ResizeObserver;
  #share: number;
  #isBeside = true;
  readonly #part: LazyPart<DetailView>;

  constructor(deps: DetailPaneDeps) {
    this.#deps = deps;
    this.#share = clampShare(deps.state?.share ?? share.first);
    this.#element.ariaLabel = 'Value of the cell';
    this.#splitter.tabIndex = 0;
    this.#splitter.ariaLabel = 'Size of the value';
    this.#element.addEventListener('keydown', (event) => this.#onKey(event));
    this.#splitter.addEventListener('keydown', (event) => this.#onSplitterKey(event));
    this.#splitter.addEventListener('pointerdown', (event) => this.#drag(event));
    this.#resizing = new ResizeObserver(() => this.#layout());
    this.#part = new LazyPart({
      element: this.#element,
      name: 'what shows values',
      load: async () => {
        const { frame, save, step } = deps;
        const { DetailView: View } = await import('./detail/detailView.ts');
        return (root) => new View(root, { frame, save, step, close: () => this.hide() });
      },
      onCreated: (view) => {
        this.#element.append(view.element);
        view.show(deps.cell());
      },
    });
    if (deps.state?.isOpen === true) this.open();
  }

  get isOpen(): boolean {
    return this.#part.isOpen;
  }

  get state(): PaneState {
    return { isOpen: this.isOpen, share: this.#share };
  }

  open(): void {
    if (this.isOpen) return;
    this.#deps.place.append(this.#splitter, this.#element);
    this.#resizing.observe(this.#deps.place);
    this.#layout();
    this.#part.open();
    this.#deps.onState();
  }

  /** Shows the active cell. */
  follow(): void {
    this.#part.view?.show(this.#deps.cell());
  }

  /** Moves the keyboard focus to the value, once it is loaded. */
  focus(): void {
    this.#part.focus();
  }

  /** Closes the pane and returns the focus to the active cell. */
  hide(): void {
    if (!this.isOpen) return;
    this.#remove();
    this.#deps.focusGrid();
    this.#deps.onState();
  }

  /** Frees what the pane holds. */
  close(): void {
    this.#remove();
  }

  #remove(): void {
    this.#resizing.disconnect();
    this.#part.close();
    this.#splitter.remove();
  }

  #onKey(event: KeyboardEvent): void {
    if (event.key === 'Escape') {
      // In a notebook, Escape would leave the output.
      event.preventDefault();
      event.stopPropagation();
      this.hide();
    } else if (event.key === 'F6' && event.shiftKey) {
      event.preventDefault();
      event.stopPropagation();
      this.#deps.focusGrid();
    }
  }

  // Size

  #layout(): void {
    this.#isBeside = this.#deps.place.clientWidth >= besideWidth;
    this.#deps.place.classList.toggle('lance-is-below', !this.#isBeside);
    this.#element.style.flexBasis = `${this.#share * 100}%`;
    this.#splitter.ariaOrientation = this.#isBeside ? 'vertical' : 'horizontal';
    this.#splitter.ariaValueMin = String(share.least * 100);
    this.#splitter.ariaValueMax = String(share.most * 100);
    this.#splitter.ariaValueNow = String(Math.round(this.#share * 100));
  }

  #resize(next: number): void {
    this.#share = clampShare(next);
    this.#layout();
    this.#deps.onState();
  }

  #onSplitterKey(event: KeyboardEvent): void {
    const larger = this.#isBeside ? 'ArrowLeft' : 'ArrowUp';
    const smaller = this.#isBeside ? 'ArrowRight' : 'ArrowDown';
    if (event.key === 'Escape') return this.#onKey(event);
    if (event.key !== larger && event.key !== smaller) return;
    event.preventDefault();
    event.stopPropagation();
    this.#resize(this.#share + (event.key === larger ? share.step : -share.step));
  }

  #drag(event: PointerEvent): void {
    if (event.button !== 0) return;
    event.preventDefault();
    const splitter = this.#splitter;
    splitter.setPointerCapture(event.pointerId);
    const { left, right, top, bottom } = this.#deps.place.getBoundingClientRect();
    const move = ({ clientX, clientY }: PointerEvent): void =>
      this.#resize(this.#isBeside ? (right - clientX) / (right - left) : (bottom - clientY) / (bottom - top));
    splitter.addEventListener('pointermove', move);
    splitter.addEventListener('lostpointercapture', () => splitter.removeEventListener('pointermove', move), {
      once: true,
    });
  }
}

const clampShare = (wanted: number): number =>
  Number.isFinite(wanted) ? Math.max(share.least, Math.min(wanted, share.most)) : share.first;
