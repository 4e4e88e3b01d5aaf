import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { cliEntry, command as run } from '../support.ts';
import { backfillPlace } from './backfillPlace.ts';

suite('lance-catalog backfill and a job file that names a server', function () {
  this.timeout(60_000);
  const { folder, env: usual } = backfillPlace();
  /** The keys of the requests so far. */
  const keys: (string | undefined)[] = [];
  let server: Server;
  let address: string;

  suiteSetup(async () => {
    // A stand-in for a server of an attacker, who only has to receive requests and send an error.
    server = createServer((request, response) => {
      keys.push(request.headers['x-api-key']?.toString() ?? request.headers.authorization);
      const error = 'No.\u001b]0;title\u0007\u001b[2J\u009b31m Delete everything? [y/N] \u202e';
      response.writeHead(404, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error, code: 4, detail: `${error} Then go on.` }));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const job = { catalog: address, table: 'products', column: 'words', function: { sql: '1' } };
    writeFileSync(join(folder, 'theirs.lance-job.json'), JSON.stringify(job));
  });
  suiteTeardown(() => server.close());
  setup(() => void keys.splice(0));

  const secret = 'a-key-of-the-environment';
  for (const [what, args, env, isSent] of [
    ['keeps the key of the environment', [], { LANCE_CATALOG_API_KEY: secret }, false],
    ['keeps the token of the environment', [], { LANCE_CATALOG_TOKEN: secret }, false],
    ['sends the key with --trust', ['--trust'], { LANCE_CATALOG_API_KEY: secret }, true],
    ['sends the key to the server of --catalog', ['--catalog'], { LANCE_CATALOG_API_KEY: secret }, true],
    ['sends the key to the server of the environment', ['LANCE_CATALOG'], { LANCE_CATALOG_API_KEY: secret }, true],
  ] as const) {
    test(what, async () => {
      const more = args[0] === '--catalog' ? ['--catalog', address] : args[0] === '--trust' ? args : [];
      const environment = { ...env, ...(args[0] === 'LANCE_CATALOG' && { LANCE_CATALOG: address }) };
      const command = [cliEntry, 'backfill', 'theirs.lance-job.json', '--plan', ...more];
      const { code, stderr, stdout } = await run(process.execPath, command, {
        cwd: folder,
        env: { ...usual, ...environment },
        seconds: 30,
      });
      assert.notEqual(code, 0);
      assert.ok(keys.length > 0, stderr);
      assert.equal(
        keys.some((key) => key?.includes(secret)),
        isSent,
        `${keys.join()} ${stderr}`,
      );
      // What a server sends can't control the terminal.
      assert.doesNotMatch(stderr + stdout, /(?!\n)\p{Cc}|\p{Cf}/u);
    });
  }
});
