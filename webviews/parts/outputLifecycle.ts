/** Returns a `disposeOutputItem` callback: it disposes of the output with an id, or without one of all. */
export const disposer =
  (shown: ReadonlyMap<string, unknown>, dispose: (id: string) => void) =>
  (id?: string): void => {
    if (id !== undefined) return dispose(id);
    // Deleting from a Map during its iteration is safe.
    for (const each of shown.keys()) dispose(each);
  };
