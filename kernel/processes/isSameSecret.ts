import { timingSafeEqual } from 'node:crypto';

/** Compares secrets in a time that tells nothing about where they differ. */
export function isSameSecret(given: string, wanted: string): boolean {
  const [left, right] = [Buffer.from(given), Buffer.from(wanted)];
  return left.length === right.length && timingSafeEqual(left, right);
}
