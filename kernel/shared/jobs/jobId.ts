// Crockford's base 32: no letter looks like a digit, and ids sort like the numbers that they stand for.
const digits = '0123456789abcdefghjkmnpqrstvwxyz';
const timeDigits = 10;
const randomDigits = 8;
const pattern = new RegExp(`^bf-[${digits}]{${timeDigits + randomDigits}}$`);

/**
 * Creates the id of a new job, such as `bf-01kan3v6z8q5m2x9tc`. Ids sort by creation time. An id is valid as a file
 * name on every platform, as a Ray submission id and as part of a Kubernetes name.
 * @param now milliseconds since 1970
 * @param random at least eight random bytes
 */
export function newJobId(now: number, random: Uint8Array): string {
  let time = '';
  for (let left = now; time.length < timeDigits; left = Math.floor(left / 32)) time = (digits[left % 32] ?? '') + time;
  const rest = Array.from(random.subarray(0, randomDigits), (byte) => digits[byte % 32]);
  return `bf-${time}${rest.join('')}`;
}

/** Whether a string is a job id, so that user input is never used as a path. */
export const isJobId = (text: string): boolean => pattern.test(text);
