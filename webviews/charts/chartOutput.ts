import type { ActivationFunction } from 'vscode-notebook-renderer';
import { disposer } from '../parts/shownOutputs.ts';

/** The colours and the font that a chart takes from the editor, as CSS has them. */
export type ChartLook = { isDark: boolean; text: string; lines: string; font: string };

/** The look of an output. Libraries compute with colours, so these are no names of variables. */
function lookOf(element: HTMLElement): ChartLook {
  const { classList } = document.body;
  const isLight = classList.contains('vscode-light') || classList.contains('vscode-high-contrast-light');
  const { color, fontFamily } = getComputedStyle(element);
  return { isDark: !isLight, text: color, lines: faint(color), font: fontFamily };
}

/** The same colour, as much of it as lines behind a chart need. */
const faint = (color: string): string => color.replace(/^rgba?\((\d+), (\d+), (\d+).*$/, 'rgba($1, $2, $3, 0.25)');

/**
 * Draws a chart into a place, in the colours of the editor. What it gives is called when the chart goes.
 * @throws what its library says of a description that it can't draw
 */
type DrawChart = (description: unknown, mime: string, place: HTMLElement, look: ChartLook) => Promise<() => void>;

type Shown = { description: unknown; mime: string; element: HTMLElement; end: () => void };

/** A renderer of outputs that draws charts, and draws them again when the theme changes. */
export const chartRenderer =
  (draw: DrawChart): ActivationFunction =>
  () => {
    const shown = new Map<string, Shown>();

    const put = async (chart: Shown): Promise<void> => {
      chart.end();
      chart.end = () => {};
      const place = document.createElement('div');
      // An output without a height loses its distance to the cell's edge, and libraries take a while.
      place.style.minHeight = '1em';
      chart.element.replaceChildren(place);
      try {
        const end = await draw(chart.description, chart.mime, place, lookOf(chart.element));
        // Gone, or drawn anew, while the library was at work.
        if (place.isConnected) chart.end = end;
        else end();
      } catch (error) {
        place.textContent = `Can't draw this chart: ${error instanceof Error ? error.message : String(error)}`;
      }
    };
    const dispose = (id: string): void => {
      shown.get(id)?.end();
      shown.delete(id);
    };

    new MutationObserver(() => {
      for (const chart of shown.values()) void put(chart);
    }).observe(document.body, { attributeFilter: ['class', 'data-vscode-theme-id'] });

    return {
      async renderOutputItem(item, element) {
        dispose(item.id);
        const chart: Shown = { description: item.json(), mime: item.mime, element, end: () => {} };
        shown.set(item.id, chart);
        await put(chart);
      },
      disposeOutputItem: disposer(shown, dispose),
    };
  };
