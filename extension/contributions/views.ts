import { viewContainerId, type CommandId, type viewIds } from '../manifest.ts';
import { commands } from './commands.ts';
import { all, contextKey, isTrusted, not } from './whenClauses.ts';

type ViewName = keyof typeof viewIds;

export const viewsContainers = {
  activitybar: [{ id: viewContainerId, title: 'Lance Catalog', icon: 'media/catalog.svg' }],
};

type View = {
  readonly name: string;
  /** The name where the view stands alone, outside of our container. */
  readonly contextualTitle: string;
  readonly icon: string;
  /** The share of the height of the container. */
  readonly initialSize: number;
  readonly when?: string;
};

/** The views of the container, from top to bottom. */
export const views: Readonly<Record<ViewName, View>> = {
  catalog: { name: 'Lance Catalog', contextualTitle: 'Lance Catalog', icon: 'media/catalog.svg', initialSize: 5 },
  variables: {
    name: 'Variables',
    contextualTitle: 'Notebook Variables',
    icon: 'media/catalog.svg',
    initialSize: 3,
    when: contextKey('lanceCatalog.notebook.hasVariables'),
  },
  checks: { name: 'Cluster Checks', contextualTitle: 'Lance Cluster Checks', icon: 'media/checks.svg', initialSize: 3 },
  jobs: {
    name: 'Jobs',
    contextualTitle: 'Lance Jobs',
    icon: 'media/jobs.svg',
    initialSize: 3,
    when: contextKey('lanceCatalog.jobs.isShown'),
  },
};

const link = (text: string, command: CommandId): string => `[${text}](command:${command})`;
const button = (command: CommandId): string => link(commands[command].title, command);

type Welcome = { readonly view: ViewName; readonly when?: string; readonly contents: readonly string[] };

/** What a view shows while it is empty; a line that is a link alone becomes a button. */
export const viewsWelcome: readonly Welcome[] = [
  {
    view: 'catalog',
    contents: [
      'Browse the Lance tables of a directory, nested namespaces and all. Nothing else has to run.',
      button('lanceCatalog.connection.add'),
      'Or open the catalog of your company: its address and an API key are enough.',
      button('lanceCatalog.connection.addRest'),
      'Explore them in a notebook that is connected already.',
      button('lanceCatalog.notebook.new'),
    ],
  },
  {
    view: 'checks',
    when: all(isTrusted, not(contextKey('lanceCatalog.cluster.isRunning'))),
    contents: [
      'Find out whether a Kubernetes cluster is fit to run a backfill, before one fails: versions, roles, nodes, storage. Nothing is written there.',
      button('lanceCatalog.cluster.verify'),
      'A profile names the cluster; it is made from your kubeconfig, and holds no secret.',
      button('lanceCatalog.cluster.newProfile'),
      `Here is ${link('what is checked', 'lanceCatalog.cluster.openDocs')}, and why.`,
    ],
  },
  {
    view: 'checks',
    when: not(isTrusted),
    contents: [
      'Clusters are checked in trusted workspaces only, since a kubeconfig may name programs to run.',
      '[Manage Workspace Trust](command:workbench.trust.manage)',
      `Here is ${link('what is checked', 'lanceCatalog.cluster.openDocs')}, and why.`,
    ],
  },
  {
    view: 'jobs',
    when: isTrusted,
    contents: [
      'Fill a column by SQL, TypeScript or Python, on this machine or on Ray. It is planned and tried before anything is written, and goes on when the window is closed.',
      button('lanceCatalog.backfill.column'),
    ],
  },
  {
    view: 'jobs',
    when: not(isTrusted),
    contents: [
      'Backfills run in trusted workspaces only, since they run code.',
      '[Manage Workspace Trust](command:workbench.trust.manage)',
    ],
  },
];
