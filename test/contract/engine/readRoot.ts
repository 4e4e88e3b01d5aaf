// Run as another user by a test: says on stdout what kind of error a root gives, on stderr its sentence.
import { openDir } from '#engine/dir/dirCatalog.ts';
import { isCatalogError, messageOf } from '#shared/errors.ts';

try {
  await openDir({ root: process.argv[2] ?? '' });
  process.stdout.write('opened\n');
} catch (error) {
  process.stdout.write(`${isCatalogError(error) ? error.kind : 'other'}\n`);
  process.stderr.write(`${messageOf(error)}\n`);
}
