import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { findKey, makeKey, parseKeys } from '#engine/serve/keys.ts';
import { isCatalogError, messageOf } from '#shared/errors.ts';

const hash = (key: string) => createHash('sha256').update(key).digest('hex');

function refusal(text: string): string {
  let thrown: unknown;
  try {
    parseKeys(text);
  } catch (error) {
    thrown = error;
  }
  assert.ok(isCatalogError(thrown, 'InvalidInput'), messageOf(thrown));
  return thrown.message;
}

suite('a file of keys', () => {
  test('has a name, a hash, an access and databases on each line, and comments', () => {
    const keys = parseKeys(
      `# who may ask\n\nana ${hash('a')} read-write *\r\nbob\t${hash('b').toUpperCase()}  read-only shop,eu # reports\n`,
    );
    assert.deepEqual(
      keys.map(({ digest, ...rest }) => ({ ...rest, digest: digest.toString('hex') })),
      [
        { name: 'ana', access: 'read-write', databases: '*', namespacePath: [], digest: hash('a') },
        { name: 'bob', access: 'read-only', databases: ['shop', 'eu'], namespacePath: [], digest: hash('b') },
      ],
    );
  });

  for (const [what, line] of [
    ['no hash', 'ana secret read-only *'],
    ['a hash that is cut', `ana ${hash('a').slice(1)} read-only *`],
    ['another access', `ana ${hash('a')} write *`],
    ['no databases', `ana ${hash('a')} read-only`],
    ['a database against the rule of names', `ana ${hash('a')} read-only shop,a/b`],
    ['something after the databases', `ana ${hash('a')} read-only shop eu`],
    ['a namespace without names', `ana ${hash('a')} read-only shop namespace=`],
    ['a namespace that leads out', `ana ${hash('a')} read-only shop namespace=eu/..`],
    ['a namespace with an empty name', `ana ${hash('a')} read-only shop namespace=eu//north`],
    ['something after the namespace', `ana ${hash('a')} read-only shop namespace=eu north`],
    ['a name that would break a log', `a"na ${hash('a')} read-only *`],
    ['the hash of an empty key', `ana ${hash('').toUpperCase()} read-only *`],
    ['the name of another line', `one ${hash('a')} read-only *`],
    ['the key of another line', `two ${hash('1')} read-only *`],
  ] as const) {
    test(`is refused for ${what}, with the number of the line`, () => {
      const said = refusal(`# first\none ${hash('1')} read-only *\n${line}\n`);
      assert.match(said, /^Line 3 of the key file /);
      assert.ok(!said.includes('secret'), said);
    });
  }

  test('is refused without any key, so that a file that is being written revokes nothing', () => {
    assert.match(refusal('# nobody\n'), /no key\. .* new-key/);
  });

  test('takes the line that is made for a new key, and opens with that key alone', () => {
    const { key, line } = makeKey('ana', 'read-only', ['shop']);
    const keys = parseKeys(`${line}\n${makeKey('bob', 'read-write', '*').line}`);
    assert.equal(findKey(keys, key)?.name, 'ana');
    assert.equal(findKey(keys, `${key}x`), undefined);
    assert.equal(findKey(keys, ''), undefined);
    assert.equal(findKey(keys, line.split(' ')[1]!), undefined);
    assert.ok(!line.includes(key));
  });

  test('has the namespace of a key at the end of its line', () => {
    const { key, line } = makeKey('ana', 'read-only', '*', ['shop', 'eu']);
    assert.match(line, /^ana [0-9a-f]{64} read-only \* namespace=shop\/eu$/);
    assert.deepEqual(findKey(parseKeys(line), key)?.namespacePath, ['shop', 'eu']);
    assert.throws(() => makeKey('ana', 'read-only', '*', ['shop', '..']));
  });

  test('never opens without a key, whatever is in it', () => {
    const nobody = { name: 'x', digest: Buffer.from(hash(''), 'hex'), access: 'read-only', databases: '*' } as const;
    assert.equal(findKey([{ ...nobody, namespacePath: [] }], ''), undefined);
  });

  test('never gets two equal keys', () => {
    assert.notEqual(makeKey('a', 'read-only', '*').key, makeKey('a', 'read-only', '*').key);
  });
});
