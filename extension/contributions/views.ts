import { viewContainerId, type viewIds } from '../manifest.ts';
import { button, link } from './commands.ts';
import { all, contextKey, isTrusted, not } from './whenClauses.ts';

type ViewName = keyof typeof viewIds;

export const viewsContainers = {
  activitybar: [{ id: viewContainerId, title: 'Lance Catalog', icon: 'media/catalog.svg' }],
};

type View = {
  readonly name: string;
  /** The name that VS Code shows when the view is outside of our container. */
  readonly contextualTitle: string;
  readonly icon: string;
  /** The relative height of the view in the container. */
  readonly initialSize: number;
  readonly when?: string;
};

/** The views of the container, from top to bottom. */
export const views: Readonly<Record<ViewName, View>> = {
  catalog: { name: 'Catalogs', contextualTitle: 'Lance Catalog', icon: 'media/catalog.svg', initialSize: 6 },
  variables: {
    name: 'Variables',
    contextualTitle: 'Notebook Variables',
    icon: 'media/catalog.svg',
    initialSize: 2,
    when: contextKey('lanceCatalog.notebook.hasVariables'),
  },
  checks: {
    name: 'Cluster Checks',
    contextualTitle: 'Lance Cluster Checks',
    icon: 'media/checks.svg',
    initialSize: 3,
    when: contextKey('lanceCatalog.cluster.isShown'),
  },
  jobs: {
    name: 'Jobs',
    contextualTitle: 'Lance Jobs',
    icon: 'media/jobs.svg',
    initialSize: 1,
    when: contextKey('lanceCatalog.jobs.isShown'),
  },
};

type Welcome = { readonly view: ViewName; readonly when?: string; readonly contents: readonly string[] };

/** The content of an empty view. VS Code shows a line that contains only a link as a button. */
export const viewsWelcome: readonly Welcome[] = [
  {
    view: 'catalog',
    contents: [
      'Browse the Lance tables of a directory, with nested namespaces. No server is needed.',
      button('lanceCatalog.connection.add'),
      'Or connect to a catalog server with its URL and an API key.',
      button('lanceCatalog.connection.addRest'),
      'Explore tables in a notebook that is already connected.',
      button('lanceCatalog.notebook.new'),
      `To run backfills on Kubernetes, ${link('verify your cluster', 'lanceCatalog.cluster.verify')} first.`,
    ],
  },
  {
    view: 'checks',
    when: all(isTrusted, not(contextKey('lanceCatalog.cluster.isRunning'))),
    contents: [
      'Check that a Kubernetes cluster can run backfills: versions, roles, nodes and storage. The checks change nothing.',
      button('lanceCatalog.cluster.verify'),
      'A profile describes the cluster. It is created from your kubeconfig and holds no secrets.',
      button('lanceCatalog.cluster.newProfile'),
      `See ${link('the list of checks', 'lanceCatalog.cluster.openDocs')}.`,
    ],
  },
  {
    view: 'checks',
    when: not(isTrusted),
    contents: [
      'Clusters are checked only in trusted workspaces, because a kubeconfig can start programs.',
      '[Manage Workspace Trust](command:workbench.trust.manage)',
      `See ${link('the list of checks', 'lanceCatalog.cluster.openDocs')}.`,
    ],
  },
  {
    view: 'jobs',
    when: isTrusted,
    contents: [
      'Compute a column with SQL, TypeScript or Python, on this machine or on Ray. You can plan and try a backfill before it writes. It continues after you close the window.',
      button('lanceCatalog.backfill.column'),
    ],
  },
  {
    view: 'jobs',
    when: not(isTrusted),
    contents: [
      'Backfills run only in trusted workspaces, because they run code.',
      '[Manage Workspace Trust](command:workbench.trust.manage)',
    ],
  },
];
