import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SecretRedactor } from '#cluster/secretTexts.ts';
import { connectKube } from '#cluster/kube/connectKube.ts';
import type { KubeConnection } from '#cluster/kube/kubeConnection.ts';
import { tempFolder } from '../../harness/temp.ts';

// Kubeconfigs for tests without an API server. JSON is valid YAML.

export type Parts = {
  readonly server?: unknown;
  readonly cluster?: Readonly<Record<string, unknown>>;
  readonly user?: Readonly<Record<string, unknown>>;
  readonly context?: Readonly<Record<string, unknown>>;
};

/** Returns a kubeconfig with one cluster, user and context, all named `test`. */
export const kubeconfigText = ({ server = 'https://127.0.0.1:1', cluster, user = {}, context }: Parts = {}): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    clusters: [{ name: 'test', cluster: { server, ...cluster } }],
    users: [{ name: 'test', user }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test', ...context } }],
  });

/** Writes a file into a new folder. @returns its path */
export function written(text: string, name = 'config', folder = tempFolder('kubeconfig-')): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

export function connectBy(
  kubeconfig: string,
  {
    context,
    hidden = new SecretRedactor(),
    pluginLimit,
  }: { context?: string; hidden?: SecretRedactor; pluginLimit?: number } = {},
): Promise<KubeConnection> {
  const { signal } = new AbortController();
  return connectKube({ configMethod: 'LOCAL', kubeconfig, context }, { hidden, signal, pluginLimit });
}
