// Renames a table of a directory back and forth until it is killed: `renameForever.ts ROOT NAMESPACE`.
import { openDir } from '#engine/dir/dirCatalog.ts';

const [root = '', namespace = ''] = process.argv.slice(2);
const path = namespace === '' ? [] : namespace.split('/');
const db = await openDir({ root });
let [from, to] = (await db.tableExists('left', path)) ? ['left', 'right'] : ['right', 'left'];
process.stdout.write('ready\n');
for (;;) {
  await db.renameTable(from, to, path);
  [from, to] = [to, from];
}
