const leftToNode = new WeakMap<object, (reason: unknown) => void>();

/**
 * Runs a cell so that nothing of the kernel stands ready to catch what it throws. V8 looks for that at the throw, and a
 * debugger is to stop at what the person's own code does not catch. Node tells of the rejection in the end.
 */
export function unwatched(run: () => Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    const begin = () => void leftToNode.set(run().then(resolve), reject);
    // In a microtask of its own no function of the kernel is around it. (Of a timer or an immediate, Node would lose its
    // books when the cell is stopped in it.)
    void Promise.resolve().then(begin);
  });
}

/** Takes a rejection that Node tells of; `false` when it is of no such cell. */
export function takeRejection(promise: unknown, reason: unknown): boolean {
  const reject = typeof promise === 'object' && promise !== null ? leftToNode.get(promise) : undefined;
  reject?.(reason);
  return reject !== undefined;
}
