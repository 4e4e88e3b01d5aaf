import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';
import { inRoot } from '../../scripts/paths.ts';
import { run, type Need } from './installing.ts';

const kubernetes = '1.30.14';
const kuberay = '1.3.2';
const oldestGo = [1, 24] as const;

/** Where programs of the cluster tests are kept between runs; another folder to see what a machine without them does. */
const folder = process.env['LANCE_TEST_KUBE'] ?? inRoot('.toolchain/kube');

/** A program of Kubernetes that is built from sources of its own in test/cluster/parts. */
type GoProgram = { readonly name: string; readonly sources: string };
const sourceFiles = ['go.mod', 'go.sum', 'main.go'];

const ofApiServer: GoProgram = { name: 'kube-apiserver', sources: inRoot('test/cluster/parts/apiserver') };
const ofKubectl: GoProgram = { name: 'kubectl', sources: inRoot('test/cluster/parts/kubectl') };

export const apiServerProgram = (): string => pathOf(ofApiServer);

/** kubectl: the machine's own, else the one built here. */
export const kubectlProgram = (): string | undefined => firstThere([...onPath('kubectl'), pathOf(ofKubectl)]);

/** The name of a built program holds what it was built from, so that one of other sources is not taken for it. */
function pathOf({ name, sources }: GoProgram): string {
  const stamp = createHash('sha256').update(kubernetes);
  for (const file of sourceFiles) stamp.update(readFileSync(join(sources, file)));
  return join(folder, `${name}-${kubernetes}-${stamp.digest('hex').slice(0, 12)}`);
}

/** etcd: the machine's own, else the one unpacked here. */
export const etcdProgram = (): string | undefined => firstThere([...onPath('etcd'), join(folder, 'etcd')]);

/** Folder of KubeRay's resource definitions. */
export const kuberayDefinitions = join(folder, `kuberay-${kuberay}`);

const apiServer: Need = {
  title: `Kubernetes' API server ${kubernetes}, built by Go from its modules (about 5 minutes, once; Go's caches grow)`,
  download: 250,
  disk: 2900,
  isThere: () => existsSync(apiServerProgram()),
  before: askForGo,
  install: async (say) => buildProgram(ofApiServer, say),
};

const kubectl: Need = {
  title: `kubectl ${kubernetes}, built by Go from its modules (2 minutes, once)`,
  download: 60,
  disk: 500,
  isThere: () => kubectlProgram() !== undefined,
  before: askForGo,
  install: async (say) => buildProgram(ofKubectl, say),
};

const etcd: Need = {
  title: 'etcd (of the apt package etcd-server, unpacked and not installed: no service is started)',
  download: 9,
  disk: 17,
  isThere: () => etcdProgram() !== undefined,
  install: async () => {
    mkdirSync(folder, { recursive: true });
    const work = mkdtempSync(join(folder, 'etcd-'));
    try {
      download(work);
      const archive = readdirSync(work).find((name) => name.endsWith('.deb'));
      if (archive === undefined) throw new Error('apt-get download etcd-server gave no package: put etcd on PATH.');
      run('dpkg-deb', ['--extract', archive, 'files'], { cwd: work });
      renameSync(join(work, 'files/usr/bin/etcd'), join(folder, 'etcd'));
    } finally {
      rmSync(work, { recursive: true, force: true });
    }
  },
};

const definitions: Need = {
  title: `KubeRay's resource definitions ${kuberay} (of its Go module)`,
  download: 2,
  disk: 10,
  isThere: () => existsSync(kuberayDefinitions),
  before: askForGo,
  install: async () => {
    const module = `github.com/ray-project/kuberay/ray-operator@v${kuberay}`;
    // Outside of any module: it is not a dependency of one.
    const { Dir: dir } = JSON.parse(run(requireGo(), ['mod', 'download', '-json', module], { cwd: '/' })) as {
      Dir: string;
    };
    const bases = join(dir, 'config/crd/bases');
    mkdirSync(folder, { recursive: true });
    const work = mkdtempSync(join(folder, 'kuberay-'));
    for (const name of readdirSync(bases)) copyFileSync(join(bases, name), join(work, name));
    renameSync(work, kuberayDefinitions);
  },
};

/** A Kubernetes API on this machine, and the program that people use with it. */
export const kubeNeeds: readonly Need[] = [etcd, apiServer, definitions, kubectl];

const getGo = `Go ${oldestGo.join('.')} or newer on PATH, from https://go.dev/dl/ (Debian 12's golang package is older)`;

function askForGo(): string | undefined {
  return findGo() === undefined ? getGo : undefined;
}

function buildProgram(program: GoProgram, say: (line: string) => void): void {
  const go = requireGo();
  mkdirSync(folder, { recursive: true });
  const work = mkdtempSync(join(folder, 'build-'));
  try {
    for (const file of sourceFiles) copyFileSync(join(program.sources, file), join(work, file));
    say(`  building ${program.name} …`);
    // As Kubernetes' own build does it: without these both say that they are version 0.0.0.
    const [gitMajor, gitMinor] = kubernetes.split('.');
    const names = { gitVersion: `v${kubernetes}`, gitMajor, gitMinor, gitTreeState: 'clean' };
    const flags = ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'].flatMap((of) =>
      Object.entries(names).map(([name, value]) => `-X ${of}.${name}=${value}`),
    );
    const args = ['build', '-trimpath', '-ldflags', ['-s', '-w', ...flags].join(' '), '-o', 'program', '.'];
    run(go, args, { cwd: work, env: { ...process.env, CGO_ENABLED: '0', GOWORK: 'off' } });
    renameSync(join(work, 'program'), pathOf(program));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function requireGo(): string {
  const go = findGo();
  if (go === undefined) throw new Error(`There is no Go that is new enough: put ${getGo}.`);
  return go;
}

/** A Go that is new enough: on PATH, or where its archive is unpacked as its page says. */
function findGo(): string | undefined {
  return [...onPath('go'), '/usr/local/go/bin/go'].find((path) => {
    const { status, stdout } = spawnSync(path, ['env', 'GOVERSION'], { encoding: 'utf8' });
    const [major = 0, minor = 0] =
      /^go(\d+)\.(\d+)/
        .exec(stdout ?? '')
        ?.slice(1)
        .map(Number) ?? [];
    return status === 0 && (major > oldestGo[0] || (major === oldestGo[0] && minor >= oldestGo[1]));
  });
}

const firstThere = (paths: readonly string[]): string | undefined => paths.find((path) => existsSync(path));

function onPath(program: string): string[] {
  const folders = (process.env['PATH'] ?? '').split(':').filter((entry) => entry.startsWith('/'));
  return folders.map((entry) => join(entry, program)).filter((path) => existsSync(path));
}

/** Fetches etcd's package; apt's lists are brought up to date where they know none, which takes root. */
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
