import { Field, Schema } from '#arrow';
import { CatalogError } from '#shared/errors.ts';

/** What the engine keeps in a column's metadata: that its values are computed, how, and when they last were. */
const computed = /^computed_(column|refresh)($|\.)/;

/**
 * The schema of a copy. A column whose values the engine computes from others becomes a plain one, since such a column
 * can't be written to; the copy has its values.
 * @throws CatalogError Unsupported (0) for a column of blobs, of which a query gives the place alone
 */
export function schemaOfCopy(table: string, stored: Schema): { schema: Schema; warnings: string[] } {
  const warnings: string[] = [];
  const fields = stored.fields.map((field) => {
    if (isBlob(field)) {
      throw new CatalogError(
        'Unsupported',
        `Table "${table}" can't be copied: its column "${field.name}" holds blobs, of which a query gives the place alone.`,
        'Leave the column out: make the table of a query that selects the others.',
      );
    }
    const kept = [...field.metadata].filter(([key]) => !computed.test(key));
    if (kept.length === field.metadata.size) return field;
    warnings.push(`The column "${field.name}" is computed in the source; the copy has the values that it has now.`);
    return new Field(field.name, field.type, field.nullable, new Map(kept));
  });
  return { schema: new Schema(fields, stored.metadata), warnings };
}

const isBlob = ({ metadata }: Field): boolean =>
  metadata.get('lance-encoding:blob') === 'true' ||
  (metadata.get('ARROW:extension:name') ?? '').startsWith('lance.blob');
