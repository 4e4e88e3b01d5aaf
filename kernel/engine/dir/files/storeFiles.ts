/** Reads small files beside a table. */
export type TableFiles = {
  /** Returns no names if the folder does not exist. */
  list(folder: string, signal: AbortSignal | undefined): Promise<readonly string[]>;
  /** Returns `undefined` for a missing file. */
  read(path: string, signal: AbortSignal | undefined): Promise<Uint8Array | undefined>;
};

/** Opens the files beside a table in an object store; `undefined` for a store that this process can't read. */
export type OpenStoreFiles = (
  location: string,
  storageOptions: Readonly<Record<string, string>>,
) => Promise<(TableFiles & Disposable) | undefined>;

let registered: OpenStoreFiles | undefined;

/** Sets how this process reads files in object stores, because the engine offers no way to read files. */
export function registerStoreFiles(open: OpenStoreFiles): void {
  registered = open;
}

/** Returns `undefined` if this process can't read the files of the store. */
export const openStoreFiles: OpenStoreFiles = (location, storageOptions) =>
  registered ? registered(location, storageOptions) : Promise.resolve(undefined);
