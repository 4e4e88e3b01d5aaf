const leftToNode = new WeakMap<object, (reason: unknown) => void>();

/**
 * Runs a cell so that no kernel code catches what it throws. V8 checks for handlers at the throw, and a debugger
 * should pause at exceptions that the user's code does not catch. Node finally reports the rejection as unhandled.
 */
export function runUncaught(run: () => Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    const begin = () => void leftToNode.set(run().then(resolve), reject);
    // In a new microtask no kernel function is on the stack. (In a timer or an immediate, terminating the cell would
    // corrupt Node's bookkeeping.)
    void Promise.resolve().then(begin);
  });
}

/** Handles a rejection that Node reports as unhandled; returns `false` if it does not belong to such a cell. */
export function takeRejection(promise: unknown, reason: unknown): boolean {
  const reject = typeof promise === 'object' && promise !== null ? leftToNode.get(promise) : undefined;
  reject?.(reason);
  return reject !== undefined;
}
