// A test runs this script, as another OS user if the test runs as root. It opens the directory `argv[2]`, and prints
// `opened` or the error kind to stdout, and the error message to stderr.
import { openDir } from '#engine/dir/dirCatalog.ts';
import { isCatalogError, messageOf } from '#shared/errors.ts';

try {
  await openDir({ root: process.argv[2] ?? '' });
  process.stdout.write('opened\n');
} catch (error) {
  process.stdout.write(`${isCatalogError(error) ? error.kind : 'other'}\n`);
  process.stderr.write(`${messageOf(error)}\n`);
}
