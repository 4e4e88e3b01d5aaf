/** The version that a write created, if the server reports it. */
export type WriteResult = { version?: number };

export type InsertResult = WriteResult & { numInsertedRows?: number };

export type UpdateResult = WriteResult & { numUpdatedRows?: number };

export type RefreshResult = WriteResult & { numFilledRows: number };

export type MergeResult = WriteResult & {
  numUpdatedRows?: number;
  numInsertedRows?: number;
  numDeletedRows?: number;
};
