import type { ActivationFunction } from 'vscode-notebook-renderer';
import { cutText, namesText, oneLine, pluralize } from '#shared/format/markup.ts';
import { disposer } from '../parts/outputLifecycle.ts';

/** The editor's colors and font for a chart, as CSS values. */
export type ChartLook = { isDark: boolean; text: string; lines: string; font: string };

/** Reads the colors and font of an output, as computed values because chart libraries can't resolve CSS variables. */
function lookOf(element: HTMLElement): ChartLook {
  const { classList } = document.body;
  const isLight = classList.contains('vscode-light') || classList.contains('vscode-high-contrast-light');
  const { color, fontFamily } = getComputedStyle(element);
  return { isDark: !isLight, text: color, lines: faint(color), font: fontFamily };
}

/** Returns the color with a lower opacity, for lines behind a chart. */
const faint = (color: string): string => color.replace(/^rgba?\((\d+), (\d+), (\d+).*$/, 'rgba($1, $2, $3, 0.25)');

/** Reports an address that a chart names, because the address was not loaded. */
export type OnRefused = (address: string) => void;

/**
 * Draws a chart into an element, in the editor's colors. Returns a function that disposes of the chart.
 * A saved notebook may contain any description, so drawing must send no request.
 * @throws the library's error if it can't draw the description
 */
type DrawChart = (
  description: unknown,
  options: { mime: string; place: HTMLElement; look: ChartLook; onRefused: OnRefused },
) => Promise<() => void>;

type Shown = { description: unknown; mime: string; element: HTMLElement; end: () => void };

/** Limits of the notice under a chart: the number of addresses, and the length of each. */
const maxAddresses = 3;
const maxAddressLength = 120;

/** Creates a renderer of charts, which redraws them when the theme changes. */
export const chartRenderer =
  (draw: DrawChart): ActivationFunction =>
  () => {
    const shown = new Map<string, Shown>();

    const put = async (chart: Shown): Promise<void> => {
      chart.end();
      chart.end = () => {};
      const place = document.createElement('div');
      // Set a height now: an output without height loses its distance to the cell's edge until the library has drawn
      // the chart.
      place.style.minHeight = '1em';
      const notice = document.createElement('div');
      notice.className = 'lance-chart-notice';
      chart.element.replaceChildren(place, notice);
      const refused = new Set<string>();
      const onRefused = (address: string): void => {
        refused.add(cutText(oneLine(address), maxAddressLength));
        notice.textContent = refusedText([...refused]);
      };
      try {
        const end = await draw(chart.description, {
          mime: chart.mime,
          place,
          look: lookOf(chart.element),
          onRefused,
        });
        // End the drawing at once if the chart was disposed of or redrawn while the library ran.
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

const refusedText = (addresses: readonly string[]): string => {
  const subject = pluralize(addresses.length, 'address was', 'addresses were');
  return `${subject} not loaded: ${namesText(addresses, maxAddresses)}. Charts show only data that they contain.`;
};

/**
 * Opens an https link of a chart with VS Code, which shows the address first. Ignores other links. Call this only after
 * a click of the user, because VS Code handles only clicks on anchors of the page.
 */
export function openLink(place: HTMLElement, address: string): void {
  if (!/^https:\/\//i.test(address)) return;
  const anchor = document.createElement('a');
  anchor.href = address;
  anchor.target = '_blank';
  anchor.rel = 'noreferrer';
  anchor.hidden = true;
  place.append(anchor);
  anchor.click();
  anchor.remove();
}
