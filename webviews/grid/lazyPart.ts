import { messageOf } from '#shared/errors.ts';
import { createElement } from '../parts/elements.ts';

// What the parts of a grid share that are loaded when they are opened: the detail pane, the gallery, the list of columns.

/** Returns a function that adds a style sheet to a page or a shadow root, once to each. */
export function createStyles(css: string): (root: Document | ShadowRoot) => void {
  let styles: CSSStyleSheet | undefined;
  return (root) => {
    if (!styles) {
      styles = new CSSStyleSheet();
      styles.replaceSync(css);
    }
    if (!root.adoptedStyleSheets.includes(styles)) root.adoptedStyleSheets = [...root.adoptedStyleSheets, styles];
  };
}

/** Returns the message in the place of a part that could not be loaded. */
const loadProblem = (part: string, error: unknown): HTMLElement =>
  createElement('p', {
    className: 'lance-pane-problem',
    role: 'alert',
    text: `Can't load ${part}: ${messageOf(error)}. Reload the window.`,
  });

type LazyPartDeps<View> = {
  /** Holds the view, or the message that it can't be loaded. */
  readonly element: HTMLElement;
  /** Names the part in that message. */
  readonly name: string;
  /** Loads the bundle, and returns a function that creates the view for a page or a shadow root. */
  readonly load: () => Promise<(root: Document | ShadowRoot) => View>;
  /** Called when the view was created. */
  readonly onCreated?: (view: View) => void;
};

/** A part of a grid whose code is loaded when it is opened. It has a view while it is open and loaded. */
export class LazyPart<View extends { focus(): void; close(): void }> {
  readonly #deps: LazyPartDeps<View>;
  #isOpen = false;
  #view: View | undefined;
  /** Whether the focus moves to the view once it is loaded. */
  #wantsFocus = false;

  constructor(deps: LazyPartDeps<View>) {
    this.#deps = deps;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  get view(): View | undefined {
    return this.#view;
  }

  /** Loads the view. Its element is placed by the caller. */
  open(): void {
    this.#isOpen = true;
    void this.#load();
  }

  /** Moves the keyboard focus to the view, once it is loaded. */
  focus(): void {
    this.#wantsFocus = this.#view === undefined;
    this.#view?.focus();
  }

  /** Closes the view and removes the element. */
  close(): void {
    this.#isOpen = false;
    this.#wantsFocus = false;
    this.#view?.close();
    this.#view = undefined;
    this.#deps.element.replaceChildren();
    this.#deps.element.remove();
  }

  async #load(): Promise<void> {
    const { element, name, load, onCreated } = this.#deps;
    try {
      const create = await load();
      if (!this.#isOpen || this.#view) return;
      const root = element.getRootNode();
      this.#view = create(root instanceof ShadowRoot ? root : document);
      onCreated?.(this.#view);
      if (this.#wantsFocus) this.focus();
    } catch (error) {
      element.replaceChildren(loadProblem(name, error));
    }
  }
}
