import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { CheckContext } from '#cluster/check.ts';
import type { CheckId } from '#cluster/checkIds.ts';
import { ClusterError } from '#cluster/errors.ts';
import { fail, pass, skip, warn } from '#cluster/checkResults.ts';
import type { CheckEvent } from '#cluster/result.ts';
import { SecretRedactor } from '#cluster/secretTexts.ts';
import { check, runThem } from './checksToRun.ts';

suite('A run of checks', () => {
  test('blocks what needs a failed check, through all that needs it, and nothing else', async () => {
    const report = await runThem([
      check('k8s-reach', () => fail('Nobody answers.')),
      check('ns-exists', () => pass('There.'), { needs: ['k8s-reach'] }),
      check('sa-exists', () => pass('There.'), { needs: ['ns-exists'] }),
      check('aws-identity', () => pass('alice')),
    ]);
    assert.deepEqual(
      report.results.map(({ id, status }) => [id, status]),
      [
        ['k8s-reach', 'fail'],
        ['ns-exists', 'blocked'],
        ['sa-exists', 'blocked'],
        ['aws-identity', 'pass'],
      ],
    );
    assert.deepEqual(report.counts, { pass: 1, warn: 0, fail: 1, skipped: 0, blocked: 2 });
    const blocked = report.results[2];
    assert.deepEqual(blocked?.status === 'blocked' && blocked.by, ['ns-exists']);
  });

  test('distinguishes unknown results from checks that do not apply, also for dependent checks', async () => {
    const report = await runThem([
      check('k8s-whoami', () => {
        throw new ClusterError('Forbidden', 'alice may not ask.', '', { status: 403 });
      }),
      check('ns-exists', () => pass('There.'), { needs: ['k8s-whoami'] }),
      check('sa-exists', () => pass('There.'), { needs: ['ns-exists'] }),
      check('eks-describe', () => skip('The profile is not on AWS.')),
      check('oidc-issuer', () => pass('There.'), { writes: 'write an object' }),
    ]);
    assert.deepEqual(
      report.results.map((result) => result.status === 'skipped' && [result.cause, result.reason]),
      [
        ['unknown', undefined],
        ['unknown', 'You lack the permission: alice may not ask.'],
        ['unknown', 'You lack the permission: alice may not ask.'],
        [undefined, undefined],
        ['not-asked', undefined],
      ],
    );
  });

  test('skips what needs a skipped check, with its reason, and goes on after a warning', async () => {
    const report = await runThem([
      check('k8s-clock', () => warn('Eight minutes late.')),
      check('ns-exists', () => pass('There.'), { needs: ['k8s-clock'] }),
      check('eks-describe', () => skip('The profile is not on AWS.')),
      check('oidc-issuer', () => pass('There.'), { needs: ['eks-describe'] }),
    ]);
    assert.deepEqual(
      report.results.map(({ status }) => status),
      ['warn', 'pass', 'skipped', 'skipped'],
    );
    assert.match(report.results[3]?.sentence ?? '', /eks-describe, which was skipped: The profile is not on AWS\./);
  });

  test('says the reason of a skip once, however long the chain is that needs it', async () => {
    const report = await runThem([
      check('gcp-adc', () => pass('There.'), { skip: () => 'The profile names no cluster there.' }),
      check('gcp-client-role', () => pass('There.'), { needs: ['gcp-adc'] }),
      check('gcp-wi-cluster', () => pass('There.'), { needs: ['gcp-client-role'] }),
    ]);
    const reason = 'It needs gcp-client-role, which was skipped: The profile names no cluster there.';
    assert.equal(report.results[2]?.sentence, reason);
  });

  test('skips a check that does not apply for this reason, whatever the result of its dependencies', async () => {
    const report = await runThem([
      check('k8s-reach', () => fail('Nobody answers.')),
      check('gcp-sa-annotation', () => pass('There.'), { needs: ['k8s-reach'], skip: () => 'Not on Google Cloud.' }),
    ]);
    assert.equal(report.results[1]?.status, 'skipped');
    assert.equal(report.results[1]?.sentence, 'Not on Google Cloud.');
  });

  test('blocks by what a check needs for this profile alone', async () => {
    const checks = [
      check('kubeconfig-load', () => pass('Found.'), {
        alsoNeeds: ({ auth }) => (auth.configMethod === 'EKS_AUTH' ? ['eks-describe'] : []),
      }),
      check('eks-describe', () => fail('There is no such cluster.')),
    ];
    const statusFor = async (configMethod: string) => {
      const { results } = await runThem(checks, {}, { profile: { auth: { configMethod } } } as CheckContext);
      return results[0]?.status;
    };
    assert.equal(await statusFor('LOCAL'), 'pass');
    assert.equal(await statusFor('EKS_AUTH'), 'blocked');
  });

  test('asks independent checks at once, and each after what it needs wherever that stands', async () => {
    const order: string[] = [];
    const note = (id: CheckId, needs: readonly CheckId[], until: Promise<unknown>) =>
      check(
        id,
        async () => {
          order.push(`${id} begins`);
          await until;
          order.push(`${id} ends`);
          return pass('Fine.');
        },
        { needs },
      );
    const gate = new AbortController();
    const opened = once(gate.signal, 'abort');
    const both = note('k8s-reach', [], opened);
    const other = check('aws-identity', () => {
      order.push('aws-identity');
      gate.abort();
      return pass('Fine.');
    });
    const report = await runThem([note('ns-exists', ['k8s-reach'], Promise.resolve()), both, other]);
    assert.deepEqual(order, [
      'k8s-reach begins',
      'aws-identity',
      'k8s-reach ends',
      'ns-exists begins',
      'ns-exists ends',
    ]);
    assert.deepEqual(
      report.results.map(({ id }) => id),
      ['ns-exists', 'k8s-reach', 'aws-identity'],
    );
  });

  test('makes a failure of what a check throws, and a skip of what may not be asked', async () => {
    const report = await runThem([
      check('k8s-reach', () => {
        throw new ClusterError('TlsUntrusted', 'The certificate of host is not trusted.', 'Check the certificate.');
      }),
      check('k8s-clock', () => {
        throw new TypeError('x is not a function');
      }),
      check('rbac-excess', () => {
        throw new ClusterError('Forbidden', 'alice may not list roles.', '', { status: 403 });
      }),
      check('k8s-whoami', () => fail('Nobody.'), { severity: 'warning' }),
    ]);
    assert.deepEqual(
      report.results.map(({ status, sentence }) => [status, sentence]),
      [
        ['fail', 'The certificate of host is not trusted.'],
        ['fail', '"k8s-clock is so" could not be checked: x is not a function'],
        ['skipped', 'You lack the permission: alice may not list roles.'],
        ['warn', 'Nobody.'],
      ],
    );
    const [tls] = report.results;
    assert.deepEqual(tls?.status === 'fail' && tls.mend, { kind: 'advice', text: 'Check the certificate.' });
  });

  test('writes nothing unless it may', async () => {
    let wrote = 0;
    const writing = check(
      'aws-client-bucket-put',
      () => {
        wrote++;
        return pass('Written.');
      },
      { writes: 'write an object into the bucket' },
    );
    const without = await runThem([writing]);
    assert.equal(wrote, 0);
    assert.match(without.results[0]?.sentence ?? '', /^The check would write an object into the bucket\. .*--probe/);
    const withProbe = await runThem([writing], { mayWrite: true });
    assert.equal(withProbe.results[0]?.status, 'pass');
  });

  test('runs one check again with what it needs, and tells who watches', async () => {
    const events: CheckEvent[] = [];
    const report = await runThem(
      [
        check('k8s-reach', () => pass('Reached.')),
        check('ns-exists', () => pass('There.'), { needs: ['k8s-reach'] }),
        check('aws-identity', () => pass('alice')),
      ],
      { only: ['ns-exists'], observe: (event) => events.push(event) },
    );
    assert.deepEqual(
      report.results.map(({ id }) => id),
      ['k8s-reach', 'ns-exists'],
    );
    assert.deepEqual(
      events.map((event) => (event.type === 'started' ? `${event.id}?` : `${event.result.id}!`)),
      ['k8s-reach?', 'k8s-reach!', 'ns-exists?', 'ns-exists!'],
    );
  });

  test('shows no secret, neither a registered one nor one with a known form', async () => {
    const hidden = new SecretRedactor();
    hidden.add('wJalrXUtnFEMI/K7MDENG', 'short');
    const jwt = `eyJ${'a'.repeat(20)}.eyJ${'b'.repeat(20)}.${'c'.repeat(20)}`;
    const report = await runThem(
      [
        check('k8s-reach', () =>
          fail(`Refused: wJalrXUtnFEMI/K7MDENG and ${encodeURIComponent('wJalrXUtnFEMI/K7MDENG')}`, {
            evidence: [{ asked: 'GET /?X-Amz-Signature=deadbeef0123&x=1', saw: `Authorization: Bearer ${jwt}` }],
            fix: { kind: 'command', command: `kubectl --token=${jwt}` },
          }),
        ),
      ],
      { hidden },
    );
    const text = JSON.stringify(report);
    for (const secret of ['wJalrXUtnFEMI', 'deadbeef0123', 'eyJ']) assert.ok(!text.includes(secret), secret);
    assert.match(text, /&x=1/);
  });

  test('refuses a graph that cannot be run', async () => {
    const one = check('k8s-reach', () => pass('Fine.'), { needs: ['ns-exists'] });
    await assert.rejects(runThem([one]), /k8s-reach needs ns-exists, which does not exist/);
    const other = check('ns-exists', () => pass('Fine.'), { needs: ['k8s-reach'] });
    await assert.rejects(runThem([one, other]), /need one another: k8s-reach → ns-exists → k8s-reach/);
    await assert.rejects(runThem([other, other]), /same id/);
  });
});
