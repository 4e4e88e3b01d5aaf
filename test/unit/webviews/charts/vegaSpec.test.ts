import assert from 'node:assert/strict';
import { canLoadAsCss } from '../../../../webviews/charts/cssRequests.ts';
import { dataLoader } from '../../../../webviews/charts/dataLoader.ts';
import { ownSpec, withSafeInputs } from '../../../../webviews/charts/vegaSpec.ts';

/** Returns a loader, and a list of the addresses that it refused. */
function loaderWithLog() {
  const refused: string[] = [];
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- called with what Vega passes, also what its type forbids
  const loader = dataLoader((address) => refused.push(address)) as unknown as Record<
    'load' | 'sanitize' | 'http' | 'file',
    (uri: unknown, options?: object) => Promise<unknown>
  >;
  return { loader, refused };
}

suite('The loader of a Vega chart', () => {
  const addresses = [
    '.env',
    '/etc/hosts',
    'file:///etc/hosts',
    'http://127.0.0.1',
    'https://a.org',
    '//a.org',
    'blob:x',
  ];
  for (const way of ['load', 'sanitize', 'http', 'file'] as const)
    test(`refuses every address by ${way}, and reports it`, async () => {
      const { loader, refused } = loaderWithLog();
      for (const address of [...addresses, '', ' data:a,b', 'data:a', undefined, { href: 'x' }])
        for (const options of [undefined, { context: 'image' }, { context: 'href' }, { context: 'dataflow' }])
          await assert.rejects(loader[way](address, options), /charts can show only data that they contain/);
      assert.deepEqual([...new Set(refused)].slice(0, addresses.length), addresses);
    });

  test('reads data that is in the address', async () => {
    const { loader, refused } = loaderWithLog();
    assert.equal(await loader.load('data:text/csv,a%2Cb%0A1,2'), 'a,b\n1,2');
    assert.equal(await loader.load('data:text/plain;charset=utf-8;base64,w6Q='), 'ä');
    assert.deepEqual(await loader.load('data:,[1]', { response: 'json' }), [1]);
    assert.deepEqual(await loader.load('data:;base64,AQI=', { response: 'arrayBuffer' }), Uint8Array.of(1, 2).buffer);
    assert.deepEqual(refused, []);
  });

  test('takes images that carry their data, and nothing else with data', async () => {
    const { loader } = loaderWithLog();
    const image = 'data:image/png;base64,AAAA';
    assert.deepEqual(await loader.sanitize(image, { context: 'image' }), { href: image });
    await assert.rejects(loader.sanitize(image, { context: 'href' }));
    await assert.rejects(loader.sanitize('data:text/html,a', { context: 'image' }));
  });
});

suite('A Vega description of a notebook', () => {
  test('loses options of the embedding page and events outside of the chart', () => {
    const spec = {
      mark: 'bar',
      data: { values: [{ usermeta: 1 }] },
      usermeta: { embedOptions: { loader: {}, ast: false } },
      config: { events: { globalCursor: true }, bar: { fill: 'red' } },
    };
    assert.deepEqual(ownSpec(spec), { mark: 'bar', data: spec.data, config: { bar: { fill: 'red' } } });
  });

  for (const spec of ['http://127.0.0.1/spec.json', null, [], 7])
    test(`must be an object: ${JSON.stringify(spec)}`, () => {
      assert.throws(() => ownSpec(spec), /Expected an object/);
    });

  test('has form elements with harmless attributes alone', () => {
    const range = { input: 'range', min: 0, max: 9, step: 1, name: 'n', debounce: 5 };
    const spec = {
      data: [{ name: 'a', values: [{ bind: { input: 'image' } }] }],
      signals: [
        { name: 'a', bind: range },
        { name: 'b', bind: { ...range, src: 'x', style: 'x', onload: 'x', formaction: 'x', element: 'body' } },
        { name: 'c', bind: { input: 'image', src: 'x' } },
        { name: 'd', bind: { element: '#other', event: 'click' } },
        { name: 'e', bind: { input: ['text'] } },
      ],
      config: { signals: [{ name: 'f', bind: { input: 'submit' } }] },
      marks: [{ type: 'group', signals: [{ name: 'g', bind: { input: 'file' } }] }],
    };
    assert.deepEqual(withSafeInputs(spec), {
      data: spec.data,
      signals: [{ name: 'a', bind: range }, { name: 'b', bind: range }, { name: 'c' }, { name: 'd' }, { name: 'e' }],
      config: { signals: [{ name: 'f' }] },
      marks: [{ type: 'group', signals: [{ name: 'g' }] }],
    });
  });
});

suite('Text that is read as CSS', () => {
  for (const [text, loads] of [
    ['url(x)', true],
    ['URL("x") red', true],
    ['u\\72l(x)', true],
    ['\\000075rl(x)', true],
    ['\\u\\r\\l(x)', true],
    ['-webkit-image-set("x" 1x)', true],
    ['cross-fade(x)', true],
    ['url (x)', false],
    ['rgb(1, 2, 3)', false],
    ['\\', false],
    ['\\ffffff(x)', false],
    ['curl', false],
  ] as const)
    test(`${text} ${loads ? 'can' : "can't"} load an address`, () => assert.equal(canLoadAsCss(text), loads));
});
