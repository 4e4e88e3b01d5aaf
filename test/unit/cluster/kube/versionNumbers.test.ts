import assert from 'node:assert/strict';
import { isPaired } from '#cluster/checks/operatorPairs.ts';
import { architectureOf } from '#cluster/checks/sizeChecks.ts';
import {
  compareVersions,
  rayVersionOf,
  showVersion,
  tagOf,
  versionIn,
  type VersionNumber,
} from '#cluster/kube/versionNumbers.ts';
import { isOperator, operatorVersionOf, watchedBy, type Workload } from '#cluster/kube/workloads.ts';

const shown = (version: VersionNumber | undefined): string | undefined => version && showVersion(version);
const parsed = (text: string): VersionNumber => versionIn(text) ?? assert.fail(`${text} is no version`);

const pair = (kubernetes: string, operator: string, isManaged: boolean): boolean =>
  isPaired(parsed(kubernetes), parsed(operator), isManaged);

suite('Versions', () => {
  test('are read from what servers and tags say', () => {
    const said = [
      'v1.30.14',
      'v1.31.4-eks-2d5f260',
      'v1.30.5-gke.1014001',
      '2.43.0-py311-gpu',
      '1.3',
      '2.9.0.8a1b-py39',
    ];
    assert.deepEqual(
      said.map((text) => shown(versionIn(text))),
      ['1.30.14', '1.31.4', '1.30.5', '2.43.0', '1.3.0', '2.9.0'],
    );
    for (const text of ['nightly', 'latest', '', 'sha256-12', 'x1.2', '1', undefined])
      assert.equal(versionIn(text), undefined);
  });

  test('are compared by their numbers, not their letters', () => {
    assert.ok(compareVersions(parsed('2.9.3'), parsed('2.43.0')) < 0);
    assert.ok(compareVersions(parsed('1.10.0'), parsed('1.9.9')) > 0);
    assert.equal(compareVersions(parsed('v1.1'), parsed('1.1.0')), 0);
  });

  test('are in the tag of an image, not in the port of its registry or its digest', () => {
    assert.equal(tagOf('quay.io/kuberay/operator:v1.3.2'), 'v1.3.2');
    assert.equal(tagOf('registry.local:5000/ray'), undefined);
    assert.equal(tagOf('registry.local:5000/ray:2.43.0@sha256:abc'), '2.43.0');
    assert.equal(tagOf('rayproject/ray@sha256:abc'), undefined);
  });

  test('are those of Ray only where an image is named after Ray', () => {
    const images = [
      'rayproject/ray:2.43.0',
      'rayproject/ray-ml:2.44.1.ab12-py311-gpu',
      'docker.io/rayproject/ray:2.43.0-py311-aarch64',
      '123456789012.dkr.ecr.eu-west-1.amazonaws.com/team/ray-worker:2.43.0',
      'example.com/my_ray:v2.50.0',
      // A custom program with its own version.
      'example.com/backfill:1.4.2',
      'ray.example.com/backfill:1.4.2',
      'example.com/array:3.1.0',
      'rayproject/ray:nightly',
    ];
    assert.deepEqual(
      images.map((image) => shown(rayVersionOf(image)?.version)),
      ['2.43.0', '2.44.1', '2.43.0', '2.43.0', '2.50.0', undefined, undefined, undefined, undefined],
    );
  });

  test('are surely those of Ray where an image is Ray and nothing more, wherever it is copied to', () => {
    for (const image of [
      'rayproject/ray-ml:2.44.1',
      'example.com:5000/mirror/ray:2.43.0',
      'example.com/ray-llm:2.46.0',
    ])
      assert.equal(isSurelyRay(image), true, image);
    for (const image of ['example.com/team/ray-worker:1.4.2', 'example.com/my_ray:v2.50.0'])
      assert.equal(isSurelyRay(image), false, image);
  });

  test('of Kubernetes and operator are paired as documented, and newer ones of a managed add-on are not', () => {
    assert.ok(pair('1.30.5', '1.1.1', true));
    assert.ok(pair('1.31.0', '1.2.2', true));
    assert.ok(!pair('1.31.0', '1.1.1', true));
    assert.ok(!pair('1.33.0', '1.4.0', true));
    assert.ok(pair('1.31.0', '1.3.2', false));
    assert.ok(pair('1.34.0', '1.5.0', false));
    assert.ok(!pair('1.27.0', '1.3.0', false));
  });
});

const operator = (container: object, labels: Record<string, string> = {}): Workload => ({
  namespace: 'geneva',
  name: 'kuberay-operator',
  labels,
  wanted: 1,
  ready: 1,
  containers: [{ name: 'o', image: 'kuberay/operator', words: [], args: [], variables: {}, ...container }],
});

const isKnown = (image: string, labels: Record<string, string> = {}): boolean =>
  isOperator({ ...operator({ image }, labels), name: 'anything' });

const isSurelyRay = (image: string): boolean | undefined => rayVersionOf(image)?.isRay;

suite('An operator', () => {
  test('is known by the label of its manifests or by its image, whatever it is called', () => {
    assert.ok(isKnown('example.com/a@sha256:abc', { 'app.kubernetes.io/component': 'kuberay-operator' }));
    for (const image of [
      'quay.io/kuberay/operator:v1.3.2',
      'kuberay/operator',
      'example.com/odh-kuberay-operator-v2:1',
    ])
      assert.ok(isKnown(image), image);
    for (const image of ['kuberay/apiserver:v1.3.2', 'example.com/my-operator:1', 'rayproject/ray:2.43.0'])
      assert.ok(!isKnown(image), image);
  });

  test('says which namespaces it watches in each way of writing it', () => {
    const ways: readonly (readonly [object, readonly string[]])[] = [
      [{}, []],
      [{ words: ['/manager', '--watch-namespace=a,b'] }, ['a', 'b']],
      [{ words: ['-watch-namespace', 'a, b'] }, ['a', 'b']],
      [{ words: ['--watch-namespace='] }, []],
      [{ words: ['--watch-namespace'] }, []],
      [{ words: ['--not-watch-namespace=a'] }, []],
      [{ variables: { WATCH_NAMESPACE: 'a' } }, ['a']],
      [{ variables: { WATCH_NAMESPACE: '' } }, []],
    ];
    for (const [container, namespaces] of ways) assert.deepEqual(watchedBy(operator(container)), namespaces);
  });

  test('says its version by its image, else by what its chart wrote on it', () => {
    assert.equal(shown(operatorVersionOf(operator({ image: 'quay.io/kuberay/operator:v1.3.2' }))), '1.3.2');
    assert.equal(shown(operatorVersionOf(operator({}, { 'app.kubernetes.io/version': '1.2.2' }))), '1.2.2');
    assert.equal(shown(operatorVersionOf(operator({}, { 'helm.sh/chart': 'kuberay-operator-1.1.1' }))), '1.1.1');
    assert.equal(operatorVersionOf(operator({ image: 'kuberay/operator@sha256:abc' })), undefined);
  });
});

suite('The architecture of an image', () => {
  test('is what its tag says, and amd64 for those of Ray that say none', () => {
    assert.equal(architectureOf('rayproject/ray:2.43.0-py311-aarch64'), 'arm64');
    assert.equal(architectureOf('example.com/ray:2.43.0-arm64'), 'arm64');
    assert.equal(architectureOf('example.com/ray:2.43.0-amd64'), 'amd64');
    assert.equal(architectureOf('rayproject/ray:2.43.0'), 'amd64');
    assert.equal(architectureOf('example.com/ray:2.43.0'), undefined);
  });
});
