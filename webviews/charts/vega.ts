import { type Handler as VegaHandler, type Item, renderModule } from 'vega';
import embed, { type EmbedOptions } from 'vega-embed';
import { Handler as Tooltip } from 'vega-tooltip';
import { isRecord } from '#shared/records.ts';
import { type ChartLook, chartRenderer, openLink } from './chartOutput.ts';
import { canLoadAsCss } from './cssRequests.ts';
import { dataLoader, isImageData } from './dataLoader.ts';
import { ownSpec, withSafeInputs } from './vegaSpec.ts';

const configOf = ({ text, lines, font }: ChartLook) => {
  const labels = { labelColor: text, titleColor: text };
  return {
    background: 'transparent',
    font,
    axis: { ...labels, domainColor: lines, tickColor: lines, gridColor: lines },
    legend: labels,
    header: labels,
    title: { color: text, subtitleColor: text },
    view: { stroke: lines },
  };
};

/** Vega's SVG renderer and handler, with methods that Vega's types lack. */
type SvgModule = {
  renderer: new (...args: never[]) => { style(element: Element, item: Item | null): void };
  handler: new (...args: never[]) => VegaHandler & { element(): HTMLElement };
};

/**
 * Keeps Vega's SVG from sending requests. Expressions can compute colors and addresses, so this code checks the
 * computed values when Vega uses them.
 */
function guardSvg(): void {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Vega's type of this call requires a module
  const module = (renderModule as unknown as (name: string, module?: SvgModule) => SvgModule)('svg');
  class ChartRenderer extends module.renderer {
    override style(element: Element, item: (Item & Record<string, unknown>) | null): void {
      for (const name of ['fill', 'stroke']) {
        const paint = item?.[name];
        if (!item || paint === undefined || paint === null || (isRecord(paint) && 'gradient' in paint)) continue;
        // Vega would convert an array to a string.
        if (typeof paint !== 'string' || canLoadAsCss(paint)) item[name] = null;
      }
      super.style(element, item);
    }
  }
  class ChartHandler extends module.handler {
    /** Handles a click on a link. Vega's own handler would open the link in the page that shows all outputs. */
    handleHref(event: Event, _: Item, address: unknown): void {
      if (event.isTrusted && typeof address === 'string') openLink(this.element(), address);
    }
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
  (renderModule as unknown as (name: string, module: SvgModule) => void)('svg', {
    ...module,
    renderer: ChartRenderer,
    handler: ChartHandler,
  });
}

guardSvg();

/**
 * Checks the pointer's `cursor` style. A chart may compute this style, and Vega assigns it to the chart's element.
 */
function guardCursor({ style }: HTMLElement): void {
  Object.defineProperty(style, 'cursor', {
    get: () => style.getPropertyValue('cursor'),
    set: (value: unknown) => {
      const text = String(value);
      if (!canLoadAsCss(text)) style.setProperty('cursor', text);
    },
  });
}

/** Returns a tooltip that shows values as text. The tooltip shows an image only if its data is in the chart. */
function chartTooltip(isDark: boolean): NonNullable<EmbedOptions['tooltip']> {
  const { call } = new Tooltip({ theme: isDark ? 'dark' : 'light' });
  return (handler, event, item, value: unknown) => {
    if (!isRecord(value) || !('image' in value)) return call(handler, event, item, value);
    const { image, ...others } = value;
    return call(handler, event, item, isImageData(image) ? { ...others, image } : others);
  };
}

/**
 * Renders Vega and Vega-Lite charts. With `ast`, Vega interprets expressions. Without `ast`, Vega would run expressions
 * as code, which VS Code allows in the page of outputs. A notebook's content must not run as code there.
 */
export const activate = chartRenderer(async (description, { mime, place, look, onRefused }) => {
  guardCursor(place);
  const { finalize } = await embed(place, ownSpec(description), {
    mode: mime.includes('vegalite') ? 'vega-lite' : 'vega',
    renderer: 'svg',
    actions: false,
    ast: true,
    loader: dataLoader(onRefused),
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same description with fewer attributes
    patch: (spec) => withSafeInputs(spec) as typeof spec,
    config: configOf(look),
    tooltip: chartTooltip(look.isDark),
  });
  return finalize;
});
