// Requirements of the kernel for its Node.js. Must not import anything, because the launcher of Jupyter's kernelspec
// contains a copy.

/** The oldest Node.js that all dependencies of the child processes support. */
export const minimumNode = [22, 19] as const;

/** Whether child processes run on a version such as `22.19.0` or `v24.1.0`. */
export function isFitNode(version: string): boolean {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number);
  return major > minimumNode[0] || (major === minimumNode[0] && minor >= minimumNode[1]);
}

/**
 * Megabytes of each of V8's two semi-spaces for new objects. With V8's default of 64, a compiler fills the spaces,
 * because its objects live as long as a cell runs. This takes 100 MB more memory and saves no time.
 */
const youngMemory = '--max-semi-space-size=16';

/**
 * Returns the Node.js flags of a kernel. Without a version, it returns only flags that every supported Node.js accepts,
 * because an unknown flag ends Node.js at once.
 */
export function kernelFlags(version?: string): string[] {
  // Without this flag Node.js aborts if a timer is interrupted.
  const flags = ['--no-force-async-hooks-checks', youngMemory];
  // Lets a kernel attribute outputs of finished cells. From Node.js 24 on this is the default, and the flag no longer
  // exists.
  if (version !== undefined && Number.parseInt(version.replace(/^v/, ''), 10) < 24)
    flags.push('--experimental-async-context-frame');
  return flags;
}
