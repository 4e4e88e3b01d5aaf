import { listAt, mapAt, numberAt, stringAt, textsAt } from '#shared/fields.ts';
import { tagOf, versionIn, type VersionNumber } from './versionNumbers.ts';

export type Workload = {
  readonly namespace: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly containers: readonly Container[];
  /** Number of pods that should exist. */
  readonly wanted: number;
  /** Number of ready pods; for a Deployment, the available ones. */
  readonly ready: number;
};

type Container = {
  readonly name: string;
  readonly image: string;
  /** The command, then the arguments. */
  readonly words: readonly string[];
  readonly args: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
};

export function readDeployment(item: unknown): Workload | undefined {
  return readWorkload(
    item,
    numberAt(item, 'spec', 'replicas') ?? 1,
    numberAt(item, 'status', 'availableReplicas') ?? 0,
  );
}

export function readDaemonSet(item: unknown): Workload | undefined {
  return readWorkload(
    item,
    numberAt(item, 'status', 'desiredNumberScheduled') ?? 0,
    numberAt(item, 'status', 'numberReady') ?? 0,
  );
}

function readWorkload(item: unknown, wanted: number, ready: number): Workload | undefined {
  const name = stringAt(item, 'metadata', 'name');
  const namespace = stringAt(item, 'metadata', 'namespace');
  if (name === undefined || namespace === undefined) return undefined;
  return {
    namespace,
    name,
    labels: mapAt(item, 'metadata', 'labels'),
    containers: listAt(item, 'spec', 'template', 'spec', 'containers').map(readContainer),
    wanted,
    ready,
  };
}

function readContainer(item: unknown): Container {
  const args = textsAt(item, 'args');
  return {
    name: stringAt(item, 'name') ?? '',
    image: stringAt(item, 'image') ?? '',
    words: [...textsAt(item, 'command'), ...args],
    args,
    variables: Object.fromEntries(
      listAt(item, 'env').flatMap((one) => {
        const name = stringAt(one, 'name');
        return name === undefined ? [] : [[name, stringAt(one, 'value') ?? '']];
      }),
    ),
  };
}

/** Returns whether a Deployment is KubeRay's operator, by its component label or its image. */
export const isOperator = ({ labels, containers }: Workload): boolean =>
  labels['app.kubernetes.io/component'] === 'kuberay-operator' ||
  containers.some(({ image }) => /(?:^|[/_.-])kuberay[/_-](?:\w+[_-])?operator\b/.test(image));

/** Returns the namespaces that an operator watches; an empty list if it watches all. */
export function watchedBy({ containers }: Workload): readonly string[] {
  return containers.flatMap((container) => {
    const said = watchArgument(container) ?? container.variables['WATCH_NAMESPACE'] ?? '';
    return said
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '');
  });
}

/** Reads `--watch-namespace=a,b`, with one dash or two, as one argument or two. */
function watchArgument({ words }: Container): string | undefined {
  for (const [index, word] of words.entries()) {
    const parts = /^--?watch-namespace(?:=(.*))?$/.exec(word);
    if (parts) return parts[1] ?? words[index + 1] ?? '';
  }
  return undefined;
}

/** Reads the operator's version from its image tag, or else from the labels that its chart sets. */
export function operatorVersionOf({ containers, labels }: Workload): VersionNumber | undefined {
  const image = (containers.find(({ image: each }) => each.includes('operator')) ?? containers[0])?.image ?? '';
  return (
    versionIn(tagOf(image)) ??
    versionIn(labels['app.kubernetes.io/version']) ??
    versionIn(/^kuberay-operator-(.+)$/.exec(labels['helm.sh/chart'] ?? '')?.[1])
  );
}
