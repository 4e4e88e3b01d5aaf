import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { request } from 'undici';
import type { ClusterError } from '#cluster/errors.ts';
import { followRayJob } from '#cluster/ray/followRayJob.ts';
import { RayJobs } from '#cluster/ray/rayJobs.ts';
import { rayPackage } from '#cluster/ray/rayPackage.ts';
import { isFinished, type RayJob } from '#cluster/ray/rayReplies.ts';
import { pendingReason } from '#cluster/ray/rayRoom.ts';
import { failureOf } from '#jobs/runners/ray/rayPending.ts';
import { until } from '../parts/processes.ts';
import type { RayHead } from '../parts/rayHead.ts';
import type { RayWorld } from '../parts/rayWorld.ts';

const newId = (): string => `test-${randomUUID().slice(0, 8)}`;
const python = (code: string): string => `python -c '${code}'`;

/** Defines the tests of Ray's API for jobs, for the suite of a release. */
export function testRayJobs(ray: () => RayWorld): void {
  suite('its jobs', () => {
    let head: RayHead;
    let jobs: RayJobs;
    const signal = new AbortController().signal;
    suiteSetup(() => void ({ head, jobs } = ray()));

    async function start(entrypoint: string, more: { workingDir?: string; numCpus?: number; pip?: string[] } = {}) {
      const submissionId = newId();
      const { numCpus, ...runtime } = more;
      await jobs.submit({ submissionId, entrypoint, runtime, metadata: {}, numCpus }, signal);
      return submissionId;
    }

    async function whenIn(submissionId: string, isSo: (job: RayJob) => boolean): Promise<RayJob> {
      let job: RayJob | undefined;
      await until('the state of the job', async () => isSo((job = await jobs.status(submissionId, signal))), {
        limit: 120_000,
        told: () => JSON.stringify(job),
      });
      return job!;
    }

    const end = (submissionId: string): Promise<RayJob> => whenIn(submissionId, ({ state }) => isFinished(state));

    test('says its version and which run of the cluster it is', async () => {
      const { version, session } = await jobs.version(signal);
      assert.equal(version, head.release);
      assert.match(session, /^session_/);
    });

    test('takes a package of files that a job finds in its folder, with what is in them', async () => {
      const letters = Array.from({ length: 20_000 }, (_, index) => String.fromCodePoint(0x100 + (index % 500))).join(
        '',
      );
      const pack = rayPackage({
        'run.py': 'print(len(open("größe.txt", encoding="utf-8").read()))',
        'größe.txt': letters,
      });
      const id = await start('python run.py', { workingDir: await jobs.upload(pack, signal) });
      const { state, message } = await end(id);
      assert.equal(state, 'SUCCEEDED', message);
      assert.match(await jobs.log(id, signal), /^20000$/m);
    });

    test('starts one job where the same is submitted twice', async () => {
      const submission = { submissionId: newId(), entrypoint: 'echo once', runtime: {}, metadata: { of: 'test' } };
      const first = await jobs.submit(submission, signal);
      const second = await jobs.submit(submission, signal);
      assert.deepEqual([first.wasThere, second.wasThere], [false, true]);
      const { metadata } = await end(submission.submissionId);
      assert.equal(metadata['of'], 'test');
      const there = (await jobs.list(signal)).filter(({ submissionId }) => submissionId === submission.submissionId);
      assert.equal(there.length, 1);
    });

    test('refuses what Node calls fetch, and takes what the client sends', async () => {
      const body = JSON.stringify({ entrypoint: 'echo hi' });
      const asBrowser = await request(`${head.address}/api/jobs/`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'user-agent': 'Mozilla/5.0', 'sec-fetch-mode': 'cors' },
        body,
      });
      await asBrowser.body.dump();
      assert.equal(asBrowser.statusCode, 405);
      assert.equal((await end(await start('echo hi'))).state, 'SUCCEEDED');
    });

    test('gives what a job prints piece by piece, once each, while it runs', async () => {
      const id = await start(
        python('import time\nfor i in range(30):\n  print("line", i, flush=True)\n  time.sleep(0.1)'),
      );
      const pieces: string[] = [];
      let whileRunning = 0;
      const last = await followRayJob(
        jobs,
        {
          submissionId: id,
          known: 0,
          onText: (text) => pieces.push(text),
          onJob: ({ state }) =>
            void (whileRunning += state === 'RUNNING' && pieces.join('').includes('line 5') ? 1 : 0),
          onReturn: () => {},
          patience: 0,
        },
        signal,
      );
      assert.equal(last.state, 'SUCCEEDED', last.message);
      const numbers = [...pieces.join('').matchAll(/^line (\d+)$/gm)].map(([, number]) => Number(number));
      assert.deepEqual(
        numbers,
        Array.from({ length: 30 }, (_, index) => index),
      );
      assert.ok(whileRunning > 0, 'nothing came before the end');
    });

    test('gives each line of a long log once, of which only the end is read', async () => {
      // The job prints about 2 MB, pauses so that the test can read the start, and then prints more.
      const code =
        'import time\ndef say(a, b):\n  for i in range(a, b): print("line %d %s" % (i, "x" * 60))\n' +
        'say(0, 30000)\nprint(end="", flush=True)\ntime.sleep(3)\nsay(30000, 30200)\nprint(end="", flush=True)\ntime.sleep(2)\nsay(30200, 30300)';
      const id = await start(python(code));
      const pieces: string[] = [];
      const last = await followRayJob(
        jobs,
        {
          submissionId: id,
          known: 0,
          onText: (text) => pieces.push(text),
          onJob: () => {},
          onReturn: () => {},
          patience: 0,
        },
        signal,
      );
      assert.equal(last.state, 'SUCCEEDED', last.message);
      assert.ok(pieces.length > 2, 'it came at once');
      const numbers = [...pieces.join('').matchAll(/^line (\d+) x{60}$/gm)].map(([, number]) => Number(number));
      assert.deepEqual(
        numbers,
        Array.from({ length: 30_300 }, (_, index) => index),
      );
      const tail = await jobs.lastOfLog(id, last.driverNode!, 2, signal);
      assert.equal(tail, `line 30298 ${'x'.repeat(60)}\nline 30299 ${'x'.repeat(60)}\n`);
    });

    test('goes on following after the way to it was cut, and says so', async () => {
      const id = await start(
        python('import time\nfor i in range(60):\n  print("line", i, flush=True)\n  time.sleep(0.1)'),
      );
      const pieces: string[] = [];
      const returns: string[] = [];
      let cut: Promise<void> | undefined;
      let back: Promise<void> | undefined;
      const last = await followRayJob(
        jobs,
        {
          submissionId: id,
          known: 0,
          onText: (text) => {
            pieces.push(text);
            if (text.includes('line ')) cut ??= head.disconnect();
          },
          onJob: () => cut,
          onLost: () => {
            back ??= head.connect();
          },
          onReturn: (reason) => returns.push(reason),
          patience: 60_000,
        },
        signal,
      );
      await back;
      assert.equal(last.state, 'SUCCEEDED', last.message);
      const numbers = [...pieces.join('').matchAll(/^line (\d+)$/gm)].map(([, number]) => Number(number));
      assert.deepEqual(
        numbers,
        Array.from({ length: 60 }, (_, index) => index),
      );
      assert.equal(returns.length, 1);
      assert.match(returns[0]!, /^Ray at http:\/\/127\.0\.0\.1:\d+: /);
    });

    test('is given up once the patience is over', async () => {
      const id = await start(python('import time\ntime.sleep(60)'));
      await whenIn(id, ({ state }) => state === 'RUNNING');
      await head.disconnect();
      try {
        const options = { submissionId: id, known: 0, onText: () => {}, onJob: () => {}, onReturn: () => {} };
        await assert.rejects(followRayJob(jobs, { ...options, patience: 1 }, signal), (error: ClusterError) => {
          assert.equal(error.kind, 'Unreachable');
          assert.match(error.message, /Check that Ray is running/);
          return true;
        });
      } finally {
        await head.connect();
      }
      await jobs.stop(id, signal);
    });

    test('stops a job and waits until it has ended, and then deletes it', async () => {
      const id = await start(python('import time\ntime.sleep(600)'));
      await whenIn(id, ({ state }) => state === 'RUNNING');
      await assert.rejects(jobs.delete(id, signal), { kind: 'Conflict', hint: 'Stop it first.' });
      assert.equal((await jobs.stop(id, signal)).state, 'STOPPED');
      await jobs.delete(id, signal);
      await assert.rejects(jobs.status(id, signal), { kind: 'NotFound' });
    });

    test('leaves a job as it is that is stopped after its end', async () => {
      const id = await start('true');
      await end(id);
      assert.equal((await jobs.stop(id, signal)).state, 'SUCCEEDED');
    });

    test('says with which code a command ended that fails', async () => {
      const { state, driverExitCode, message } = await end(await start('python nothing.py'));
      assert.deepEqual([state, driverExitCode], ['FAILED', 2]);
      assert.match(message, /can't open file/);
    });

    test('says that a package is missing', async () => {
      const job = await end(await start('true', { workingDir: 'gcs://_ray_pkg_0000.zip' }));
      assert.equal(job.state, 'FAILED');
      assert.match(job.message, /runtime_env setup failed/);
      assert.equal(failureOf(jobs.subject, job, undefined)?.kind, 'RunnerUnavailable');
    });

    test('says what a job waits for that asks for more than there is', async () => {
      const id = await start('true', { numCpus: 64 });
      let sentence: string | undefined;
      await until(
        'a reason',
        async () => {
          const room = await jobs.room(signal);
          return (sentence = room && pendingReason(room)) !== undefined;
        },
        { limit: 60_000 },
      );
      assert.match(
        sentence!,
        /^The work needs 64 CPU at once, but Ray has 4 CPU \([\d.]+ CPU free\); it waits until nodes/,
      );
      const { state } = await jobs.status(id, signal);
      assert.equal(state, 'PENDING');
      // The call does not wait for the end of the job, because Ray stops a pending job only when it would start it.
      assert.equal((await jobs.stop(id, signal)).state, 'PENDING');
    });

    test('says that a job is not there', async () => {
      await assert.rejects(jobs.status('never', signal), {
        kind: 'NotFound',
        what: `Ray at ${head.address} has no job "never".`,
      });
      await assert.rejects(jobs.log('never', signal), { kind: 'NotFound' });
      await assert.rejects(jobs.stop('never', signal), { kind: 'NotFound' });
    });

    test('is reached by a socket in place of a port', async () => {
      const other = new RayJobs({ address: 'http://ray.invalid', socketPath: head.socket });
      try {
        assert.equal((await other.version(signal)).version, head.release);
      } finally {
        await other.close();
      }
    });

    test('cancels the request when the signal aborts', async () => {
      await assert.rejects(jobs.list(AbortSignal.abort()), { kind: 'Aborted' });
    });
  });
}
