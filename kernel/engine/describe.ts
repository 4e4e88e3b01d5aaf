import { columnsOf } from '#shared/arrowTypes.ts';
import type { CallOptions } from '#client/callOptions.ts';
import type { TableDescription } from '#client/catalog.ts';
import type { Place } from './dirConnection.ts';
import type { DirTable } from './dirTable.ts';
import type { Pin } from './tableHandle.ts';
import { tableLocation } from './tableLocation.ts';

/** What a table is, all of it at one version ("DescribeTable"). */
export async function describeAt(
  place: Place,
  open: (pin: Pin & CallOptions) => Promise<DirTable>,
  options: Pin & CallOptions,
): Promise<TableDescription> {
  const { signal } = options;
  const asked = await open(options);
  try {
    const version = options.version ?? (await asked.version({ signal }));
    // A tag names a version of a branch.
    const branch = await asked.branch({ signal });
    // At that version, so that columns and rows belong together though others write meanwhile.
    const table = options.version === undefined ? await open({ version, branch, signal }) : asked;
    try {
      const { name, namespacePath } = table;
      const [schema, numRows, location] = await Promise.all([
        table.schema({ signal }),
        table.countRows(undefined, { signal }),
        tableLocation(place, { name, path: namespacePath }),
      ]);
      return { name, namespacePath, version, columns: columnsOf(schema), numRows, ...(location && { location }) };
    } finally {
      if (table !== asked) table.close();
    }
  } finally {
    asked.close();
  }
}
