import { mkdirSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { writeReadings } from './pageValues.ts';

// A program that runs pages with LanceDB's package, one after another: node runPagesInPackage.ts FOLDER PAGE…
// Writes the readings of each page to FOLDER/<n>.json.

const [folder = '', ...pages] = process.argv.slice(2);
const urls = pages.map((page) => pathToFileURL(page).href);

// The package requires the CommonJS build of Arrow and rejects schemas of the other build, which an import would load.
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'apache-arrow' && urls.includes(context.parentURL ?? '')
      ? next('#arrow', { ...context, parentURL: import.meta.url })
      : next(specifier, context),
});

for (const [index, url] of urls.entries()) {
  const results: Record<string, unknown>[] = [];
  const root = join(folder, String(index));
  mkdirSync(root, { recursive: true });
  Object.assign(globalThis, { pageUri: root, pageResults: results });
  await import(url).catch((error: unknown) => results.push({ 'error of the page': String(error) }));
  writeReadings(`${root}.json`, results);
}
