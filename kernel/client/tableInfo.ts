// What a table tells of itself.

export type VersionInfo = {
  version: number;
  /** When it was made. */
  timestamp: Date;
  /** What the writer of the version kept beside it. */
  metadata?: Record<string, string>;
  /** Where its manifest is, as the catalog writes it, and how many bytes it has. */
  manifestPath?: string;
  manifestSize?: number;
};

export type TableStats = {
  /** Bytes of its data files. */
  totalBytes: number;
  numRows: number;
  numIndices: number;
  /** Pieces that its rows are in, and those of them that are worth putting together. */
  numFragments: number;
  numSmallFragments: number;
  /** Rows in a fragment. */
  fragmentLengths?: { min: number; max: number; mean: number; p25: number; p50: number; p75: number; p99: number };
};
