const last = new Map<string, Promise<unknown>>();

/** Runs a call after those before it that have the same key, whatever came of them. */
export async function inTurn<T>(key: string, call: () => Promise<T>): Promise<T> {
  const before = last.get(key);
  const turn = before === undefined ? call() : before.then(call, call);
  last.set(key, turn);
  try {
    return await turn;
  } finally {
    if (last.get(key) === turn) last.delete(key);
  }
}
