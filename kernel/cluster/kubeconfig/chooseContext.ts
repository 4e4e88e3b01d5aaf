import { ClusterError } from '#cluster/errors.ts';
import type { Entry, Kubeconfig } from './kubeconfigFile.ts';

/** A context with its entries, not validated yet. */
type ChosenContext = {
  readonly name: string;
  readonly cluster: Entry;
  readonly user: Entry | undefined;
  readonly namespace: string | undefined;
};

/** Maximum number of contexts that a message lists. */
const most = 12;

/**
 * Returns the context that a profile names, or the current one.
 * @throws ClusterError ContextMissing with a list of contexts, or KubeconfigInvalid if the context refers to a
 * missing entry
 */
export function chooseContext(config: Kubeconfig, wanted?: string): ChosenContext {
  const name = wanted ?? config.currentContext;
  const { label, contexts } = config;
  if (name === undefined) {
    throw new ClusterError(
      'ContextMissing',
      `The kubeconfig ${label} has no current context, and the profile does not name one.`,
      `Set a context in the profile. ${listed(contexts)}`,
    );
  }
  const context = contexts.find((one) => one.name === name);
  if (!context) {
    const what =
      wanted === undefined
        ? `The current context "${name}" does not exist in the kubeconfig ${label}.`
        : `The context "${name}" does not exist in the kubeconfig ${label}.`;
    throw new ClusterError('ContextMissing', what, listed(contexts));
  }
  return {
    name,
    cluster: partOf(config, context, 'cluster', config.clusters) ?? missingPart(config, context, 'cluster'),
    user: partOf(config, context, 'user', config.users),
    namespace: textOf(context, 'namespace'),
  };
}

function listed(contexts: readonly Entry[]): string {
  if (contexts.length === 0) return 'The kubeconfig has no contexts. Download it again.';
  const names = contexts.slice(0, most).map(({ name }) => name);
  const more = contexts.length > most ? ` and ${contexts.length - most} more` : '';
  return `${contexts.length === 1 ? 'Its context is' : 'Its contexts are'} ${names.join(', ')}${more}.`;
}

function partOf(
  config: Kubeconfig,
  context: Entry,
  what: 'cluster' | 'user',
  entries: readonly Entry[],
): Entry | undefined {
  const name = textOf(context, what);
  if (name === undefined) return undefined;
  const found = entries.find((one) => one.name === name);
  if (found) return found;
  throw new ClusterError(
    'KubeconfigInvalid',
    `The context "${context.name}" names the ${what} "${name}", which does not exist in the kubeconfig ${config.label}.`,
    'Choose another context, or download the kubeconfig again.',
  );
}

function missingPart(config: Kubeconfig, context: Entry, what: string): never {
  throw new ClusterError(
    'KubeconfigInvalid',
    `The context "${context.name}" of the kubeconfig ${config.label} does not name a ${what}.`,
    'Choose another context, or download the kubeconfig again.',
  );
}

function textOf(entry: Entry, key: string): string | undefined {
  const value = entry.value[key];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
