/** The programs in `pages/`, each like a page of LanceDB's documentation. */
export const pageNames = [
  'quickStart',
  'tables',
  'search',
  'fullTextSearch',
  'filtering',
  'indexes',
  'versions',
  'merge',
  'multimodal',
  'namespaces',
] as const;
export type PageName = (typeof pageNames)[number];

type PageDifference = {
  readonly on: readonly ('dir' | 'serve')[];
  /** The name of the reading in the page. */
  readonly name: string;
  readonly inPackage: unknown;
  readonly here: unknown;
  readonly reason: string;
};

/** Readings that differ from those with LanceDB's package. The test fails if one no longer differs. */
export const pageDifferences: Partial<Record<PageName, readonly PageDifference[]>> = {
  tables: [
    {
      on: ['dir', 'serve'],
      name: 'result of an update',
      inPackage: { rowsUpdated: 1, version: 2 },
      here: { numUpdatedRows: 1, version: 2 },
      reason: 'outputs and JSON show each value once; rowsUpdated can be read, but is not enumerable',
    },
  ],
  fullTextSearch: [
    {
      on: ['serve'],
      name: 'words of a string',
      inPackage: [
        ['gull', 0],
        ['slept', 1],
      ],
      here: 'refused',
      reason: 'the specification of servers has no operation for Table.tokenize()',
    },
  ],
  filtering: [
    {
      on: ['dir', 'serve'],
      name: 'rows by position',
      inPackage: [{ id: 2 }, { id: 5 }, { id: 40 }],
      here: [{ id: 5 }, { id: 2 }, { id: 40 }],
      reason: 'the rows have the requested order; the package sorts them',
    },
  ],
  indexes: [
    {
      on: ['serve'],
      name: 'an index loaded before its use',
      inPackage: 'loaded',
      here: 'refused',
      reason: 'the specification of servers has no operation for prewarmIndex()',
    },
  ],
  namespaces: [
    {
      on: ['dir', 'serve'],
      name: 'a namespace that exists, with exist_ok',
      inPackage: 'refused',
      here: 'kept',
      reason: 'the package ignores the mode of createNamespace()',
    },
    {
      on: ['dir', 'serve'],
      name: 'a drop of a missing namespace, with skip',
      inPackage: 'refused',
      here: 'skipped',
      reason: 'the package ignores the mode of dropNamespace()',
    },
    {
      on: ['dir', 'serve'],
      name: 'a folder that does not exist',
      inPackage: 'created',
      here: 'refused',
      reason: 'a wrong path is an error; connect() creates the folders',
    },
  ],
};
