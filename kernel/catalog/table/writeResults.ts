/** The version that a write created, if the server reports it. */
export type WriteResult = { version?: number };

export type InsertResult = WriteResult & { numInsertedRows?: number };

export type UpdateResult = WriteResult & {
  numUpdatedRows?: number;
  /** LanceDB's name of `numUpdatedRows`; outputs and copies leave it out. */
  readonly rowsUpdated?: number | undefined;
};

export type DeleteResult = WriteResult & { numDeletedRows?: number };

export type RefreshResult = WriteResult & {
  numFilledRows: number;
  /** LanceDB's name of `numFilledRows`; outputs and copies leave it out. */
  readonly rowsFilled?: number;
};

export type MergeResult = WriteResult & {
  numUpdatedRows?: number;
  numInsertedRows?: number;
  numDeletedRows?: number;
  /** The sum of the inserted and updated rows, as in LanceDB's package; outputs and copies leave it out. */
  readonly numRows?: number | undefined;
  /**
   * How often the engine tried the merge. It tries again if another writer was faster. Outputs and copies leave this
   * property out.
   */
  readonly numAttempts?: number | undefined;
};
