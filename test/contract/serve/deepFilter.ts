// `deepFilter.ts ROOT` is a separate process that sends the engine a filter of 800 levels, without the product's
// checks, which would refuse the filter.
import { loadNative } from '#engine/native.ts';

const { connect } = await loadNative();
const connection = await connect(process.argv[2] ?? '');
const table = await connection.createTable('t', [{ id: 1 }]);
process.stdout.write(String(await table.countRows(`(id = 1)${' IS TRUE'.repeat(800)}`)));
process.exit(0);
