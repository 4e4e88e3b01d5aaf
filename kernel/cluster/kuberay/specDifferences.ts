import { parseQuantity } from '#cluster/kube/quantities.ts';
import { isRecord } from '#shared/records.ts';

/** A field whose value differs from the requested one. */
type SpecDifference = {
  /** `spec.workerGroupSpecs[cpu-workers].maxReplicas` */
  readonly path: string;
  /** The existing value as JSON; `undefined` if the field is missing. */
  readonly theirs: string | undefined;
  /** The requested value. */
  readonly yours: string | undefined;
};

/** Fields that identify list items. */
const keys = ['groupName', 'name', 'key', 'containerPort'] as const;

/**
 * Lists in which an extra item is a difference too, because a cluster with another group or container is another
 * cluster.
 */
const whole = new Set(['workerGroupSpecs', 'containers']);

/** Fields that the autoscaler changes while a cluster is in use. */
const moving = new Set(['replicas']);

/**
 * Compares the spec of an existing object with the requested one. Ignores fields that were not requested, because the
 * API server and the operator fill in defaults. Quantities are compared by value: `2Gi` equals `2048Mi`.
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
  // An extra container is a difference. The operator does not write the autoscaler's container into the spec, so
  // another author has added the extra one.
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
  // A missing field has the same meaning as false or 0.
  if (one === undefined && (other === false || other === 0)) return true;
  const [a, b] = [parseQuantity(one), parseQuantity(other)];
  return a !== undefined && a === b;
}

const longest = 120;

function shown(value: unknown): string | undefined {
  const text = JSON.stringify(value) as string | undefined;
  return text !== undefined && text.length > longest ? `${text.slice(0, longest)}…` : text;
}

/** Lists the differences, one per line: `spec.rayVersion: current "2.43.0", requested "2.60.0"`. */
export const showDifferences = (differences: readonly SpecDifference[]): string =>
  differences
    .map(({ path, theirs, yours }) => `${path}: current ${theirs ?? 'none'}, requested ${yours ?? 'none'}`)
    .join('\n');
