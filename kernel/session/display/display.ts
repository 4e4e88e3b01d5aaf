import { types } from 'node:util';
import { Query } from '#client/query.ts';
import { showCatalog } from './cards.ts';
import { showImage } from './images.ts';
import { ownMaker } from './ownForms.ts';
import { arrowTable, isArrowSchema, isCatalog, isBatchStream, isCatalogTable, isObject } from './shapes.ts';
import type { ShowOptions, Shown } from './shown.ts';
import { showBatchStream, showCatalogTable, showQuery, showSchema, showTable } from './tables.ts';
import { showValue } from './values.ts';
import type { TranslateStack } from './valueTree.ts';

/** Gives the forms of a value for an output. */
export type Show = (value: unknown, options?: ShowOptions) => Shown | Promise<Shown>;

/**
 * Makes the function that gives the forms of a value. At once for most; a query and a table of a catalog have to be read
 * first, at most 1,000 rows of them, and reject with the `CatalogError` of that.
 * @throws CatalogError InvalidInput (13) naming the form of a value's own making that JSON can't hold; and whatever a
 * method of the value throws that makes its forms
 */
export function createShow(translate: TranslateStack): Show {
  return (value, options = {}) => {
    const plain = () => showValue(value, translate, options);
    if (!isObject(value)) return plain();
    const own = ownMaker(value);
    if (own) return own(plain);
    return types.isProxy(value) ? plain() : (showKnown(value, options) ?? plain());
  };
}

/** The forms of what the kernel knows by its shape. */
function showKnown(value: object, options: ShowOptions): Shown | Promise<Shown> | undefined {
  if (value instanceof Query) return showQuery(value, options);
  if (isCatalogTable(value)) return showCatalogTable(value, options);
  if (isBatchStream(value)) return showBatchStream(arrowTable(value.schema)?.schema ?? value.schema);
  if (isCatalog(value)) return showCatalog(value, options);
  const table = arrowTable(value);
  if (table) return isArrowSchema(value) ? showSchema(table.schema) : showTable(table, table.numRows, options);
  return showImage(value);
}
