// A process of its own that asks the engine for a filter of 800 levels, past all that refuses such: `deepFilter.ts ROOT`.
import { loadNative } from '#engine/native.ts';

const { connect } = await loadNative();
const connection = await connect(process.argv[2] ?? '');
const table = await connection.createTable('t', [{ id: 1 }]);
process.stdout.write(String(await table.countRows(`(id = 1)${' IS TRUE'.repeat(800)}`)));
process.exit(0);
