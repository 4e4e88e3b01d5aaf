import { lanceDbVerbs } from './lanceDbVerbs.ts';

/** docs/lancedb-verbs.md: the members of LanceDB's package, and how this client provides them. */
export function lanceDbVerbsPage(): string {
  const rows = Object.entries(lanceDbVerbs).map(([name, coverage]) => {
    switch (coverage.how) {
      case 'same':
        return [name, 'same', coverage.note ?? ''];
      case 'alias':
        return [name, 'alias', `of \`${coverage.of}\``];
      case 'instead':
        return [name, 'other call', coverage.use];
    }
  });
  return [
    '# Verbs of LanceDB',
    "The values and methods of LanceDB's TypeScript package (`@lancedb/lancedb`), and how this client provides them: with the _same_ arguments, as an _alias_ of this client's own name, or by an _other call_, which the error names. Examples are in [Code of LanceDB](lancedb.md). This page is generated; a test compares it with the types of the package.",
    [
      '| LanceDB | here | |',
      '| --- | --- | --- |',
      ...rows.map(([name, how, more]) => `| \`${name}\` | ${how} | ${more} |`),
    ].join('\n'),
  ].join('\n\n');
}
