import assert from 'node:assert/strict';
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { clusterErrorKinds } from '#cluster/errors.ts';
import { catalogErrorCodes } from '#shared/errors.ts';
import { jobErrorKinds } from '#shared/jobs/jobErrors.ts';
import { inRoot } from '../../scripts/paths.ts';

const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'ARCHITECTURE.md',
  ...readdirSync(inRoot('docs')).map((name) => `docs/${name}`),
];
const read = (page: string): string => readFileSync(inRoot(page), 'utf8');

suite('The documentation', () => {
  test('has every error code in its section of the page on troubleshooting, in order', () => {
    const sections = read('docs/troubleshooting.md').split(/^## /m).slice(1, 4);
    const codes = sections.map((section) => [...section.matchAll(/^\| `(\w+)`/gm)].map(([, code]) => code));
    assert.deepEqual(codes, [Object.keys(catalogErrorCodes), clusterErrorKinds, jobErrorKinds]);
  });

  test('links to files and headings that exist', () => {
    const broken: string[] = [];
    for (const page of pages) {
      for (const [, target = ''] of read(page).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)) {
        const [path = '', heading] = target.split('#');
        const file = path === '' ? page : join(dirname(page), path);
        if (!existsSync(inRoot(file))) broken.push(`${page}: ${target}`);
        else if (heading !== undefined && !headings(read(file)).includes(heading)) broken.push(`${page}: ${target}`);
      }
    }
    assert.deepEqual(broken, []);
  });

  test('beside the code names files that exist', () => {
    const gone: string[] = [];
    for (const name of globSync('{kernel,extension,webviews,scripts,test}/**/*.md', { cwd: inRoot() })) {
      if (name.includes('node_modules') || name.includes('fixtures')) continue;
      for (const [, path = ''] of read(name).matchAll(/`([\w./-]+\.(?:ts|tsx|py|mjs|json))`/g)) {
        const inTests = dirname(name).replace(/^(kernel|extension|webviews)/, 'test/unit/$1');
        const places = [dirname(name), dirname(dirname(name)), '.', inTests];
        if (places.some((place) => existsSync(inRoot(join(place, path))))) continue;
        // A name without a folder may belong to any file.
        if (!path.includes('/') && globSync(`{kernel,extension,test}/**/${path}`, { cwd: inRoot() }).length > 0)
          continue;
        gone.push(`${name}: ${path}`);
      }
    }
    assert.deepEqual(gone, []);
  });

  test('is reached from the README, every page of it', () => {
    const readme = read('README.md');
    assert.deepEqual(
      pages.filter((page) => page !== 'README.md' && !readme.includes(`(${page})`)),
      [],
    );
  });
});

/** Returns the headings of a page in the form of links. */
const headings = (text: string): string[] =>
  [...text.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
