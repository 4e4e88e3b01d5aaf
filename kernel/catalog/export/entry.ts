// The export of tables, as a separate bundle that is loaded lazily, because most processes never write a file.
export { exportTable } from './exportTable.ts';
