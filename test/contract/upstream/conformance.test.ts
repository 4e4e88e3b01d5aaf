import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import type { RequestLog } from '#engine/server/server.ts';
import { inRoot } from '../../../scripts/paths.ts';
import { python } from '../../harness/needs/python.ts';
import { tempFolder } from '../../harness/temp.ts';
import { startPlainServer } from '../rest/plainServer.ts';
import { makeConformanceRoot } from './conformanceRoot.ts';

/** The specification itself. */
const specification = inRoot('test/fixtures/namespace-spec/lance-namespace-spec-0.11.1.yaml');

/** The checks of every response; `conformanceHooks.py` defines the last two. */
const checks = [
  'not_a_server_error',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
  'unsupported_method',
  'allow_header_conformance',
  'status_is_known',
  'errors_have_a_body',
];

/**
 * A pattern for half of the operations. Two runs share the work, because there are two processors and generating
 * requests takes most of the processor time.
 */
const half = '(column|index|tags|branches|version|plan|metadata)';

suite('requests made from the specification', function () {
  this.timeout(600_000);

  test('find no failure of the server and no answer that is not in it', async () => {
    const answered = await Promise.all([run([`--include-path-regex=${half}`]), run([`--exclude-path-regex=${half}`])]);
    // Check that requests succeeded, because a run in which all requests fail would pass, too.
    for (const operation of ['QueryTable', 'CreateTable', 'InsertIntoTable', 'ListTableIndices', 'DescribeTable']) {
      const worked = answered.flat().some((entry) => entry.operation === operation && entry.status === 200);
      assert.ok(worked, `No ${operation} succeeded.`);
    }
  });
});

/** Sends requests to a separate server, and returns its request log. */
async function run(which: readonly string[]): Promise<readonly RequestLog[]> {
  const root = tempFolder();
  await makeConformanceRoot(root);
  const server = await startPlainServer(root);
  try {
    const { code, output } = await schemathesis(server.uri, which);
    assert.equal(code, 0, `${output.slice(-6000)}\n${server.failures.join('\n').slice(-4000)}`);
    assert.deepEqual(server.failures, []);
    return server.log;
  } finally {
    await server.close();
  }
}

async function schemathesis(uri: string, which: readonly string[]): Promise<{ code: number; output: string }> {
  const child = spawn(
    join(dirname(python()), 'st'),
    [
      'run',
      specification,
      `--url=${uri}`,
      ...which,
      `--checks=${checks.join(',')}`,
      '--phases=examples,coverage,fuzzing',
      '--max-examples=8',
      '--generation-deterministic',
      '--no-shrink',
      '--continue-on-failure',
      '--suppress-health-check=all',
      '--request-timeout=20',
      '--warnings=off',
      '--no-color',
    ],
    {
      // Run the tool outside of the project, because it reads a configuration from its working folder and writes there.
      cwd: tempFolder(),
      env: {
        ...process.env,
        SCHEMATHESIS_HOOKS: 'conformanceHooks',
        PYTHONPATH: inRoot('test/contract/python'),
        PYTHONDONTWRITEBYTECODE: '1',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8');
    stream.on('data', (text: string) => (output += text));
  }
  const [code] = (await once(child, 'close')) as [number];
  return { code, output };
}
