// A test runs this as another user: prints the kind of error of a root to stdout, and its message to stderr.
import { openDir } from '#engine/dir/dirCatalog.ts';
import { isCatalogError, messageOf } from '#shared/errors.ts';

try {
  await openDir({ root: process.argv[2] ?? '' });
  process.stdout.write('opened\n');
} catch (error) {
  process.stdout.write(`${isCatalogError(error) ? error.kind : 'other'}\n`);
  process.stderr.write(`${messageOf(error)}\n`);
}
