import assert from 'node:assert/strict';
import { ClusterError } from '#cluster/errors.ts';
import { pass } from '#cluster/checkResults.ts';
import { check, runThem, lost, never } from './checksToRun.ts';

suite('Time in a run of checks', () => {
  test('asks again after what may pass by itself, as often as the check says', async () => {
    let asked = 0;
    const report = await runThem([
      check(
        'k8s-reach',
        () => {
          if (++asked < 3) throw lost();
          return pass('Reached.');
        },
        { retries: 2 },
      ),
      check('k8s-clock', () => {
        throw lost();
      }),
      check('k8s-whoami', () => {
        throw new ClusterError('CredentialsExpired', 'The token has expired.', 'Sign in again.');
      }),
    ]);
    assert.deepEqual(
      report.results.map(({ status, attempts }) => [status, attempts]),
      [
        ['pass', 3],
        ['fail', 2],
        ['fail', 1],
      ],
    );
  });

  test('gives a check up at its limit, and tells it so', async () => {
    let signal: AbortSignal | undefined;
    const report = await runThem([
      check(
        'k8s-reach',
        (own) => {
          signal = own;
          return never();
        },
        { limit: 30 },
      ),
    ]);
    assert.equal(report.results[0]?.status, 'fail');
    assert.match(report.results[0]?.sentence ?? '', /no response within 0\.03 s/);
    assert.equal(signal?.aborted, true);
  });

  test('ends when it is stopped: what has finished stays, the rest is skipped', async () => {
    const stop = new AbortController();
    const report = await runThem(
      [
        check('k8s-reach', () => pass('Reached.')),
        check(
          'k8s-clock',
          () => {
            setTimeout(() => stop.abort(), 10);
            return never();
          },
          { needs: ['k8s-reach'] },
        ),
        check('ns-exists', () => pass('There.'), { needs: ['k8s-clock'] }),
      ],
      { signal: stop.signal },
    );
    assert.equal(report.stopped, true);
    assert.deepEqual(
      report.results.map(({ status }) => status),
      ['pass', 'skipped', 'skipped'],
    );
  });
});
