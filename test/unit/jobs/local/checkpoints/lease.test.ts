import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { FolderStore } from '#jobs/local/checkpoints/folderStore.ts';
import { type Lease, takeLease } from '#jobs/local/checkpoints/lease.ts';
import type { ComputedFunction } from '#shared/jobs/computedFunction.ts';
import { tempFolder } from '../../../../harness/temp.ts';

const fn: ComputedFunction = {
  name: 'f',
  version: '1',
  hash: 'f00',
  inputs: [],
  output: '',
  onError: { mode: 'fail' },
  kind: 'sql',
  expression: '1',
};

/** A lease of another job. That job may renew the lease at a later pause. */
type Left = { jobId?: string; host?: string; pid?: number; heartbeatAt: number; beatsAfter?: number; text?: string };

/** A clock that advances only in pauses, because the code waits for minutes and tests must not. */
function clockStandIn(onPause: (pauses: number) => void) {
  const clock = { at: 1_000_000, pauses: 0 };
  return {
    now: () => clock.at,
    seconds: () => clock.at / 1000 - 1000,
    clock: {
      wall: () => clock.at,
      steady: () => clock.at,
      wait: (milliseconds: number) => {
        clock.at += milliseconds;
        onPause(++clock.pauses);
        return Promise.resolve();
      },
    },
  };
}

async function take(left: Left | undefined): Promise<{ lease: Promise<Lease>; seconds: () => number; path: string }> {
  const folder = tempFolder();
  const path = join(folder, '_ckp', 'c.lease');
  const put = ({ jobId = 'bf-other', host = 'elsewhere', pid = 1, heartbeatAt, text }: Left): void => {
    mkdirSync(join(folder, '_ckp'), { recursive: true });
    const said = { version: 1, job_id: jobId, holder: `ann@${host}`, host, pid, nonce: 'theirs' };
    writeFileSync(path, text ?? JSON.stringify({ ...said, function_hash: '', heartbeat_at: heartbeatAt }));
  };
  const { clock, now, seconds } = clockStandIn((pauses) => {
    if (left && pauses === left.beatsAfter) put({ ...left, heartbeatAt: left.heartbeatAt + 10_000 });
  });
  if (left) put({ ...left, heartbeatAt: now() + left.heartbeatAt });
  const spec = { jobId: 'bf-mine', column: 'c', function: fn };
  const { signal } = new AbortController();
  const lease = takeLease(new FolderStore(folder), { spec, notice: () => undefined, signal, clock });
  await lease.catch(() => undefined);
  return { lease, seconds, path };
}

suite('the lease of a column', () => {
  test('is there while it is held and gone afterwards', async () => {
    const { lease, path } = await take(undefined);
    assert.match(readFileSync(path, 'utf8'), /"job_id":"bf-mine"/);
    await (await lease).check();
    await (await lease)[Symbol.asyncDispose]();
    assert.equal(existsSync(path), false);
  });

  test('is refused at once while its holder beats, and the holder is named', async () => {
    const { lease, seconds } = await take({ heartbeatAt: -5_000 });
    await assert.rejects(lease, { kind: 'Busy', message: /bf-other of ann@elsewhere/ });
    assert.equal(seconds(), 0);
  });

  test('of a process of this machine that is gone is taken over at once', async () => {
    const { lease, seconds } = await take({ heartbeatAt: 0, host: hostname(), pid: 2 ** 22 + 1 });
    await (await lease)[Symbol.asyncDispose]();
    assert.equal(seconds(), 0);
  });

  test('of the same job on another machine is taken over at once', async () => {
    const { lease, seconds } = await take({ heartbeatAt: 0, jobId: 'bf-mine' });
    await (await lease)[Symbol.asyncDispose]();
    assert.equal(seconds(), 0);
  });

  test('of a holder who stays silent until the last beat is a minute ago is taken over', async () => {
    const { lease, seconds } = await take({ heartbeatAt: -30_000 });
    await (await lease)[Symbol.asyncDispose]();
    assert.ok(seconds() > 30 && seconds() < 40, String(seconds()));
  });

  for (const [what, left] of [
    ['whose last beat is long ago', { heartbeatAt: -3_600_000 }],
    ['that was not written to its end', { heartbeatAt: 0, text: '{"version": 1, "jo' }],
  ] as const) {
    test(`${what} is watched for a beat only`, async () => {
      const { lease, seconds } = await take(left);
      await (await lease)[Symbol.asyncDispose]();
      assert.ok(seconds() >= 12 && seconds() < 20, String(seconds()));
    });
  }

  for (const [clock, heartbeatAt] of [
    ['behind', -3_600_000],
    ['ahead', 3_600_000],
  ] as const) {
    test(`is refused where the holder beats by a clock that is far ${clock}`, async () => {
      const { lease } = await take({ heartbeatAt, beatsAfter: 5 });
      await assert.rejects(lease, { kind: 'Busy', message: /bf-other/ });
    });
  }

  test('that another job took over is reported as its lease, and stays unchanged', async () => {
    const { lease, path } = await take(undefined);
    const theirs = readFileSync(path, 'utf8')
      .replace(/"nonce":"\w+"/, '"nonce":"theirs"')
      .replace('bf-mine', 'bf-other');
    writeFileSync(path, theirs);
    await assert.rejects((await lease).check(), { kind: 'Busy', message: /bf-other of .* took over/ });
    await (await lease)[Symbol.asyncDispose]();
    assert.equal(readFileSync(path, 'utf8'), theirs);
  });
});
