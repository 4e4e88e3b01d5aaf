/** The location that a page connects to. The program that runs a page sets it. */
declare const pageUri: string;
/** Where a page puts what it reads: one object with a name and a value for each reading. */
declare const pageResults: Record<string, unknown>[];
