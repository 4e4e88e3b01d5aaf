import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AwsIdentity, callerOf } from '#cluster/aws/awsIdentity.ts';

const reply = `<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult>
<Arn>arn:aws:iam::123456789012:user/alice</Arn><UserId>AIDA</UserId><Account>123456789012</Account>
</GetCallerIdentityResult></GetCallerIdentityResponse>`;

suite('Requests to AWS', () => {
  const before = { ...process.env };
  teardown(() => {
    for (const name of ['HTTP_PROXY', 'NO_PROXY', 'AWS_ENDPOINT_URL_STS']) {
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    }
  });

  test('go through the proxy of the environment, to a host that only it knows', async () => {
    const asked: string[] = [];
    const proxy = createServer((request, response) => {
      asked.push(request.url ?? '');
      request.resume().once('end', () => response.setHeader('content-type', 'text/xml').end(reply));
    });
    await once(proxy.listen(0, '127.0.0.1'), 'listening');
    process.env['HTTP_PROXY'] = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    process.env['NO_PROXY'] = '';
    process.env['AWS_ENDPOINT_URL_STS'] = 'http://sts.invalid';
    const keys = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret' };
    const person = new AwsIdentity({ label: 'you', keys, region: 'us-east-1' });
    try {
      const caller = await callerOf(person, AbortSignal.timeout(20_000));
      assert.equal(caller.account, '123456789012');
      assert.deepEqual(asked, ['http://sts.invalid/']);
    } finally {
      person.close();
      proxy.close();
    }
  });
});
