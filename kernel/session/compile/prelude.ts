/**
 * The declarations that a notebook has before its first cell. `db` is declared, not imported, so that a cell may
 * assign to it.
 */
export const prelude = `
import { CatalogError, Index, arrow, cellSignal, cluster, comms, confirm, connect, connectNamespace, display, input, makeArrowTable, progress, prompt, ray, sql, udf } from "lance-catalog";
declare let db: import("lance-catalog").Catalog;
`;
