// Crockford's base 32: no letter looks like a digit, and sorted as text they are sorted as numbers.
const digits = '0123456789abcdefghjkmnpqrstvwxyz';
const timeDigits = 10;
const randomDigits = 8;
const pattern = new RegExp(`^bf-[${digits}]{${timeDigits + randomDigits}}$`);

/**
 * A name for a new job, such as `bf-01kan3v6z8q5m2x9tc`: sorts by the time at which it was made, and is a file name
 * everywhere, a submission id of Ray and part of a name in Kubernetes.
 * @param now milliseconds since 1970
 * @param random at least eight random bytes
 */
export function newJobId(now: number, random: Uint8Array): string {
  let time = '';
  for (let left = now; time.length < timeDigits; left = Math.floor(left / 32)) time = (digits[left % 32] ?? '') + time;
  const rest = Array.from(random.subarray(0, randomDigits), (byte) => digits[byte % 32]);
  return `bf-${time}${rest.join('')}`;
}

/** Whether a text is the name of a job; what a person typed is never taken for a path. */
export const isJobId = (text: string): boolean => pattern.test(text);
