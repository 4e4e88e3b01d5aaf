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
export const loadProblem = (part: string, error: unknown): HTMLElement =>
  createElement('p', {
    className: 'lance-pane-problem',
    role: 'alert',
    text: `Can't load ${part}: ${messageOf(error)}. Reload the window.`,
  });
