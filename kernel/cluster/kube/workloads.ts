import { listAt, mapAt, numberAt, textAt, textsAt } from './fields.ts';

/** A Deployment or a DaemonSet. */
export type Workload = {
  readonly namespace: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly containers: readonly Container[];
  /** Pods that there should be. */
  readonly wanted: number;
  /** Pods that are ready: of a Deployment those that count as available. */
  readonly ready: number;
};

export type Container = {
  readonly name: string;
  readonly image: string;
  /** Its command and arguments, one after another. */
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
  const name = textAt(item, 'metadata', 'name');
  const namespace = textAt(item, 'metadata', 'namespace');
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
    name: textAt(item, 'name') ?? '',
    image: textAt(item, 'image') ?? '',
    words: [...textsAt(item, 'command'), ...args],
    args,
    variables: Object.fromEntries(
      listAt(item, 'env').flatMap((one) => {
        const name = textAt(one, 'name');
        return name === undefined ? [] : [[name, textAt(one, 'value') ?? '']];
      }),
    ),
  };
}
