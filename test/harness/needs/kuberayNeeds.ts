import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { askForGo, type GoProgram, kubeFolder, moduleFolder, needOf, pathOf } from './goPrograms.ts';
import type { Need } from './installing.ts';

/** Versions of KubeRay's operator in tests: the most common one, and the newest available. */
export const operatorVersions = ['1.3.2', '1.6.1'] as const;
export type OperatorVersion = (typeof operatorVersions)[number];

const kwok = '0.8.0';

const ofOperator = (version: OperatorVersion): GoProgram => ({
  name: 'ray-operator',
  version,
  files: [`ray-operator-${version}/go.mod`, `ray-operator-${version}/go.sum`],
  of: 'github.com/ray-project/kuberay/ray-operator',
});

const ofKwok: GoProgram = {
  name: 'kwok',
  version: kwok,
  files: ['kwok/go.mod', 'kwok/go.sum'],
  of: 'sigs.k8s.io/kwok/cmd/kwok',
};

export const operatorProgram = (version: OperatorVersion): string => pathOf(ofOperator(version));

/** kwok, which reports nodes and pods as running, and forwards their ports to this machine. */
export const kwokProgram = (): string => pathOf(ofKwok);

/** Folder with the stages that kwok applies to nodes and pods, one file per stage. */
export const kwokStages = join(kubeFolder, `kwok-stages-${kwok}`);

const stageFolders = ['node/fast', 'node/heartbeat', 'pod/fast'];

const stages: Need = {
  title: `kwok's stages ${kwok} (of its Go module)`,
  download: 1,
  disk: 10,
  isThere: () => existsSync(kwokStages),
  before: askForGo,
  install: async () => {
    const all = join(moduleFolder(`sigs.k8s.io/kwok@v${kwok}`), 'kustomize/stage');
    mkdirSync(kubeFolder, { recursive: true });
    const work = mkdtempSync(join(kubeFolder, 'stages-'));
    for (const folder of stageFolders) {
      const names = readdirSync(join(all, folder)).filter((name) => /^(?!kustomization).*\.yaml$/.test(name));
      for (const name of names) copyFileSync(join(all, folder, name), join(work, name));
    }
    renameSync(work, kwokStages);
  },
};

/** The operator, which creates pods for RayClusters, and kwok, which simulates their nodes. */
export const kuberayNeeds: readonly Need[] = [
  ...operatorVersions.map((version) =>
    needOf(ofOperator(version), {
      title: `KubeRay's operator ${version}, built by Go from its modules (about 3 minutes, once)`,
      download: 60,
      disk: 500,
    }),
  ),
  needOf(ofKwok, {
    title: `kwok ${kwok}, which simulates nodes and pods, built by Go from its modules (about 3 minutes, once)`,
    download: 80,
    disk: 500,
  }),
  stages,
];
