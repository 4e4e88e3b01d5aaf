import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isActive } from '#shared/jobs/jobLabels.ts';
import type { JobView } from '#shared/jobs/jobView.ts';
import type { ExtensionApi } from '../../../extension/extension.ts';
import type { JobsHost } from '../../../extension/jobs/jobsHost.ts';
import type { TablePlace } from '../../../extension/panels/tableSource.ts';
import { eventually, temporaryFolder } from '../support.ts';

export const orderRows = 40_000;

/** A catalog with one table for backfills as a named connection, with separate job records. */
export type JobsWorld = {
  readonly folder: string;
  readonly connection: string;
  readonly place: TablePlace;
  remove(this: void): Promise<void>;
};

/** Creates the table `shop/orders` of `orderRows` rows, and keeps job records separate from those of the user. */
export async function makeJobsWorld(api: ExtensionApi, connection: string): Promise<JobsWorld> {
  const [folder, data] = [temporaryFolder(), temporaryFolder()];
  const dataHome = process.env['XDG_DATA_HOME'];
  process.env['XDG_DATA_HOME'] = data.path;
  // Restart the jobs process, because a running one still uses the folder of the previous test file.
  await api.jobs.host.restart();
  const catalog = await api.engine.catalog(folder.path);
  await catalog.createNamespace(['shop']);
  const orders = Array.from({ length: orderRows }, (_, id) => ({ id, note: `order ${id}` }));
  await catalog.createTable('orders', orders, { namespacePath: ['shop'] });
  await api.connections.add(connection, folder.path);
  return {
    folder: folder.path,
    connection,
    place: { connection, path: ['shop'], table: 'orders' },
    remove: async () => {
      await api.connections.remove(connection);
      if (dataHome === undefined) delete process.env['XDG_DATA_HOME'];
      else process.env['XDG_DATA_HOME'] = dataHome;
      folder.remove();
      data.remove();
    },
  };
}

/** Resolves with the job when it has ended in any state. */
export const ended = (host: JobsHost, id: string): Promise<JobView> =>
  eventually(
    `the end of ${id}`,
    () => {
      const view = host.board.get(id);
      return view && !isActive(view) && view;
    },
    120_000,
  );

/**
 * Writes a TypeScript function that waits in the middle of the table while a file exists.
 * @returns its file, and the file that makes it wait
 */
export function writeGatedFunction(folder: string): { readonly file: string; readonly gate: string } {
  const [file, gate] = [join(folder, 'gated.ts'), join(folder, 'gate')];
  writeFileSync(gate, '');
  writeFileSync(
    file,
    `import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { arrow, udf } from 'lance-catalog';

export default udf({ name: 'gated', input: ['id', 'note'], output: new arrow.Int32() }, async ({ id, note }) => {
  while (id >= ${orderRows / 2} && existsSync(${JSON.stringify(gate)})) await sleep(50);
  return note.length;
});
`,
  );
  return { file, gate };
}
