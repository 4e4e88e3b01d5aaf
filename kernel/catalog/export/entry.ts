// Exports and comparisons of tables, as a separate bundle that is loaded lazily, because most processes need neither.
export { exportTable } from './exportTable.ts';
export { compareInCatalog } from '#catalog/view/compareInCatalog.ts';
