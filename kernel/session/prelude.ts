/**
 * What a notebook knows before its first cell, as TypeScript: cells are checked as if they stood behind it. `db` is
 * declared, not imported, so that a cell may assign to it.
 */
export const prelude = `
import { CatalogError, arrow, connect, connectNamespace, display } from "lance-catalog";
declare let db: import("lance-catalog").Catalog;
`;
