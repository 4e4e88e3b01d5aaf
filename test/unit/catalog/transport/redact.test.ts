import assert from 'node:assert/strict';
import { redact } from '#catalog/transport/redact.ts';

const key = 'sk-1234567890abcdef';

suite('secrets in messages', () => {
  test('are removed from base64 at each position, with the text around them', () => {
    for (const before of ['', 'a', 'ab', 'abc', 'user:', 'name:']) {
      for (const after of ['', '!', '!!', ':more']) {
        for (const encoding of ['base64', 'base64url'] as const) {
          const text = Buffer.from(before + key + after).toString(encoding);
          assert.equal(redact(`token ${text}, wrong`, [key]), 'token …, wrong', `${before}KEY${after}`);
        }
      }
    }
  });

  test('leave other text as it is', () => {
    const text = 'Table "sk" has 1234567890 rows; dXNlcjpwYXNz is not the key (50%, a+b).';
    assert.equal(redact(text, [key, 'abc']), text);
    assert.equal(redact(text, []), text);
  });

  test('of regular expressions are text', () => {
    const secret = 'a.*(b)[c]+$^|\\d{2}/-';
    assert.equal(redact(`x${secret}y, aXXbc`, [secret]), 'x…y, aXXbc');
    assert.equal(redact(JSON.stringify({ secret }), [secret]), '{"secret":"…"}');
  });

  test('are removed where they are partly percent-encoded, in any case', () => {
    const secret = 'key/with+signs=é';
    for (const text of ['key%2Fwith+signs=é', 'key/with%2bsigns%3d%C3%A9', 'key/with+signs=%e9'])
      assert.equal(redact(`<${text}>`, [secret]), '<…>');
  });

  test('are removed from a long text in time that grows with its length', () => {
    const text = 'A'.repeat(2_000_000);
    assert.equal(redact(text, [key]), text);
    const hidden = redact(text + Buffer.from(key).toString('base64'), [key]);
    assert.equal(hidden, '…');
  });
});
