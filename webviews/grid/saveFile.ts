/** A file to save: its proposed name, and its content in parts. */
export type FileToSave = {
  readonly name: string;
  readonly parts: () => Iterable<Uint8Array<ArrayBuffer>>;
};

export type SaveOptions = { readonly signal: AbortSignal; readonly onProgress: (bytes: number) => void };

/**
 * Saves a file where the user wants it. Returns its name; `undefined` if the user doesn't choose a place.
 * @throws Error if it can't be written
 */
export type SaveFile = (file: FileToSave, options: SaveOptions) => Promise<string | undefined>;

/** The requests of a file that the editor writes. The same in the panel and in notebook outputs. */
export type FileHost = {
  create(name: string, signal: AbortSignal): Promise<{ id: number; name: string } | null>;
  write(id: number, bytes: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<unknown>;
  close(id: number, isComplete: boolean): Promise<unknown>;
};

/** Returns how a page saves files through the editor, a part at a time. A canceled or failed file leaves nothing. */
export const saveThrough =
  (host: FileHost): SaveFile =>
  async ({ name, parts }, { signal, onProgress }) => {
    const created = await host.create(name, signal);
    if (!created) return undefined;
    let isComplete = false;
    try {
      let bytes = 0;
      for (const part of parts()) {
        signal.throwIfAborted();
        await host.write(created.id, part, signal);
        onProgress((bytes += part.length));
      }
      isComplete = true;
    } finally {
      const closed = host.close(created.id, isComplete);
      // The first failure is the one to report.
      await (isComplete ? closed : closed.catch(() => undefined));
    }
    return created.name;
  };
