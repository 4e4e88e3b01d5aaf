const leftToNode = new WeakMap<object, (reason: unknown) => void>();

/**
 * Runs a cell so that no kernel code catches what it throws. A debugger should pause at exceptions that the user's code
 * does not catch, and V8 looks for a handler at the moment of the throw. As no code handles the rejection, Node reports
 * it as unhandled.
 */
export function runUncaught(run: () => Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    const begin = () => void leftToNode.set(run().then(resolve), reject);
    // Runs the cell in a new microtask, because then no kernel function is on the stack. (In a timer or an immediate,
    // terminating the cell would corrupt Node's bookkeeping.)
    void Promise.resolve().then(begin);
  });
}

/**
 * Handles a rejection that Node reports as unhandled; returns `false` if the rejection does not belong to a cell that
 * `runUncaught` runs.
 */
export function takeRejection(promise: unknown, reason: unknown): boolean {
  const reject = typeof promise === 'object' && promise !== null ? leftToNode.get(promise) : undefined;
  reject?.(reason);
  return reject !== undefined;
}
