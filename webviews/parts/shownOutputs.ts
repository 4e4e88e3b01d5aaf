/** What the editor calls when an output goes, or all of them: disposes of those that are shown, by their ids. */
export const disposer =
  (shown: ReadonlyMap<string, unknown>, dispose: (id: string) => void) =>
  (id?: string): void => {
    if (id !== undefined) return dispose(id);
    // Deleting from a Map while walking it is well defined.
    for (const each of shown.keys()) dispose(each);
  };
