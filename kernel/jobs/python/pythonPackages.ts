/** The package that reads and writes tables from Python, in the version that is installed and tested. */
export const pylance = { name: 'pylance', version: '14.0.2' } as const;

/** The oldest pylance that the driver supports. */
export const minimumPylance = [14, 0] as const;

/** The oldest Python that the driver supports. */
export const minimumPython = [3, 10] as const;

/** Disk size of the environment in megabytes. */
export const environmentSize = 450;

/** Whether a version such as `14.0.2` is at least `minimum` (major, minor). */
export function isAtLeast(version: string, minimum: readonly [number, number]): boolean {
  const [major = 0, minor = 0] = version.split('.').map((part) => Number.parseInt(part, 10) || 0);
  return major > minimum[0] || (major === minimum[0] && minor >= minimum[1]);
}
