import { tableFromIPC, tableToIPC, type Table } from '#arrow';
import { withOwnGlobals } from '#shared/ownGlobals.ts';

// Arrow's library makes a TextDecoder for every message, of which a cell may have made something else.

/** The table of a stream of Arrow. */
export const readStream = (stream: Uint8Array): Table => withOwnGlobals(() => tableFromIPC(stream));

/** A table as a stream of Arrow. */
export const writeStream = (table: Table): Uint8Array => withOwnGlobals(() => tableToIPC(table, 'stream'));
