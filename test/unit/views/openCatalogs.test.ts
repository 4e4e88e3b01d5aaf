import assert from 'node:assert/strict';
import { join } from 'node:path';
import { exitDelay } from '#catalog/engineRequest.ts';
import { isCatalogError } from '#shared/errors.ts';
import { OpenCatalogs } from '#views/openCatalogs.ts';
import { tempFolder } from '../../harness/temp.ts';

suite('the catalogs of the views process', () => {
  test('report an engine process that has ended only when its window has learned of it', async () => {
    const folder = tempFolder();
    const catalog = {
      implementation: 'engine',
      socketPath: join(folder, 'ended'),
      secret: 'a secret of a test',
      root: folder,
    } as const;
    const start = performance.now();
    const listing = new OpenCatalogs().with({ catalog }, ({ catalog: opened }) => opened.tableNames());
    const error = await listing.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    assert.ok(isCatalogError(error, 'ServiceUnavailable'), String(error));
    assert.match(error.message, /^The table engine of this window did not answer\. Run the query again\./);
    // A timer may fire a millisecond early.
    assert.ok(performance.now() - start >= exitDelay - 1);
  });
});
