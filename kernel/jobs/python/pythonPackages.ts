/** The version that is installed and tested. */
export const pylance = { name: 'pylance', version: '14.0.2' } as const;

/** The oldest supported version. */
export const minimumPylance = [14, 0] as const;

/** The oldest supported version. */
export const minimumPython = [3, 10] as const;

/** Size on disk in megabytes. */
export const environmentSize = 450;

export function isAtLeast(version: string, minimum: readonly [number, number]): boolean {
  const [major = 0, minor = 0] = version.split('.').map((part) => Number.parseInt(part, 10) || 0);
  return major > minimum[0] || (major === minimum[0] && minor >= minimum[1]);
}
