import Plotly from 'plotly.js-dist-min';
import { type ChartLook, chartRenderer } from './chartOutput.ts';
import { ownFigure } from './plotlyFigure.ts';

const transparent = 'rgba(0, 0, 0, 0)';

/** Returns the defaults of a figure. */
function templateOf({ text, lines, font }: ChartLook): object {
  const axis = { gridcolor: lines, linecolor: lines, zerolinecolor: lines };
  return {
    layout: {
      paper_bgcolor: transparent,
      plot_bgcolor: transparent,
      font: { color: text, family: font },
      xaxis: axis,
      yaxis: axis,
      geo: { bgcolor: transparent, framecolor: lines },
      polar: { bgcolor: transparent, angularaxis: axis, radialaxis: axis },
    },
  };
}

declare global {
  /**
   * Plotly's outlines of countries. The build renames their global variable, because other renderers use the same name.
   */
  var chartGeoAssets: { topojson: Record<string, object> };
}

/** Empty outlines, so that Plotly downloads none. */
const noOutlines = {
  type: 'Topology',
  arcs: [],
  objects: Object.fromEntries(
    ['ocean', 'land', 'lakes', 'subunits', 'countries', 'coastlines', 'rivers'].map((layer) => [
      layer,
      { type: 'GeometryCollection', geometries: [] },
    ]),
  ),
};
globalThis.chartGeoAssets = { topojson: new Proxy({}, { get: () => noOutlines }) };

/** Renders Plotly figures: `{ data, layout, frames, config }`. */
export const activate = chartRenderer(async (description, { place, look, onRefused }) => {
  const { data, layout, frames, config } = ownFigure(description, onRefused);
  const figure = {
    data,
    layout: { template: templateOf(look), ...layout },
    config: { responsive: true, ...config, displaylogo: false, showSendToCloud: false, plotlyServerURL: '' },
    ...(frames && { frames }),
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the library says what is wrong with it
  await Plotly.newPlot(place, figure as Parameters<typeof Plotly.newPlot>[1]);
  return () => Plotly.purge(place);
});
