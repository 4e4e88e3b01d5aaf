import embed, { type VisualizationSpec } from 'vega-embed';
import { type ChartLook, chartRenderer } from './chartOutput.ts';

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

/**
 * Renders Vega and Vega-Lite charts. `ast` makes Vega interpret expressions, since a notebook's content must not run
 * as code.
 */
export const activate = chartRenderer(async (description, mime, place, look) => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the library says what is wrong with it
  const { finalize } = await embed(place, description as VisualizationSpec, {
    mode: mime.includes('vegalite') ? 'vega-lite' : 'vega',
    renderer: 'svg',
    actions: false,
    ast: true,
    config: configOf(look),
    tooltip: { theme: look.isDark ? 'dark' : 'light' },
  });
  return finalize;
});
