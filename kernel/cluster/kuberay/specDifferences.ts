import { parseQuantity } from '#cluster/kube/quantities.ts';
import { isRecord } from '#shared/records.ts';

/** A field that is otherwise than asked for. */
type SpecDifference = {
  /** `spec.workerGroupSpecs[cpu-workers].maxReplicas` */
  readonly path: string;
  /** As it is there, as JSON; `undefined` where it is not. */
  readonly theirs: string | undefined;
  /** As it was asked for. */
  readonly yours: string | undefined;
};

/** What names the items of a list. */
const keys = ['groupName', 'name', 'key', 'containerPort'] as const;

/** Lists that are compared as a whole: another group, container or image is another cluster. */
const whole = new Set(['workerGroupSpecs', 'containers']);

/** Moved by the autoscaler while a cluster is in use. */
const moving = new Set(['replicas']);

/**
 * How the spec of an object that is there differs from the one that was asked for. Only what was asked for counts: the API
 * server and the operator fill in the rest. Amounts are compared by what they mean: `2Gi` is `2048Mi`.
 */
export function specDifferences(theirs: unknown, yours: unknown, path = 'spec'): readonly SpecDifference[] {
  if (isRecord(yours)) {
    const there = isRecord(theirs) ? theirs : {};
    return Object.keys(yours)
      .filter((key) => !moving.has(key))
      .flatMap((key) => specDifferences(there[key], yours[key], pathTo(path, key)));
  }
  if (Array.isArray(yours)) return listDifferences(Array.isArray(theirs) ? theirs : [], yours, path);
  return isSame(theirs, yours) ? [] : [{ path, theirs: shown(theirs), yours: shown(yours) }];
}

function listDifferences(theirs: readonly unknown[], yours: readonly unknown[], path: string): SpecDifference[] {
  const found = yours.flatMap((item, index) => {
    const key = keyOf(item);
    const other = key === undefined ? theirs[index] : theirs.find((one) => keyOf(one) === key);
    const here = `${path}[${key ?? index}]`;
    return other === undefined
      ? [{ path: here, theirs: undefined, yours: shown(item) }]
      : specDifferences(other, item, here);
  });
  const name = path.slice(path.lastIndexOf('.') + 1);
  const added = whole.has(name) ? theirs.filter((one) => !yours.some((item) => keyOf(item) === keyOf(one))) : [];
  // The autoscaler's container is not in a spec, so that another one there is somebody's.
  return [...found, ...added.map((one) => ({ path: `${path}[${keyOf(one)}]`, theirs: shown(one), yours: undefined }))];
}

function keyOf(item: unknown): string | undefined {
  if (!isRecord(item)) return undefined;
  const key = keys.find((one) => item[one] !== undefined);
  return key === undefined ? undefined : String(item[key]);
}

/** Labels have dots in their names. */
const pathTo = (path: string, key: string): string => (/^[\w-]+$/.test(key) ? `${path}.${key}` : `${path}["${key}"]`);

function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  // An empty map is not kept.
  if (one === undefined && (other === false || other === 0)) return true;
  const [a, b] = [parseQuantity(one), parseQuantity(other)];
  return a !== undefined && a === b;
}

const longest = 120;

function shown(value: unknown): string | undefined {
  const text = JSON.stringify(value) as string | undefined;
  return text !== undefined && text.length > longest ? `${text.slice(0, longest)}…` : text;
}

/** A line for each: `spec.rayVersion: current "2.43.0", requested "2.60.0"`. */
export const showDifferences = (differences: readonly SpecDifference[]): string =>
  differences
    .map(({ path, theirs, yours }) => `${path}: current ${theirs ?? 'none'}, requested ${yours ?? 'none'}`)
    .join('\n');
