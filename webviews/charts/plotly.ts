import Plotly from 'plotly.js-dist-min';
import { isRecord } from '#shared/records.ts';
import { type ChartLook, chartRenderer } from './chartOutput.ts';

/** Returns the defaults of a figure. */
function templateOf({ text, lines, font }: ChartLook): object {
  const axis = { gridcolor: lines, linecolor: lines, zerolinecolor: lines };
  return {
    layout: {
      paper_bgcolor: 'rgba(0, 0, 0, 0)',
      plot_bgcolor: 'rgba(0, 0, 0, 0)',
      font: { color: text, family: font },
      xaxis: axis,
      yaxis: axis,
    },
  };
}

/** Renders Plotly figures: `{ data, layout, frames, config }`. */
export const activate = chartRenderer(async (figure, _, place, look) => {
  if (!isRecord(figure) || !Array.isArray(figure['data'])) throw new Error('it has no data.');
  const { data, layout, frames, config } = figure;
  await Plotly.newPlot(place, {
    data,
    layout: { template: templateOf(look), ...(isRecord(layout) && layout) },
    config: { displaylogo: false, responsive: true, ...(isRecord(config) && config) },
    ...(Array.isArray(frames) && { frames }),
  });
  return () => Plotly.purge(place);
});
