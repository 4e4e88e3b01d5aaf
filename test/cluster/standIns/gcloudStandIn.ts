import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempFolder } from '../../harness/temp.ts';
import { google, type GoogleState } from './googleState.ts';

/**
 * Stands in for the gcloud program. Runs a command in a real shell, so that its quoting is tested, with a `gcloud` on
 * PATH that records its arguments. Then changes the state as gcloud would change the project.
 */
export function runGcloudStandIn(line: string, state: GoogleState): void {
  const folder = tempFolder('gcloud-');
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'gcloud'), `#!/bin/sh\nprintf '%s\\0' "$@"\nprintf '\\n'\n`, { mode: 0o755 });
  const said = execFileSync('/bin/sh', ['-c', line], {
    encoding: 'utf8',
    env: { PATH: `${bin}:/usr/bin:/bin` },
    timeout: 10_000,
  });
  for (const call of said.trimEnd().split('\n')) act(call.split('\0').slice(0, -1), state);
}

/** The supported commands, each with its arguments. */
const commands: Readonly<
  Record<string, (subject: string, flag: (name: string) => string, state: GoogleState) => void>
> = {
  'auth application-default login': (_, __, state) => {
    state.login = 'good';
  },
  'projects add-iam-policy-binding': (project, flag, state) => {
    const isMeant = project === google.project && flag('member') === `user:${google.person}`;
    if (isMeant && flag('role') === 'roles/container.clusterViewer') state.mayPerson.add('container.clusters.get');
  },
  'container clusters update': (name, flag, { cluster }) => {
    if (name === google.clusterName && flag('location') === google.location)
      cluster.workloadPool = flag('workload-pool');
  },
  'container node-pools update': (name, flag, { cluster }) => {
    for (const pool of cluster.nodePools) if (pool.name === name) pool.mode = flag('workload-metadata');
  },
  'iam service-accounts create': (name, flag, { accounts }) => {
    accounts.set(`${name}@${flag('project')}.iam.gserviceaccount.com`, []);
  },
  'iam service-accounts add-iam-policy-binding': (email, flag, { accounts }) => {
    accounts.get(email)?.push({ role: flag('role'), members: [flag('member')] });
  },
  'storage buckets create': (address, flag, { buckets }) => {
    if (flag('location') === 'europe-west1') buckets.set(address.replace('gs://', ''), []);
  },
  'storage buckets add-iam-policy-binding': (address, flag, { buckets }) => {
    buckets.get(address.replace('gs://', ''))?.push({ role: flag('role'), members: [flag('member')] });
  },
};

function act(words: readonly string[], state: GoogleState): void {
  const flag = (name: string): string => {
    const inline = words.find((word) => word.startsWith(`--${name}=`));
    return inline?.slice(name.length + 3) ?? words[words.indexOf(`--${name}`) + 1] ?? '';
  };
  const known = Object.entries(commands).find(([name]) => `${words.join(' ')} `.startsWith(`${name} `));
  if (!known) throw new Error(`There is no gcloud ${words.join(' ')}.`);
  const [name, run] = known;
  run(words[name.split(' ').length] ?? '', flag, state);
}
