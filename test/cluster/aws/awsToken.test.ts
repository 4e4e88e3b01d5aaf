import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { signEksToken } from '#cluster/aws/eksCredential.ts';
import { python } from '../../harness/needs/python.ts';

const run = promisify(execFile);

/** Signs as `aws eks get-token` does: with upstream's own signer, at a given time. */
const signedByBotocore = `
import datetime, json, sys
import botocore.auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
asked = json.loads(sys.argv[1])
now = datetime.datetime.fromisoformat(asked["now"])
botocore.auth.get_current_datetime = lambda *_, **__: now
request = AWSRequest(
    method="GET",
    url=asked["sts"],
    params={"Action": "GetCallerIdentity", "Version": "2011-06-15"},
    headers={"x-k8s-aws-id": asked["clusterName"]},
)
keys = Credentials(asked["accessKeyId"], asked["secretAccessKey"], asked.get("sessionToken"))
botocore.auth.SigV4QueryAuth(keys, "sts", asked["region"], expires=60).add_auth(request)
print(request.prepare().url)
`;

const now = new Date('2026-03-04T05:06:07Z');

async function compare(keys: { accessKeyId: string; secretAccessKey: string; sessionToken?: string }, region: string) {
  const clusterName = 'geneva-prod';
  const sts = new URL(`https://sts.${region}.amazonaws.com/`);
  const asked = JSON.stringify({
    now: now.toISOString().replace('.000Z', ''),
    sts: sts.href,
    clusterName,
    region,
    ...keys,
  });
  const { stdout } = await run(python(), ['-c', signedByBotocore, asked], { timeout: 60_000 });
  const { token } = await signEksToken({ clusterName, region, keys, sts, now });
  assert.ok(token.startsWith('k8s-aws-v1.'));
  assert.equal(Buffer.from(token.slice('k8s-aws-v1.'.length), 'base64url').toString(), stdout.trim());
}

suite('A token for EKS', () => {
  test("is byte for byte what botocore's signer makes at the same time with the same key", async () => {
    await compare(
      { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' },
      'eu-west-1',
    );
  });

  test('is so with the keys of a role, whose session token is signed too', async () => {
    const sessionToken = "IQoJb3JpZ2luX2VjE/+=='(*)!~ end";
    await compare({ accessKeyId: 'ASIAEXAMPLE', secretAccessKey: 'secret/with+signs', sessionToken }, 'ap-southeast-2');
  });
});
