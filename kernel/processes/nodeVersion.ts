// What the kernel asks of the Node that runs it. Imports nothing: the launcher of Jupyter's kernelspec brings a copy.

/** The oldest Node that every dependency of the children runs on. */
export const minimumNode = [22, 19] as const;

/** Whether a version such as `22.19.0` or `v24.1.0` is one that children run on. */
export function isFitNode(version: string): boolean {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number);
  return major > minimumNode[0] || (major === minimumNode[0] && minor >= minimumNode[1]);
}

/**
 * Megabytes for what is new in memory, twice. V8 takes 64 of its own accord, and a compiler, whose things live for the time
 * of a cell, fills them all: 100 MB more of the machine, and no time is saved by it.
 */
const youngMemory = '--max-semi-space-size=16';

/**
 * The flags of Node that a kernel runs under. Without a version those that every fit Node takes: a Node ends at once
 * over a flag that it does not know.
 */
export function kernelFlags(version?: string): string[] {
  // Node aborts over an interrupt in a timer without it.
  const flags = ['--no-force-async-hooks-checks', youngMemory];
  // Lets a kernel tell whose late output is whose. From 24 on it is how Node works, and no flag any more.
  if (version !== undefined && Number.parseInt(version.replace(/^v/, ''), 10) < 24)
    flags.push('--experimental-async-context-frame');
  return flags;
}
