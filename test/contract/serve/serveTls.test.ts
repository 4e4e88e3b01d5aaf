import assert from 'node:assert/strict';
import { copyFileSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { connectNamespace } from '#catalog/connect.ts';
import { registerRest } from '#catalog/rest/register.ts';
import { tempFolder } from '../../harness/temp.ts';
import { fails } from '../expect.ts';
import { makeCertificate } from './certificate.ts';
import { list, type ServeProcess, startServe } from './serveProcess.ts';

/** Returns the name in the certificate of a server. */
function shownName(port: number, options: { maxVersion?: 'TLSv1.1' } = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    // Don't verify the certificate, because the test only reads its name.
    const legacy = options.maxVersion ? { minVersion: 'TLSv1' as const, ciphers: 'DEFAULT@SECLEVEL=0' } : {};
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ...legacy, ...options }, () => {
      resolve(String(socket.getPeerCertificate().subject.CN));
      socket.destroy();
    });
    socket.once('error', reject);
  });
}

suite('lance-catalog serve over TLS', function () {
  this.timeout(30_000);
  const folder = tempFolder();
  const first = makeCertificate(folder, 'first');
  const second = makeCertificate(folder, 'second');
  const used = { cert: join(folder, 'used.crt'), key: join(folder, 'used.key') };
  const key = 'a-key-of-the-tests-0123456789';
  let server: ServeProcess;
  suiteSetup(async () => {
    copyFileSync(first.cert, used.cert);
    copyFileSync(first.key, used.key);
    const args = ['--root', tempFolder(), '--api-key-env', 'KEY', '--tls-cert', used.cert, '--tls-key', used.key];
    server = await startServe([...args, '--host', '0.0.0.0'], {
      env: { KEY: key },
      ca: readFileSync(first.cert, 'utf8'),
    });
  });
  suiteTeardown(() => server.stop());

  test('listens beyond this machine, and serves who trusts its certificate', async () => {
    assert.equal(server.address, `https://0.0.0.0:${server.port}`);
    const answer = await server.send({ ...list, headers: { 'x-api-key': key, host: 'localhost' } });
    assert.deepEqual([answer.status, answer.body], [200, '{"tables":[]}']);
  });

  test('speaks no TLS before 1.2, and no plain HTTP', async () => {
    await assert.rejects(shownName(server.port, { maxVersion: 'TLSv1.1' }), /alert|version|EPROTO|ECONNRESET/i);
    const plain = new Promise((resolve, reject) => {
      request({ port: server.port, host: '127.0.0.1', path: '/healthz' }, resolve).once('error', reject).end();
    });
    await assert.rejects(plain);
    registerRest();
    const db = await connectNamespace('rest', { uri: `http://127.0.0.1:${server.port}`, retries: 0 });
    await fails(() => db.listTables(), 'ServiceUnavailable', 'https://');
    await db.close();
  });

  test('takes a renewed certificate without a restart, and keeps the old one while the pair does not fit', async () => {
    assert.equal(await shownName(server.port), 'first');
    copyFileSync(second.cert, used.cert);
    const kept = await server.logged('certificate_kept');
    assert.match(String(kept['problem']), /does not belong/);
    assert.equal(await shownName(server.port), 'first');
    copyFileSync(second.key, used.key);
    await server.logged('certificate_read');
    assert.equal(await shownName(server.port), 'second');
    assert.doesNotMatch(server.said(), /PRIVATE KEY/);
  });
});
