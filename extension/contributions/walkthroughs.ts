import { viewIds, type CommandId } from '../manifest.ts';
import { button } from './commands.ts';
import { contextKey, isTrusted } from './whenClauses.ts';

type Media = { readonly image: string; readonly altText: string } | { readonly markdown: string };

type Step = {
  readonly id: string;
  readonly title: string;
  /** Lines of Markdown. VS Code shows a line that contains only a link as a button. */
  readonly description: readonly string[];
  readonly media: Media;
  /** Commands that mark the step as done. */
  readonly doneBy: readonly CommandId[];
  /**
   * Condition that marks the step as done. A click on a row of a tree needs it, because VS Code does not report the
   * command of a row.
   */
  readonly doneIf?: string;
  readonly when?: string;
};

/** The steps of the walkthrough, in the order in which a new user needs them. */
const steps: readonly Step[] = [
  {
    id: 'catalog',
    title: 'Add a catalog',
    description: [
      'A catalog is either a directory with Lance tables (a path, or an address such as s3://bucket/tables), or a catalog server.',
      button('lanceCatalog.connection.add'),
      button('lanceCatalog.connection.addRest'),
    ],
    media: { markdown: 'media/walkthrough/catalog.md' },
    // Not the commands: they ask questions, and may end without a catalog.
    doneBy: [],
    doneIf: contextKey('lanceCatalog.connection.added'),
  },
  {
    id: 'table',
    title: 'Look at a table',
    description: [
      'Expand a catalog and click a table: its rows open in a panel, images and vectors included. Double-click the table to keep the panel open.',
      `[Show Catalogs](command:${viewIds.catalog}.focus)`,
    ],
    media: { image: 'media/walkthrough/table.png', altText: 'The rows of a table beside the tree of catalogs' },
    doneBy: ['lanceCatalog.table.preview'],
    doneIf: contextKey('lanceCatalog.table.previewed'),
  },
  {
    id: 'notebook',
    title: 'Query it in a notebook',
    description: [
      'Notebooks run TypeScript and need no Python. The variable db is your catalog.',
      button('lanceCatalog.notebook.new'),
    ],
    media: { image: 'media/walkthrough/notebook.png', altText: 'A notebook cell that shows the rows of a query' },
    doneBy: ['lanceCatalog.notebook.new', 'lanceCatalog.table.newNotebook'],
  },
  {
    id: 'sql',
    title: 'Use SQL and draw a chart',
    description: [
      'A cell that starts with %%sql runs SQL over the tables of the catalog.',
      button('lanceCatalog.notebook.new'),
    ],
    media: { markdown: 'media/walkthrough/sql.md' },
    doneBy: [],
  },
  {
    id: 'backfill',
    title: 'Compute a column',
    description: [
      'A backfill computes a column with SQL, TypeScript or Python. It shows its plan first, and resumes where it stopped.',
      button('lanceCatalog.backfill.column'),
    ],
    media: { markdown: 'media/walkthrough/backfill.md' },
    doneBy: ['lanceCatalog.backfill.column'],
    when: isTrusted,
  },
  {
    id: 'cluster',
    title: 'Verify a Kubernetes cluster',
    description: [
      'To run backfills on Ray in Kubernetes, first check that your identity and the cluster are ready. The checks change nothing.',
      button('lanceCatalog.cluster.verify'),
    ],
    media: { image: 'media/walkthrough/checks.png', altText: 'A list of passed and failed checks of a cluster' },
    doneBy: ['lanceCatalog.cluster.verify'],
    when: isTrusted,
  },
];

/** The walkthrough that VS Code offers on its welcome page. */
export const walkthroughs = [
  {
    id: 'start',
    title: 'Get Started with Lance Catalog',
    description: 'Browse tables, query them in a notebook, and compute columns.',
    icon: 'media/catalog.svg',
    steps: steps.map(({ doneBy, doneIf, description, ...step }) => {
      const events = [
        ...doneBy.map((command) => `onCommand:${command}`),
        ...(doneIf === undefined ? [] : [`onContext:${doneIf}`]),
      ];
      return { ...step, description: description.join('\n'), ...(events.length > 0 && { completionEvents: events }) };
    }),
  },
];
