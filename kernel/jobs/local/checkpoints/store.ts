/**
 * Stores small files beside a table, on a disk or in an object store, by paths relative to the table. The files are
 * described in kernel/jobs/driver/CHECKPOINTS.md. Write errors contain the next step for the user.
 */
export interface CheckpointStore {
  /** Returns the location of a file for messages. */
  placeOf(path: string): string;
  /** Reads a file; `undefined` if it is missing or unreadable. @throws JobError StorageFailed */
  read(path: string, signal?: AbortSignal): Promise<Uint8Array | undefined>;
  /** Writes or replaces a file, completely or not at all. @throws JobError StorageFull, StorageFailed */
  write(path: string, bytes: Uint8Array): Promise<void>;
  /**
   * Writes a file only if it does not exist. @returns whether it was written @throws JobError StorageFull,
   * StorageFailed
   */
  create(path: string, bytes: Uint8Array): Promise<boolean>;
  /** Lists the files in a folder; none if it does not exist. @throws JobError StorageFailed */
  list(folder: string, signal?: AbortSignal): Promise<readonly string[]>;
  /** Removes a file if it exists. */
  remove(path: string): Promise<void>;
  /** Removes a folder with its content if it exists. */
  removeFolder(folder: string): Promise<void>;
  /** Returns an error that explains a failure if the table's folder no longer exists, otherwise the failure itself. */
  reasonOf(failure: unknown): unknown;
}
