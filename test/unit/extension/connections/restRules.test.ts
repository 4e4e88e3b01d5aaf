import assert from 'node:assert/strict';
import {
  addressProblem,
  addressWarning,
  cleanAddress,
  databaseProblem,
  headerOf,
  headerProblem,
  keyProblem,
  proxyFor,
  restBaseName,
  restConfigOf,
} from '../../../../extension/connections/restRules.ts';

const noProxy = { proxy: '', support: 'override', noProxy: [] };

suite('what a person types about a server', () => {
  for (const [typed, kept] of [
    ['https://catalog.example.com', 'https://catalog.example.com'],
    [' https://catalog.example.com/ ', 'https://catalog.example.com'],
    ['https://catalog.example.com/lance//', 'https://catalog.example.com/lance'],
    ['catalog.example.com', 'https://catalog.example.com'],
    ['catalog.example.com:8443', 'https://catalog.example.com:8443'],
    ['http://127.0.0.1:2333', 'http://127.0.0.1:2333'],
    ['127.0.0.1:2333', 'http://127.0.0.1:2333'],
    ['localhost:2333/at/shop', 'http://localhost:2333/at/shop'],
    ['[::1]:2333', 'http://[::1]:2333'],
    ['https://localhost:2333', 'https://localhost:2333'],
  ] as const) {
    test(`is kept as ${kept} when it is the address "${typed}"`, () => {
      assert.equal(addressProblem(typed), undefined);
      assert.equal(cleanAddress(typed), kept);
    });
  }

  for (const [typed, says] of [
    ['', /Type the address/],
    ['  ', /Type the address/],
    ['ftp://example.com', /not the URL of a catalog server/],
    ['https://', /not the URL of a catalog server/],
    ['https://me:secret@example.com', /contains a user name or a password/],
    ['https://example.com?key=secret', /contains more than a server and a path/],
  ] as const) {
    test(`is refused with a sentence when it is the address "${typed}"`, () => {
      const problem = addressProblem(typed) ?? '';
      assert.match(problem, says);
      assert.doesNotMatch(problem, /secret[@"]/);
    });
  }

  test('brings a warning when a key would go over the network unencrypted, and can be kept', () => {
    assert.match(addressWarning('http://catalog.example.com') ?? '', /Not encrypted/);
    for (const fine of ['https://catalog.example.com', 'http://localhost:8080', 'http://127.0.0.1', 'http://[::1]:1'])
      assert.equal(addressWarning(fine), undefined);
    assert.equal(addressWarning('nothing much:'), undefined, 'what is no address has a problem instead');
  });

  test('can be no key and no database that would be two headers', () => {
    assert.equal(keyProblem('abc-123'), undefined);
    assert.equal(keyProblem(''), undefined);
    assert.equal(databaseProblem('sales'), undefined);
    assert.match(keyProblem('abc\r\nx-admin: 1') ?? '', /line break/);
    assert.match(databaseProblem('sales\nx: 1') ?? '', /line break/);
    assert.doesNotMatch(keyProblem('sesame\n1') ?? '', /sesame/);
  });

  test('is a header as a name, a colon and a value', () => {
    assert.deepEqual(headerOf(' X-Team :  data: all '), { name: 'X-Team', value: 'data: all' });
    assert.equal(headerOf('X-Team'), undefined);
  });

  for (const [typed, says] of [
    ['X-Team', /Name: value/],
    ['X Team: data', /not a valid header name/],
    ['Host: evil.example', /can't be set/],
    ['Content-Length: 1', /can't be set/],
    ['X-Team: a\nb', /line break/],
  ] as const) {
    test(`is refused with a sentence when it is the header ${JSON.stringify(typed)}`, () => {
      assert.match(headerProblem(typed) ?? '', says);
    });
  }

  test('is named after the database, else the host', () => {
    assert.equal(restBaseName('https://catalog.example.com:8443', 'sales'), 'sales');
    assert.equal(restBaseName('https://catalog.example.com:8443', ''), 'catalog.example.com');
  });
});

suite('how the client is told to connect to a server', () => {
  test('has the address, the database and the secrets, and nothing that is not there', () => {
    const uri = 'https://catalog.example.com';
    assert.deepEqual(restConfigOf({ uri }, {}, noProxy), { uri });
    assert.deepEqual(
      restConfigOf({ uri, database: 'sales' }, { apiKey: 'k', headers: { 'X-Team': 'data' } }, noProxy),
      { uri, apiKey: 'k', database: 'sales', headers: { 'X-Team': 'data' } },
    );
  });

  test("goes by the proxy of the editor's settings, except to this machine and what they leave out", () => {
    const proxy = 'http://proxy.example:3128';
    const settings = { proxy, support: 'override', noProxy: ['.intern.example', '*.lab', 'one.example:443'] };
    assert.equal(proxyFor('https://catalog.example.com', settings), proxy);
    assert.equal(proxyFor('https://two.example', settings), proxy);
    for (const direct of [
      'http://127.0.0.1:1',
      'http://localhost:1',
      'https://a.intern.example',
      'https://intern.example',
      'https://x.lab',
      'https://one.example',
    ])
      assert.equal(proxyFor(direct, settings), undefined, direct);
    assert.equal(proxyFor('https://a.example', { ...settings, noProxy: ['*'] }), undefined);
    assert.equal(proxyFor('https://a.example', { ...settings, support: 'off' }), undefined);
    assert.equal(proxyFor('https://a.example', noProxy), undefined);
  });
});
