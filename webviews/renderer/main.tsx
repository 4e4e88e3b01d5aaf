import { flushSync } from 'react-dom';
import { createRoot } from 'react-dom/client';
import type { Root } from 'react-dom/client';
import type { ActivationFunction } from 'vscode-notebook-renderer';
import gridCss from 'hightable/src/HighTable.css';
import { disposer } from '../parts/shownOutputs.ts';
import themeCss from '../parts/theme.css';
import outputCss from './output.css';
import { OutputView, readOutput } from './output.tsx';
import type { Output } from './output.tsx';

/** One output on the screen. */
type Mounted = { root: Root; output: Output };

/** Keys that move within the grid; a notebook would leave the cell on them. */
const gridKeys = /^(Arrow|Page|Home|End|Tab$|Enter$| $)/;

/** Draws `application/vnd.apache.arrow.stream` outputs, from a running kernel or out of a saved notebook. */
export const activate: ActivationFunction = () => {
  const mounted = new Map<string, Mounted>();
  let styles: CSSStyleSheet | undefined;

  const dispose = (id: string): void => {
    const output = mounted.get(id);
    mounted.delete(id);
    output?.root.unmount();
    if (output && 'frame' in output.output) output.output.frame.close();
  };

  return {
    renderOutputItem(item, element) {
      dispose(item.id);
      styles ??= styleSheet();
      // Neither may the notebook's rules for tables reach the grid, nor the grid's rules the notebook.
      const shadow = element.shadowRoot ?? element.attachShadow({ mode: 'open' });
      shadow.adoptedStyleSheets = [styles];
      const place = document.createElement('div');
      shadow.replaceChildren(place);
      keepKeys(place);
      keepWheel(place);
      const output = readOutput(item.data(), item.metadata);
      const root = createRoot(place);
      mounted.set(item.id, { root, output });
      // At once: an output without a height loses its distance to the cell's edge.
      flushSync(() => root.render(<OutputView output={output} />));
    },
    disposeOutputItem: disposer(mounted, dispose),
  };
};

function styleSheet(): CSSStyleSheet {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`${gridCss}\n${themeCss}\n${outputCss}`);
  return sheet;
}

function keepKeys(place: HTMLElement): void {
  place.addEventListener('keydown', (event) => {
    if (gridKeys.test(event.key)) event.stopPropagation();
  });
}

/** The notebook scrolls on wheel events unless it sees something scrollable, and it doesn't see into a shadow root. */
function keepWheel(place: HTMLElement): void {
  place.addEventListener(
    'wheel',
    (event) => {
      const scroller = event
        .composedPath()
        .find((node) => node instanceof HTMLElement && node.scrollHeight > node.clientHeight + 1 && canScroll(node));
      if (!(scroller instanceof HTMLElement)) return;
      const atEnd =
        event.deltaY < 0
          ? scroller.scrollTop <= 0
          : scroller.scrollTop + scroller.clientHeight >= scroller.scrollHeight - 1;
      if (!atEnd) event.stopPropagation();
    },
    { passive: true },
  );
}

const canScroll = (node: HTMLElement): boolean => /auto|scroll/.test(getComputedStyle(node).overflowY);
