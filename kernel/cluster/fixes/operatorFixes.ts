import type { Fix } from './fix.ts';
import type { Workload } from '#cluster/kube/workloads.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import { helm, kubectl, manifestFix } from './commands.ts';

/** The KubeRay release that the commands install: the newest one that is documented to work with the runner. */
const release = '1.3.2';

const definitions = `github.com/ray-project/kuberay/ray-operator/config/crd?ref=v${release}`;

/** Installs the operator and its resource definitions with the chart. */
export const installOperator = (profile: ClusterProfile): Fix => ({
  kind: 'command',
  command: `helm repo add kuberay https://ray-project.github.io/kuberay-helm/ && ${helm(
    profile,
    ['upgrade', '--install', 'kuberay-operator', 'kuberay/kuberay-operator'],
    ['--version', release, '--namespace', profile.namespace, '--wait'],
  )}`,
});

/** Upgrades only the resource definitions, because `helm upgrade` does not change existing ones. */
export const upgradeDefinitions = (profile: ClusterProfile): Fix => ({
  kind: 'command',
  command: kubectl(profile, 'apply', '--server-side', '--force-conflicts', '-k', definitions),
});

export const upgradeOperator = (profile: ClusterProfile, { namespace, name }: Workload): Fix => ({
  kind: 'command',
  command: helm(
    profile,
    ['upgrade', name, 'kuberay/kuberay-operator', '--version', release],
    ['--namespace', namespace, '--reuse-values', '--wait'],
  ),
});

/** Shows why the pods of the operator are not ready. */
export const describeOperator = (profile: ClusterProfile, { namespace, name }: Workload): Fix => ({
  kind: 'command',
  command: kubectl(profile, 'describe', 'deployment', name, '--namespace', namespace),
});

/**
 * Adds the profile's namespace to the namespaces that the operator watches.
 * If Helm installed the operator, the fix sets a value of the chart. The next upgrade would undo any other change, and
 * the chart also creates the roles for the namespace.
 */
export function watchNamespace(profile: ClusterProfile, operator: Workload, watched: readonly string[]): Fix {
  const wanted = [...watched, profile.namespace].join(',');
  const { namespace, name, labels } = operator;
  if (labels['app.kubernetes.io/managed-by'] === 'Helm') {
    return {
      kind: 'command',
      command: helm(
        profile,
        ['upgrade', name, 'kuberay/kuberay-operator', '--namespace', namespace, '--reuse-values'],
        ['--set', `watchNamespace={${wanted}}`],
      ),
    };
  }
  const containers = operator.containers
    .filter(({ args, variables }) => args.some(isWatchWord) || 'WATCH_NAMESPACE' in variables)
    .map((container) => ({
      name: container.name,
      ...(container.args.some(isWatchWord) ? { args: withWatched(container.args, wanted) } : {}),
      ...('WATCH_NAMESPACE' in container.variables ? { env: [{ name: 'WATCH_NAMESPACE', value: wanted }] } : {}),
    }));
  return manifestFix(profile, [
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name, namespace },
      spec: { template: { spec: { containers } } },
    },
  ]);
}

const isWatchWord = (word: string): boolean => /^--?watch-namespace(?:=|$)/.test(word);

/** Replaces the namespaces of the option `--watch-namespace`, which are in the same word or in the next word. */
function withWatched(args: readonly string[], wanted: string): readonly string[] {
  return args.map((word, index) => {
    if (isWatchWord(word)) return word.includes('=') ? `${word.slice(0, word.indexOf('='))}=${wanted}` : word;
    const before = args[index - 1];
    return before !== undefined && isWatchWord(before) && !before.includes('=') ? wanted : word;
  });
}
