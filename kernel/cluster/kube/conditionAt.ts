import { listAt, stringAt } from '#shared/fields.ts';

/** Returns whether a status condition holds, such as `Ready` or `Established`; `undefined` if it is not set. */
export function conditionAt(value: unknown, type: string, ...path: readonly string[]): boolean | undefined {
  const condition = listAt(value, ...(path.length === 0 ? ['status', 'conditions'] : path)).find(
    (one) => stringAt(one, 'type') === type,
  );
  return condition === undefined ? undefined : stringAt(condition, 'status') === 'True';
}
