import { ViewsProcess } from '#processes/viewsProcess.ts';
import { inRoot } from '../../../scripts/paths.ts';

// Plays a window that is killed: starts a views process with a long query, and prints its process id.

const views = await ViewsProcess.start({
  entry: inRoot('dist/views.cjs'),
  node: { path: process.execPath, env: {} },
  onResult: (_, { rows }) => {
    if (rows > 0) console.log(views.pid);
  },
  onExport: () => {},
  onView: () => {},
  onChanges: () => {},
});
const catalog = { implementation: 'engine', socketPath: '/nowhere', secret: '', root: '/nowhere' } as const;
const text = 'select range as id from range(2000000000)';
await views.request('startSql', { id: 'long', text, catalog, others: {}, mayWrite: false, maxBytes: 1e9 });
