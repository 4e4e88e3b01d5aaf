/** The package that reads and writes tables from Python, as our own environment gets it: the one that tests run with. */
export const pylance = { name: 'pylance', version: '14.0.2' } as const;

/** The oldest pylance that the driver runs with. */
export const minimumPylance = [14, 0] as const;

/** The oldest Python that the driver runs with. */
export const minimumPython = [3, 10] as const;

/** What an environment of our own takes on a disk, megabytes. */
export const environmentSize = 450;

/** Whether a version such as `14.0.2` is at least one of two numbers. */
export function isAtLeast(version: string, minimum: readonly [number, number]): boolean {
  const [major = 0, minor = 0] = version.split('.').map((part) => Number.parseInt(part, 10) || 0);
  return major > minimum[0] || (major === minimum[0] && minor >= minimum[1]);
}
