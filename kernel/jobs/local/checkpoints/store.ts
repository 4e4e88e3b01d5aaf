/**
 * Stores small files beside a table, by relative paths, as described in kernel/jobs/driver/CHECKPOINTS.md. Write
 * errors contain the next step for the user.
 */
export interface CheckpointStore {
  /** Returns the location of a file, for messages. */
  placeOf(path: string): string;
  /** Returns `undefined` for a missing or unreadable file. @throws JobError StorageFailed */
  read(path: string, signal?: AbortSignal): Promise<Uint8Array | undefined>;
  /** Replaces a file completely or not at all. @throws JobError StorageFull, StorageFailed */
  write(path: string, bytes: Uint8Array): Promise<void>;
  /** Writes only a new file. @returns whether it was written @throws JobError StorageFull, StorageFailed */
  create(path: string, bytes: Uint8Array): Promise<boolean>;
  /** Returns no names if the folder does not exist. @throws JobError StorageFailed */
  list(folder: string, signal?: AbortSignal): Promise<readonly string[]>;
  remove(path: string): Promise<void>;
  removeFolder(folder: string): Promise<void>;
  /** If the table's folder no longer exists, returns an error that says so; otherwise returns the failure unchanged. */
  reasonOf(failure: unknown): unknown;
}
