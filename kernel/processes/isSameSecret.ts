import { timingSafeEqual } from 'node:crypto';

/** Compares secrets in constant time, so that the duration does not reveal where they differ. */
export function isSameSecret(given: string, wanted: string): boolean {
  const [left, right] = [Buffer.from(given), Buffer.from(wanted)];
  return left.length === right.length && timingSafeEqual(left, right);
}
