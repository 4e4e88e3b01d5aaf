import assert from 'node:assert/strict';
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempFolder } from '../../harness/temp.ts';
import { runServe, startServe } from './serveProcess.ts';

suite('The command line of lance-catalog serve', function () {
  this.timeout(60_000);
  const root = tempFolder();
  const open = `${tempFolder()}/open`;
  writeFileSync(open, `ana ${'0'.repeat(64)} read-only *\n`, { mode: 0o644 });
  chmodSync(open, 0o644);
  const env = { KEY: 'a-key-of-the-tests-0123456789', SHORT: 'short' };

  for (const [what, args, said] of [
    ['nothing to serve', ['--no-auth'], /needs --root DIR/],
    ['no decision about keys', ['--root', root], /--keys FILE, --api-key-env NAME and --no-auth/],
    ['a root that is a server', ['--root', 'http://x', '--no-auth'], /"http:\/\/" is not the address/],
    ['two sources of keys', ['--root', root, '--no-auth', '--api-key-env', 'KEY'], /Give exactly one of/],
    ['a variable that is not set', ['--root', root, '--api-key-env', 'NOT_SET'], /NOT_SET is not set/],
    ['another host without TLS', ['--root', root, '--api-key-env', 'KEY', '--host', '0.0.0.0'], /without encryption/],
    [
      'a name as host without TLS',
      ['--root', root, '--api-key-env', 'KEY', '--host', 'example.com'],
      /without encryption/,
    ],
    ['a proxy without keys', ['--root', root, '--no-auth', '--behind-proxy'], /needs keys/],
    ['half a certificate', ['--root', root, '--no-auth', '--tls-cert', 'x'], /together/],
    [
      'no port',
      ['--root', root, '--no-auth', '--port', '65536'],
      /Expected a whole number from 0 to 65535 for --port, got "65536"/,
    ],
    ['a limit of 0', ['--root', root, '--no-auth', '--max-requests', '0'], /Expected .* for --max-requests, got "0"/],
    ['an unknown option', ['--root', root, '--nope'], /--nope/],
    ['a database without a root', ['--database', 'a', '--no-auth'], /"a" has no root/],
    ['a secret on the command line', ['--root', root, '--storage-option', 'aws_secret_access_key=s'], /environment/],
    ['a key without a name', ['new-key'], /needs one NAME/],
    [
      'a key for an invalid namespace',
      ['new-key', 'ana', '--namespace', 'shop/../eu'],
      /^Expected names with "\/" between them for --namespace, got "shop\/\.\.\/eu"/,
    ],
    ['a key for no namespace', ['new-key', 'ana', '--namespace', ''], /for --namespace, got ""/],
    [
      'a key for a namespace that is too deep',
      ['new-key', 'ana', '--namespace', 'a/b/c/d/e/f/g/h/i/j/k'],
      /for --namespace, .* 11 names is too deep\. Use at most 10\./,
    ],
    ['a key for an invalid database', ['new-key', 'ana', '--database', 'a,b'], /for --database, got "a,b"/],
  ] as const) {
    test(`answers ${what} with one sentence and 2`, () => {
      const { code, stdout, stderr } = runServe(args, env);
      assert.deepEqual([code, stdout], [2, ''], stderr);
      assert.match(stderr, said);
      assert.equal(stderr.trim().split('\n').length, 1, stderr);
    });
  }

  for (const [what, args, said] of [
    ['a root that is not there', ['--root', '/not/there', '--no-auth'], /no directory "\/not\/there"/],
    ['a file of keys that others can read', ['--root', root, '--keys', open], /mode 644.*chmod 600/],
    ['a file of keys that is not there', ['--root', root, '--keys', '/not/there'], /Can't read the file/],
    ['a key that could be guessed', ['--root', root, '--api-key-env', 'SHORT'], /fewer than 16 characters/],
    ['a certificate that is none', ['--root', root, '--no-auth', '--tls-cert', open, '--tls-key', open], /TLS/],
  ] as const) {
    test(`does not start with ${what}, and says why`, () => {
      const { code, stdout, stderr } = runServe(['--port', '0', ...args], env);
      assert.deepEqual([code, stdout], [1, ''], stderr);
      assert.match(stderr, said);
      assert.ok(!stderr.includes(env.KEY));
    });
  }

  test('does not start on a port that is taken', async () => {
    const first = await startServe(['--root', root, '--no-auth']);
    try {
      const { code, stderr } = runServe(['--root', root, '--no-auth', '--port', String(first.port)]);
      assert.equal(code, 1);
      assert.match(stderr, /Can't listen on 127\.0\.0\.1:\d+: another program uses this port\. .*--port/);
    } finally {
      await first.stop();
    }
  });

  test('makes a key, and the line for the file beside it', () => {
    const made = runServe(['new-key', 'ana', '--read-only', '--database', 'shop']);
    assert.equal(made.code, 0);
    assert.match(made.stdout, /^lc_[\w-]{43}\n$/);
    assert.match(made.stderr, /^ana [0-9a-f]{64} read-only shop\n$/);
  });

  test('adds the line of a new key to a file that it makes for its owner alone, and repeats no name', () => {
    const keys = join(tempFolder(), 'keys');
    const made = ['ana', 'bob'].map((name) => runServe(['new-key', name, '--keys', keys]));
    assert.deepEqual(
      made.map(({ code, stderr }) => [code, stderr]),
      [
        [0, ''],
        [0, ''],
      ],
    );
    assert.equal(statSync(keys).mode & 0o777, 0o600);
    const text = readFileSync(keys, 'utf8');
    assert.match(text, /^ana [0-9a-f]{64} read-write \*\nbob [0-9a-f]{64} read-write \*\n$/);
    const again = runServe(['new-key', 'ana', '--keys', keys]);
    assert.deepEqual([again.code, again.stdout], [1, '']);
    assert.match(again.stderr, /already has a key "ana"/);
    assert.equal(readFileSync(keys, 'utf8'), text);
  });

  test('has a help of its own', () => {
    const { code, stdout } = runServe(['--help']);
    assert.equal(code, 0);
    for (const word of ['--api-key-env', '--keys', '--tls-cert', '/readyz', 'new-key'])
      assert.ok(stdout.includes(word));
  });
});
