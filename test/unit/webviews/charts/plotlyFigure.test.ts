import assert from 'node:assert/strict';
import { ownFigure } from '../../../../webviews/charts/plotlyFigure.ts';

const address = 'http://127.0.0.1/x.png';
const pixel = 'data:image/png;base64,AAAA';

/** Cleans a figure, and returns what was reported. */
function cleaned(figure: Record<string, unknown>) {
  const refused: string[] = [];
  return { ...ownFigure({ data: [], ...figure }, (each) => refused.push(each)), refused };
}

const cleanTitle = (text: string): unknown => cleaned({ layout: { title: text } }).layout['title'];

suite('A Plotly figure of a notebook', () => {
  for (const [name, layout, expected] of [
    ['an image', { images: [{ source: address, x: 1 }] }, { images: [{ x: 1 }] }],
    ['an image of a template', { template: { layout: { images: [{ source: address }] } } }, undefined],
    ['an image beside the notebook', { images: [{ source: '.env' }] }, { images: [{}] }],
    ['an address without a scheme', { images: [{ source: '//host/x' }] }, { images: [{}] }],
    ['an SVG page', { images: [{ source: 'data:text/html,<p>' }] }, { images: [{}] }],
    ['an image in a button', { updatemenus: [{ buttons: [{ args: [{ 'images[0].source': address }] }] }] }, undefined],
    ['images in a button', { sliders: [{ steps: [{ args: [{ source: [[address]] }] }] }] }, undefined],
    ['GeoJSON in a button', { updatemenus: [{ buttons: [{ args: [{ geojson: [address] }] }] }] }, undefined],
  ] as const)
    test(`loses ${name}, which is reported`, () => {
      const { layout: own, refused } = cleaned({ layout });
      assert.equal(refused.length, 1);
      assert.ok(JSON.stringify(layout).includes(refused[0]!));
      assert.ok(!JSON.stringify(own).includes(refused[0]!));
      if (expected) assert.deepEqual(own, expected);
    });

  test('loses maps, whose tiles are on servers, with their settings', () => {
    const traces = ['scattermap', 'scattermapbox', 'choroplethmap', 'densitymapbox'].map((type) => ({ type }));
    const { data, layout, refused } = cleaned({
      data: [...traces, { type: 'heatmap', z: [[1]] }, { type: 'treemap' }],
      layout: { map: { style: address }, mapbox2: { accesstoken: 'x' }, xaxis: { title: 'x' } },
    });
    assert.deepEqual(data, [{ type: 'heatmap', z: [[1]] }, { type: 'treemap' }]);
    assert.deepEqual(layout, { xaxis: { title: 'x' } });
    assert.equal(refused.length, traces.length);
  });

  test('shows no map through a button', () => {
    const { layout } = cleaned({
      layout: { updatemenus: [{ buttons: [{ args: [{ type: 'scattermap' }, { 'map.style': address }] }] }] },
    });
    assert.deepEqual(layout, { updatemenus: [{ buttons: [{ args: [{}, {}] }] }] });
  });

  test('loses GeoJSON and images of traces and frames that are elsewhere', () => {
    const trace = { type: 'choropleth', geojson: address, z: [1] };
    const { data, frames, refused } = cleaned({
      data: [trace, { type: 'image', source: 'https://host/a.png' }],
      frames: [{ name: 'f', data: [trace, { type: 'scattermap' }], layout: { images: [{ source: address }] } }, 7],
    });
    assert.deepEqual(data, [{ type: 'choropleth', z: [1] }, { type: 'image' }]);
    assert.deepEqual(frames, [{ name: 'f', data: [{ type: 'choropleth', z: [1] }], layout: { images: [{}] } }]);
    assert.ok(refused.includes('https://host/a.png'));
    assert.ok(refused.includes('outlines of countries'));
  });

  test('keeps settings that name no server', () => {
    const { config } = cleaned({
      config: {
        scrollZoom: true,
        staticPlot: false,
        plotlyServerURL: address,
        topojsonURL: address,
        showSendToCloud: true,
        showEditInChartStudio: true,
        displaylogo: true,
        mapboxAccessToken: 'x',
        modeBarButtonsToAdd: ['sendChartToCloud'],
        setBackground: 'x',
        locales: {},
        logging: 2,
      },
    });
    assert.deepEqual(config, { scrollZoom: true, staticPlot: false });
  });

  for (const [name, text, expected] of [
    ['bold text', '<b>a</b><br>c', '<b>a</b><br>c'],
    ['an extra label', '%{y}<extra>%{x}</extra>', '%{y}<extra>%{x}</extra>'],
    ['a color', '<span style="color: rgb(1, 2, 3); x: y">a</span>', '<span style="color:rgb(1, 2, 3)">a</span>'],
    ['a link', `<a target='_self' href='https://a.org/b?c=%20'>a</a>`, '<a>a</a>'],
    ['a script', '<a href="javascript:x()" popup="a" onclick="x">a</a>', '<a>a</a>'],
    ['a pointer', `<span style="cursor:url(${address})">a</span>`, '<span>a</span>'],
    ['an escaped pointer', `<span style="color:u\\72l(${address})">a</span>`, '<span>a</span>'],
    ['an entity', `<span style="color:ur&#108;(${address})">a</span>`, '<span>a</span>'],
    ['a set of images', `<b style='fill:image-set("${address}" 1x)'>a</b>`, '<b>a</b>'],
    ['an unknown tag', `<img src="${address}">`, `&lt;img src="${address}">`],
    ['a tag of a template', '<%{text}>', '&lt;%{text}>'],
    ['a part of a tag', '<span style="color:red', '&lt;span style="color:red'],
    ['a comparison', 'a < b > c', 'a &lt; b > c'],
    ['a paint', `url(${address}) red`, `url (${address}) red`],
    ['an escaped paint', `u\\000072 l(${address})`, `u\\000072 l (${address})`],
    ['a color with more', `rgb(1,2,3);background:URL(${address})`, `rgb (1,2,3);background:URL (${address})`],
    ['a color alone', 'rgba(1, 2, 3, 0.5)', 'rgba(1, 2, 3, 0.5)'],
  ] as const)
    test(`has text with harmless markup: ${name}`, () => assert.equal(cleanTitle(text), expected));

  test('keeps what it carries', () => {
    const figure = {
      data: [
        {
          type: 'bar',
          x: ['mug', 'plate'],
          y: { dtype: 'i1', bdata: 'AwE=' },
          customdata: [{ source: 'a', map: 'b' }],
        },
        { type: 'contour', contours: { type: 'constraint', operation: '<' }, z: [[1, null]] },
        { type: 'sankey', link: { source: [0, 1], target: [1, 2], value: [1, 1] } },
        { type: 'choropleth', geojson: { type: 'FeatureCollection', features: [] } },
      ],
      layout: { images: [{ source: pixel }], xaxis: { tickformat: '%Y<br>%b' }, meta: { source: 'c' } },
      frames: [{ name: 'f', data: [{ y: [1] }] }],
    };
    const { data, layout, frames } = cleaned(figure);
    assert.deepEqual({ data, layout, frames }, figure);
  });

  test('keeps an SVG image in a form that is no markup', () => {
    const { layout } = cleaned({ layout: { images: [{ source: `data:image/svg+xml,<svg a="b(1)"/>` }] } });
    assert.deepEqual(layout['images'], [{ source: 'data:image/svg+xml,%3csvg a=%22b%281%29%22/%3e' }]);
  });

  test('reaches no prototype', () => {
    const { layout } = cleaned({ layout: JSON.parse('{"__proto__": {"a": 1}, "a.__proto__.b": 2, "c": 3}') });
    assert.deepEqual(layout, { c: 3 });
    assert.equal(Object.getPrototypeOf(layout), Object.prototype);
  });

  for (const figure of [null, 7, 'http://127.0.0.1', {}, { data: {} }])
    test(`must have data: ${JSON.stringify(figure)}`, () => {
      assert.throws(() => ownFigure(figure, () => {}), /it has no data/);
    });
});
