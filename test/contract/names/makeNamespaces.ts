// A separate process that creates namespaces: opens the received root, creates three namespaces at the received time,
// and sends the results.
import { openDir } from '#engine/dir/dirCatalog.ts';
import { loadNative } from '#engine/native.ts';
import { isCatalogError, messageOf } from '#shared/errors.ts';
import { isRecord } from '#shared/records.ts';

const name = process.argv[2] ?? '';
await loadNative();

process.on('message', (told: unknown) => void make(told));
process.send?.('ready');

async function make(told: unknown): Promise<void> {
  if (!isRecord(told) || typeof told['root'] !== 'string') return;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- from the test that started this process
  const storageOptions = told['storageOptions'] as Record<string, string> | undefined;
  const db = await openDir({ root: told['root'], ...(storageOptions && { storageOptions }) });
  // Two processes start at the same moment, as exactly as possible.
  while (Date.now() < Number(told['at'])) await new Promise(setImmediate);
  try {
    for (const each of [name, `${name}-2`, `${name}-3`]) await db.createNamespace([each]);
    process.send?.('made');
  } catch (error) {
    process.send?.(isCatalogError(error) ? `${error.kind}: ${error.message}` : messageOf(error));
  } finally {
    await db.close();
  }
}
