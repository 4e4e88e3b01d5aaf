/**
 * Returns a `disposeOutputItem` callback. It disposes of the output with the given id, or of all outputs if no id is
 * given.
 */
export const disposer =
  (shown: ReadonlyMap<string, unknown>, dispose: (id: string) => void) =>
  (id?: string): void => {
    if (id !== undefined) return dispose(id);
    // Deleting from a Map during its iteration is safe.
    for (const each of shown.keys()) dispose(each);
  };
