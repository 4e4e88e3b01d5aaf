import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { python } from '../harness/needs/python.ts';

/** An S3 server on this machine with one bucket. It checks signatures and permissions unless it is lenient. */
export type Moto = {
  readonly bucket: string;
  /** Returns the location of a root in the bucket. */
  root(name: string): string;
  /** Settings for clients: the address, and the key of a user with all permissions for the bucket. */
  readonly storageOptions: Readonly<Record<string, string>>;
  /** Overwrites the objects whose keys have this prefix with other bytes. */
  spoil(prefix: string): Promise<void>;
  /** Returns the keys with this prefix. */
  keys(prefix: string): Promise<string[]>;
  /**
   * From now on refuses to write objects whose keys match this pattern; undefined allows all. A lenient server refuses
   * nothing.
   */
  refuse(pattern: string | undefined): Promise<void>;
  stop(): Promise<void>;
};

// Ends with its stdin, and so with the tests. Signatures and policies are checked after the number of free actions is
// set to 0. It handles one request at a time, because it checks for an object and writes it in two steps: two
// concurrent writers with the condition "only if it does not exist" would both succeed, which S3 never allows.
// Caches the service of each host and parsed dates. By default moto lists the folders of all services and parses the
// dates of all objects for each request, which takes a third of its time.
const script = `
import functools, json, sys, threading, urllib.request
import boto3
from moto.core import serialize
from moto.iam.models import iam_backends
from moto.moto_server import threaded_moto_server as threaded

one = threading.Lock()
class OneByOne(threaded.DomainDispatcherApplication):
  backends = {}
  def get_backend_for_host(self, host):
    if host not in self.backends:
      self.backends[host] = super().get_backend_for_host(host)
    return self.backends[host]
  def __call__(self, environ, start_response):
    with one:
      return super().__call__(environ, start_response)
threaded.DomainDispatcherApplication = OneByOne
serialize.parse_to_aware_datetime = functools.cache(serialize.parse_to_aware_datetime)

bucket = 'lance-tests'
server = threaded.ThreadedMotoServer(ip_address='127.0.0.1', port=0, verbose=False)
server.start()
host, port = server.get_host_and_port()
address = f'http://127.0.0.1:{port}'
account = dict(endpoint_url=address, region_name='us-east-1', aws_access_key_id='setup', aws_secret_access_key='setup')
boto3.client('s3', **account).create_bucket(Bucket=bucket)
iam = boto3.client('iam', **account)
iam.create_user(UserName='tester')
policy = {'Version': '2012-10-17', 'Statement': [{'Effect': 'Allow', 'Action': 's3:*',
  'Resource': [f'arn:aws:s3:::{bucket}', f'arn:aws:s3:::{bucket}/*']}]}
iam.put_user_policy(UserName='tester', PolicyName='bucket', PolicyDocument=json.dumps(policy))
key = iam.create_access_key(UserName='tester')['AccessKey']
if sys.argv[1] == 'strict':
  enforce = urllib.request.Request(f'{address}/moto-api/reset-auth', data=b'0', headers={'Content-Type': 'text/plain'})
  urllib.request.urlopen(enforce).read()
print(json.dumps({'address': address, 'bucket': bucket, 'id': key['AccessKeyId'], 'secret': key['SecretAccessKey']}), flush=True)
account.update(aws_access_key_id=key['AccessKeyId'], aws_secret_access_key=key['SecretAccessKey'])
s3 = boto3.client('s3', **account)
def keys(prefix):
  pages = s3.get_paginator('list_objects_v2').paginate(Bucket=bucket, Prefix=prefix)
  return [found['Key'] for page in pages for found in page.get('Contents', [])]
def spoil(prefix):
  for key in keys(prefix):
    s3.put_object(Bucket=bucket, Key=key, Body=b'spoilt')
def refuse(pattern):
  refused = {'Effect': 'Deny', 'Action': 's3:PutObject', 'Resource': f'arn:aws:s3:::{bucket}/{pattern}'}
  rules = {**policy, 'Statement': policy['Statement'] + ([refused] if pattern else [])}
  iam_backends['123456789012']['aws'].put_user_policy('tester', 'bucket', json.dumps(rules))
for line in sys.stdin:
  call, text = json.loads(line)
  print(json.dumps({'spoil': spoil, 'keys': keys, 'refuse': refuse}[call](text)), flush=True)
`;

/**
 * Starts the server, in about a second. `lenient` accepts every key, for tests that are not about permissions. Checking
 * a signature takes longer than the response, and the check does not support object keys with escaped characters.
 */
export async function startMoto(checks: 'strict' | 'lenient' = 'strict'): Promise<Moto> {
  const child = spawn(python(), ['-c', script, checks], { stdio: ['pipe', 'pipe', 'pipe'] });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-4000)));
  const exited = once(child, 'exit');
  const lines = createInterface({ input: child.stdout });
  const line = await Promise.race([
    once(lines, 'line').then(([first]) => String(first)),
    exited.then(() => {
      throw new Error(`The S3 server did not start:\n${said}`);
    }),
  ]);
  const { address, bucket, id, secret } = JSON.parse(line) as Record<'address' | 'bucket' | 'id' | 'secret', string>;
  const ask = async (call: string, text: string): Promise<unknown> => {
    const answer = once(lines, 'line');
    child.stdin.write(`${JSON.stringify([call, text])}\n`);
    return JSON.parse(String((await answer)[0])) as unknown;
  };
  return {
    bucket,
    root: (name) => `s3://${bucket}/${name}`,
    storageOptions: {
      aws_access_key_id: id,
      aws_secret_access_key: secret,
      aws_endpoint: address,
      aws_region: 'us-east-1',
      allow_http: 'true',
    },
    spoil: async (prefix) => void (await ask('spoil', prefix)),
    keys: async (prefix) => (await ask('keys', prefix)) as string[],
    refuse: async (pattern) => void (await ask('refuse', pattern ?? '')),
    stop: async () => {
      child.stdin.end();
      await exited;
    },
  };
}
