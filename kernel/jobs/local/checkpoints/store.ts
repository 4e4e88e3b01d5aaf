/**
 * Small files beside a table, by their paths relative to it, on a disk or in an object store; kernel/jobs/driver/CHECKPOINTS.md
 * says which. What fails at writing is told with the next step.
 */
export interface CheckpointStore {
  /** A file as people know it, for sentences. */
  placeOf(path: string): string;
  /** The bytes of a file; `undefined` where there is none that can be read. @throws JobError StorageFailed */
  read(path: string, signal?: AbortSignal): Promise<Uint8Array | undefined>;
  /** Writes a file, in place of the one that was there: whole or not at all. @throws JobError StorageFull, StorageFailed */
  write(path: string, bytes: Uint8Array): Promise<void>;
  /** Writes a file only where there is none. @returns whether it did @throws JobError StorageFull, StorageFailed */
  create(path: string, bytes: Uint8Array): Promise<boolean>;
  /** Names of the files in a folder; none where it is not there. @throws JobError StorageFailed */
  list(folder: string, signal?: AbortSignal): Promise<readonly string[]>;
  /** Removes a file, if it is there. */
  remove(path: string): Promise<void>;
  /** Removes a folder with what is in it, if it is there. */
  removeFolder(folder: string): Promise<void>;
  /** What made something fail, where it is that the table's place is gone; else that failure itself. */
  reasonOf(failure: unknown): unknown;
}
