// Every id that package.json contributes, with the type of its value. Titles, menus and descriptions are in
// contributions/. A script in plain Node.js generates package.json from these files, so this file may import only types
// from `vscode`.
import type { NotebookCell, Uri } from 'vscode';
import type { ClusterProfile } from '#cluster/profile.ts';
import type { CheckReport } from '#cluster/result.ts';
import type { VariableInfo } from '#shared/protocol/kernelMessages.ts';
import type { CheckNode } from './cluster/checkRows.ts';
import type { CatalogNode, Connection, GivenServer, RestConnection } from './explorer/node.ts';
import type { JobNode } from './jobs/jobNode.ts';

/**
 * The signature of each command. Menus, key bindings and other extensions pass the arguments, so every argument is
 * optional and the command validates it. Without an argument, the command uses the selection or prompts the user.
 */
export type CommandTypes = {
  'lanceCatalog.connection.add': (connection?: { name?: string; root: string }) => Promise<Connection | undefined>;
  'lanceCatalog.connection.addRest': (server?: GivenServer) => Promise<RestConnection | undefined>;
  'lanceCatalog.connection.edit': (node?: CatalogNode) => Promise<void>;
  'lanceCatalog.connection.updateKey': (node?: CatalogNode) => Promise<void>;
  'lanceCatalog.connection.remove': (node?: CatalogNode) => Promise<void>;
  'lanceCatalog.connection.copyLocation': (node?: CatalogNode) => Promise<void>;
  'lanceCatalog.connection.openSettings': () => Promise<void>;
  'lanceCatalog.namespace.create': (node?: CatalogNode) => Promise<void>;
  'lanceCatalog.namespace.drop': (node?: CatalogNode) => Promise<void>;
  'lanceCatalog.catalog.refresh': (node?: CatalogNode) => void;
  'lanceCatalog.catalog.refreshAll': () => void;
  'lanceCatalog.catalog.repair': (node?: CatalogNode) => Promise<void>;
  'lanceCatalog.catalog.loadMore': (node?: CatalogNode) => Promise<void>;
  'lanceCatalog.catalog.copyIdentifier': (node?: CatalogNode) => Promise<void>;
  'lanceCatalog.catalog.copyPath': (node?: CatalogNode) => Promise<void>;
  'lanceCatalog.table.create': (node?: CatalogNode) => Promise<void>;
  'lanceCatalog.table.rename': (node?: CatalogNode) => Promise<void>;
  'lanceCatalog.table.optimize': (node?: CatalogNode) => Promise<void>;
  'lanceCatalog.table.export': (node?: CatalogNode, file?: Uri) => Promise<void>;
  'lanceCatalog.table.drop': (node?: CatalogNode) => Promise<void>;
  'lanceCatalog.table.preview': (node?: CatalogNode) => Promise<void>;
  'lanceCatalog.table.keepOpen': () => void;
  'lanceCatalog.table.exportRows': (file?: Uri) => Promise<void>;
  'lanceCatalog.table.exportSelectedRows': (file?: Uri) => Promise<void>;
  'lanceCatalog.table.goToRow': () => Promise<void>;
  'lanceCatalog.table.chooseVersion': () => Promise<void>;
  'lanceCatalog.table.showView': (name?: string) => Promise<void>;
  'lanceCatalog.table.saveView': (name?: string) => Promise<void>;
  'lanceCatalog.table.compare': () => Promise<void>;
  'lanceCatalog.table.saveViewFile': (file?: Uri) => Promise<void>;
  'lanceCatalog.table.copyCode': (language?: string) => Promise<void>;
  'lanceCatalog.table.insertCell': () => Promise<void>;
  'lanceCatalog.table.newNotebook': (node?: CatalogNode) => Promise<void>;
  'lanceCatalog.sql.run': (place?: Uri | { uri: Uri; offset: number }) => Promise<void>;
  'lanceCatalog.sql.runAll': (file?: Uri) => Promise<void>;
  'lanceCatalog.sql.runSelection': (file?: Uri) => Promise<void>;
  'lanceCatalog.sql.explain': (file?: Uri) => Promise<void>;
  'lanceCatalog.sql.cancel': (file?: Uri) => void;
  'lanceCatalog.sql.chooseConnection': (file?: Uri) => Promise<void>;
  'lanceCatalog.sql.newQuery': (node?: CatalogNode) => Promise<void>;
  'lanceCatalog.sql.history': () => Promise<void>;
  'lanceCatalog.engine.restart': () => Promise<void>;
  'lanceCatalog.log.show': () => void;
  'lanceCatalog.notebook.new': (node?: CatalogNode) => Promise<void>;
  'lanceCatalog.notebook.chooseCatalog': () => Promise<void>;
  'lanceCatalog.notebook.restartKernel': () => Promise<void>;
  'lanceCatalog.notebook.openVariable': (variable?: VariableInfo) => Promise<void>;
  'lanceCatalog.notebook.debugCell': (cell?: NotebookCell) => Promise<void>;
  'lanceCatalog.cluster.verify': (given?: { profile?: string }) => Promise<CheckReport | undefined>;
  'lanceCatalog.cluster.verifyWithProbe': (given?: { profile?: string }) => Promise<CheckReport | undefined>;
  'lanceCatalog.cluster.rerun': (node?: CheckNode) => Promise<CheckReport | undefined>;
  'lanceCatalog.cluster.rerunFailed': () => Promise<CheckReport | undefined>;
  'lanceCatalog.cluster.stop': () => Promise<void>;
  'lanceCatalog.cluster.chooseProfile': () => Promise<void>;
  'lanceCatalog.cluster.showProblems': () => void;
  'lanceCatalog.cluster.showAll': () => void;
  'lanceCatalog.cluster.showEvidence': (node?: CheckNode) => Promise<void>;
  'lanceCatalog.cluster.copyMend': (node?: CheckNode) => Promise<void>;
  'lanceCatalog.cluster.showMend': (node?: CheckNode) => Promise<void>;
  'lanceCatalog.cluster.applyMend': (place?: Uri | CheckNode) => Promise<void>;
  'lanceCatalog.cluster.openDocs': (node?: CheckNode) => Promise<void>;
  'lanceCatalog.cluster.showReport': () => Promise<void>;
  'lanceCatalog.cluster.saveReport': (target?: Uri) => Promise<Uri | undefined>;
  'lanceCatalog.cluster.newProfile': () => Promise<ClusterProfile | undefined>;
  'lanceCatalog.cluster.editProfiles': () => Promise<void>;
  'lanceCatalog.backfill.column': (node?: CatalogNode) => Promise<void>;
  'lanceCatalog.ray.connect': () => Promise<void>;
  'lanceCatalog.backfill.fromFile': (file?: Uri) => Promise<void>;
  'lanceCatalog.function.accept': (document?: Uri) => void;
  'lanceCatalog.function.decline': (document?: Uri) => void;
  'lanceCatalog.jobFile.check': (file?: Uri) => Promise<void>;
  'lanceCatalog.jobFile.plan': (file?: Uri) => Promise<void>;
  'lanceCatalog.jobFile.try': (file?: Uri) => Promise<void>;
  'lanceCatalog.jobFile.run': (file?: Uri) => Promise<void>;
  'lanceCatalog.ray.createCluster': () => Promise<void>;
  'lanceCatalog.ray.openDashboard': () => Promise<void>;
  'lanceCatalog.ray.forget': () => Promise<void>;
  'lanceCatalog.python.setUp': () => Promise<void>;
  'lanceCatalog.python.remove': () => Promise<void>;
  'lanceCatalog.jobs.show': () => Promise<void>;
  'lanceCatalog.jobs.open': (node?: JobNode) => Promise<void>;
  'lanceCatalog.jobs.cancel': (node?: JobNode) => Promise<void>;
  'lanceCatalog.jobs.resume': (node?: JobNode) => Promise<void>;
  'lanceCatalog.jobs.retry': (node?: JobNode) => Promise<void>;
  'lanceCatalog.jobs.openTable': (node?: JobNode) => Promise<void>;
  'lanceCatalog.jobs.copyCode': (node?: JobNode) => Promise<void>;
  'lanceCatalog.jobs.remove': (node?: JobNode) => Promise<void>;
  'lanceCatalog.jobs.removeEnded': () => Promise<void>;
  'lanceCatalog.jupyter.preview': (variable?: string) => Promise<void>;
};
export type CommandId = keyof CommandTypes;

/** The type of each setting. */
export type SettingTypes = {
  'lanceCatalog.nodePath': string;
  'lanceCatalog.defaultConnections': unknown[];
  'lanceCatalog.cluster.profiles': Readonly<Record<string, unknown>>;
  'lanceCatalog.notebook.typeCheck': string;
  'lanceCatalog.notebook.keepKernelSeconds': number;
  'lanceCatalog.notebook.printedCharacters': number;
  'lanceCatalog.sql.maxResultGigabytes': number;
  'lanceCatalog.timeZone': 'utc' | 'column' | 'local';
};
export type SettingId = keyof SettingTypes;

/** Context keys that `when` clauses read. */
export type ContextTypes = {
  /** The next preview reuses the active table panel. */
  'lanceCatalog.table.unpinned': boolean;
  /** True for a moment when a table is shown from the tree. */
  'lanceCatalog.table.previewed': boolean;
  /** The paths of open SQL files that are bound to a connection. */
  'lanceCatalog.sql.bound': readonly string[];
  /** The paths of SQL files that run. */
  'lanceCatalog.sql.running': readonly string[];
  /** The active notebook has our kernel. */
  'lanceCatalog.notebook.hasKernel': boolean;
  /** The last active notebook has our kernel, whatever editor is active now. */
  'lanceCatalog.notebook.hasVariables': boolean;
  /** The kind and abilities of the selected row of the catalog tree, as in its `viewItem`; empty without a selection. */
  'lanceCatalog.catalog.selected': string;
  /** True for a moment when the user has added a connection. */
  'lanceCatalog.connection.added': boolean;
  /** The view of cluster checks is visible: a profile exists, or the user has opened the view. */
  'lanceCatalog.cluster.isShown': boolean;
  /** Cluster checks are running. */
  'lanceCatalog.cluster.isRunning': boolean;
  /** A report exists. */
  'lanceCatalog.cluster.hasReport': boolean;
  /** The view hides checks that passed. */
  'lanceCatalog.cluster.onlyProblems': boolean;
  /** The view of jobs is visible: the user has started a job or opened the view. */
  'lanceCatalog.jobs.isShown': boolean;
  /** Finished jobs exist. */
  'lanceCatalog.jobs.hasEnded': boolean;
  /** The Jupyter extension is installed. */
  'lanceCatalog.jupyter.available': boolean;
};
export type ContextId = keyof ContextTypes;

export const viewContainerId = 'lanceCatalog';
export const viewIds = {
  catalog: 'lanceCatalog.catalog',
  variables: 'lanceCatalog.variables',
  checks: 'lanceCatalog.checks',
  jobs: 'lanceCatalog.jobs',
} as const;
export const panelTypes = { table: 'lanceCatalog.table', job: 'lanceCatalog.job' } as const;

/** The editor of view files. */
export const viewFileEditorId = 'lanceCatalog.viewFile';

/** Ids of the notebook controller, of the kernelspec in .ipynb files, and of the output renderers. */
export const notebookIds = {
  controller: 'lance-typescript',
  /** The extension's id, which the editor puts before a controller's id. */
  extension: 'lance-catalog.lance-catalog',
  kernelspec: 'lance-typescript',
  notebookType: 'jupyter-notebook',
  renderer: 'lance-catalog.table',
  jobRenderer: 'lance-catalog.job',
  vegaRenderer: 'lance-catalog.vega',
  plotlyRenderer: 'lance-catalog.plotly',
} as const;

/** The `type` of debug configurations for notebooks. */
export const debuggerType = 'lance-catalog-notebook';

/** The `type` of backfills in tasks.json. */
export const backfillTaskType = 'lance-catalog-backfill';
