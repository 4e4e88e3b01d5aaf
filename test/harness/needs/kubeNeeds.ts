import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { askForGo, build, type GoProgram, kubeFolder, moduleFolder, needOf, onPath, pathOf } from './goPrograms.ts';
import { type Need, run } from './installing.ts';
import { kuberayNeeds } from './kuberayNeeds.ts';

export const kubernetes = '1.30.14';

/** Set the version as Kubernetes' own build does. Without these flags all programs report version 0.0.0. */
const [gitMajor, gitMinor] = kubernetes.split('.');
const names = { gitVersion: `v${kubernetes}`, gitMajor, gitMinor, gitTreeState: 'clean' };
const ldflags = ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'].flatMap((of) =>
  Object.entries(names).map(([name, value]) => `-X ${of}.${name}=${value}`),
);

const programOf = (name: string, module: string, main: string): GoProgram => ({
  name,
  version: kubernetes,
  files: [`${module}/go.mod`, `${module}/go.sum`, `${main}/main.go`],
  ldflags,
});

const ofApiServer = programOf('kube-apiserver', 'apiserver', 'apiserver');
const ofScheduler = programOf('kube-scheduler', 'apiserver', 'scheduler');
const ofKubectl = programOf('kubectl', 'kubectl', 'kubectl');

export const apiServerProgram = (): string => pathOf(ofApiServer);

/** The scheduler, which assigns pods to nodes. */
export const schedulerProgram = (): string => pathOf(ofScheduler);

/** Returns the kubectl of the machine, else the kubectl built here. */
export const kubectlProgram = (): string | undefined => firstThere([...onPath('kubectl'), pathOf(ofKubectl)]);

/** Returns the etcd of the machine, else the etcd unpacked here. */
export const etcdProgram = (): string | undefined => firstThere([...onPath('etcd'), join(kubeFolder, 'etcd')]);

const apiServer = needOf(ofApiServer, {
  title: `Kubernetes' API server ${kubernetes}, built by Go from its modules (about 5 minutes, once; Go's caches grow)`,
  download: 250,
  disk: 2900,
});

const scheduler = needOf(ofScheduler, {
  title: `Kubernetes' scheduler ${kubernetes}, built by Go from the same modules (a minute, once)`,
  download: 0,
  disk: 100,
});

const kubectl: Need = {
  title: `kubectl ${kubernetes}, built by Go from its modules (2 minutes, once)`,
  download: 60,
  disk: 500,
  isThere: () => kubectlProgram() !== undefined,
  before: askForGo,
  install: async (say) => build(ofKubectl, say),
};

const etcd: Need = {
  title: 'etcd (of the apt package etcd-server, unpacked and not installed: no service is started)',
  download: 9,
  disk: 17,
  isThere: () => etcdProgram() !== undefined,
  install: async () => {
    mkdirSync(kubeFolder, { recursive: true });
    const work = mkdtempSync(join(kubeFolder, 'etcd-'));
    try {
      download(work);
      const archive = readdirSync(work).find((name) => name.endsWith('.deb'));
      if (archive === undefined) throw new Error('apt-get download etcd-server gave no package: put etcd on PATH.');
      run('dpkg-deb', ['--extract', archive, 'files'], { cwd: work });
      renameSync(join(work, 'files/usr/bin/etcd'), join(kubeFolder, 'etcd'));
    } finally {
      rmSync(work, { recursive: true, force: true });
    }
  },
};

/** Versions of the operator whose resource definitions must accept our objects. */
export const definitionVersions = ['1.1.1', '1.2.2', '1.3.2', '1.6.1'] as const;
export type DefinitionVersion = (typeof definitionVersions)[number];

/** Returns the folder of the resource definitions of a version. */
export const kuberayDefinitionsOf = (version: DefinitionVersion): string => join(kubeFolder, `kuberay-${version}`);

/** The definitions of the version that most tests use. */
export const kuberayDefinitions = kuberayDefinitionsOf('1.3.2');

const definitionsOf = (version: DefinitionVersion): Need => ({
  title: `KubeRay's resource definitions ${version} (of its Go module)`,
  download: 2,
  disk: 10,
  isThere: () => existsSync(kuberayDefinitionsOf(version)),
  before: askForGo,
  install: async () => {
    const bases = join(moduleFolder(`github.com/ray-project/kuberay/ray-operator@v${version}`), 'config/crd/bases');
    mkdirSync(kubeFolder, { recursive: true });
    const work = mkdtempSync(join(kubeFolder, 'kuberay-'));
    for (const name of readdirSync(bases)) copyFileSync(join(bases, name), join(work, name));
    renameSync(work, kuberayDefinitionsOf(version));
  },
});

/** A Kubernetes API on this machine, the programs that run RayClusters on it, and kubectl. */
export const kubeNeeds: readonly Need[] = [
  etcd,
  apiServer,
  scheduler,
  ...definitionVersions.map(definitionsOf),
  ...kuberayNeeds,
  kubectl,
];

const firstThere = (paths: readonly string[]): string | undefined => paths.find((path) => existsSync(path));

/** Downloads etcd's package. Updates apt's lists if they don't contain it, which requires root. */
function download(work: string): void {
  const fetch = () => run('apt-get', ['download', '-qq', 'etcd-server'], { cwd: work });
  try {
    fetch();
  } catch (first) {
    try {
      run('apt-get', ['update', '-qq']);
      fetch();
    } catch {
      throw new Error('etcd could not be fetched by apt-get: put etcd 3.4 or newer on PATH.', { cause: first });
    }
  }
}
