import type { CommandId } from '../manifest.ts';
import {
  all,
  any,
  contextKey,
  grouped,
  hasOurKernel,
  isFixDocument,
  isFunctionDocument,
  isJobFile,
  isNotebook,
  isOurKernel,
  isSql,
  isSqlRunning,
  isTablePanel,
  isTrusted,
  mayBeOurKernel,
  never,
  not,
  selected,
} from './whenClauses.ts';

/** How a command is presented. */
export type CommandContribution = {
  /** Title Case, verb first; `…` if the command asks for input. */
  readonly title: string;
  /** A shorter title for toolbars. */
  readonly shortTitle?: string;
  /** A product icon. */
  readonly icon?: string;
  /** A `when` clause. While it is false, the command is disabled everywhere. */
  readonly enablement?: string;
  /** A `when` clause. While it is true, the palette lists the command (default: always). */
  readonly palette?: string;
};

/** The commands in the order in which package.json lists them. A command without a title does not compile. */
export const commands: Readonly<Record<CommandId, CommandContribution>> = {
  'lanceCatalog.connection.add': { title: 'Add Directory…', icon: 'add' },
  'lanceCatalog.connection.addRest': { title: 'Add REST Connection…', icon: 'plug' },
  'lanceCatalog.connection.edit': {
    title: 'Edit Connection…',
    icon: 'edit',
    palette: selected(/^connection\.rest\.person\b/),
  },
  'lanceCatalog.connection.updateKey': { title: 'Update API Key…', icon: 'key' },
  'lanceCatalog.connection.remove': { title: 'Remove Connection' },
  'lanceCatalog.connection.copyLocation': { title: 'Copy Path', icon: 'copy', palette: never },
  'lanceCatalog.connection.openSettings': { title: 'Open Connection Settings', icon: 'settings-gear', palette: never },
  'lanceCatalog.namespace.create': { title: 'New Namespace…', icon: 'new-folder' },
  'lanceCatalog.namespace.drop': {
    title: 'Drop Namespace…',
    icon: 'trash',
    palette: selected(/^namespace\b.*\.dropNamespace\b/),
  },
  'lanceCatalog.catalog.refresh': { title: 'Refresh', icon: 'refresh', palette: never },
  'lanceCatalog.catalog.refreshAll': { title: 'Refresh All', icon: 'refresh' },
  'lanceCatalog.catalog.repair': { title: 'Repair Catalog…', icon: 'tools' },
  'lanceCatalog.catalog.loadMore': { title: 'Load More', palette: never },
  'lanceCatalog.catalog.copyIdentifier': { title: 'Copy Identifier', icon: 'copy', palette: never },
  'lanceCatalog.catalog.copyPath': { title: 'Copy Path as JSON', palette: never },
  'lanceCatalog.table.create': { title: 'New Table…' },
  'lanceCatalog.table.rename': { title: 'Rename Table…', palette: selected(/^table\b.*\.renameTable\b/) },
  'lanceCatalog.table.optimize': { title: 'Optimize Table…', palette: selected(/^table\b.*\.optimizeTable\b/) },
  'lanceCatalog.table.export': { title: 'Export Table…', icon: 'export', palette: selected(/^table\b/) },
  'lanceCatalog.table.drop': {
    title: 'Drop Table…',
    icon: 'trash',
    palette: selected(/^table\b.*\.dropTable\b/),
  },
  'lanceCatalog.table.preview': { title: 'Preview Table', icon: 'open-preview', palette: never },
  'lanceCatalog.table.keepOpen': {
    title: 'Keep Table Open',
    icon: 'pin',
    palette: contextKey('lanceCatalog.table.unpinned'),
  },
  'lanceCatalog.table.exportRows': { title: 'Export Rows…', palette: isTablePanel },
  'lanceCatalog.table.exportSelectedRows': { title: 'Export Selected Rows…', palette: isTablePanel },
  'lanceCatalog.table.goToRow': { title: 'Go to Row…', palette: isTablePanel },
  'lanceCatalog.table.chooseVersion': { title: 'Show Another Version…', icon: 'history', palette: isTablePanel },
  'lanceCatalog.table.showView': { title: 'Show Saved View…', icon: 'list-filter', palette: isTablePanel },
  'lanceCatalog.table.saveView': { title: 'Save View…', icon: 'save', palette: isTablePanel },
  'lanceCatalog.table.compare': { title: 'Compare With…', icon: 'diff', palette: isTablePanel },
  'lanceCatalog.table.saveViewFile': { title: 'Save View as File…', icon: 'file-add', palette: isTablePanel },
  'lanceCatalog.table.copyCode': { title: 'Copy as Code…', icon: 'copy', palette: isTablePanel },
  'lanceCatalog.table.insertCell': { title: 'Insert as Notebook Cell', icon: 'notebook', palette: isTablePanel },
  'lanceCatalog.table.newNotebook': { title: 'New Notebook for This Table', icon: 'notebook', palette: never },
  'lanceCatalog.sql.run': { title: 'Run SQL', shortTitle: 'Run', icon: 'play', palette: all(isTrusted, isSql) },
  'lanceCatalog.sql.runAll': {
    title: 'Run All SQL in File',
    shortTitle: 'Run All',
    icon: 'run-all',
    palette: all(isTrusted, isSql),
  },
  'lanceCatalog.sql.runSelection': {
    title: 'Run Selected SQL',
    shortTitle: 'Run Selection',
    palette: all(isTrusted, isSql, 'editorHasSelection'),
  },
  'lanceCatalog.sql.explain': { title: 'Explain SQL', shortTitle: 'Explain', palette: all(isTrusted, isSql) },
  'lanceCatalog.sql.cancel': {
    title: 'Cancel SQL',
    shortTitle: 'Cancel',
    icon: 'debug-stop',
    palette: isSqlRunning,
  },
  'lanceCatalog.sql.chooseConnection': {
    title: 'Choose Connection for This SQL File',
    shortTitle: 'Choose Connection',
    icon: 'database',
    palette: isSql,
  },
  'lanceCatalog.sql.newQuery': { title: 'New SQL Query', icon: 'new-file' },
  'lanceCatalog.sql.history': { title: 'SQL History', icon: 'history' },
  'lanceCatalog.engine.restart': { title: 'Restart Lance Engine', icon: 'refresh' },
  'lanceCatalog.log.show': { title: 'Show Log' },
  'lanceCatalog.notebook.new': { title: 'New TypeScript Notebook', icon: 'new-file' },
  'lanceCatalog.notebook.chooseCatalog': {
    title: 'Choose Catalog for This Notebook',
    shortTitle: 'Choose Catalog',
    icon: 'database',
    palette: isNotebook,
  },
  'lanceCatalog.notebook.restartKernel': {
    title: 'Restart Kernel',
    icon: 'sync',
    palette: any(all(isOurKernel, isTrusted), hasOurKernel),
  },
  'lanceCatalog.notebook.openVariable': { title: 'Show Table', icon: 'table', palette: never },
  'lanceCatalog.notebook.debugCell': {
    title: 'Debug Cell',
    icon: 'debug-alt-small',
    palette: all(grouped(mayBeOurKernel), isTrusted),
  },
  'lanceCatalog.cluster.verify': { title: 'Verify Cluster Identity', icon: 'play', enablement: isTrusted },
  'lanceCatalog.cluster.verifyWithProbe': {
    title: 'Verify Cluster Identity with Write Probes…',
    enablement: isTrusted,
  },
  'lanceCatalog.cluster.rerun': { title: 'Run Check Again', icon: 'refresh', enablement: isTrusted, palette: never },
  'lanceCatalog.cluster.rerunFailed': {
    title: 'Run Failed Checks Again',
    icon: 'debug-rerun',
    enablement: isTrusted,
    palette: all(contextKey('lanceCatalog.cluster.hasReport'), not(contextKey('lanceCatalog.cluster.isRunning'))),
  },
  'lanceCatalog.cluster.stop': {
    title: 'Stop Verifying',
    icon: 'debug-stop',
    palette: contextKey('lanceCatalog.cluster.isRunning'),
  },
  'lanceCatalog.cluster.chooseProfile': { title: 'Choose Cluster Profile…', icon: 'server-environment' },
  'lanceCatalog.cluster.showProblems': {
    title: 'Show Only Problems',
    icon: 'filter',
    palette: all(contextKey('lanceCatalog.cluster.hasReport'), not(contextKey('lanceCatalog.cluster.onlyProblems'))),
  },
  'lanceCatalog.cluster.showAll': {
    title: 'Show All Checks',
    icon: 'filter-filled',
    palette: all(contextKey('lanceCatalog.cluster.hasReport'), contextKey('lanceCatalog.cluster.onlyProblems')),
  },
  'lanceCatalog.cluster.showEvidence': { title: 'Show Evidence', icon: 'search', palette: never },
  'lanceCatalog.cluster.copyMend': { title: 'Copy Fix Command', icon: 'copy', palette: never },
  'lanceCatalog.cluster.showMend': { title: 'Show Fix', icon: 'wrench', palette: never },
  'lanceCatalog.cluster.applyMend': { title: 'Apply to Cluster…', icon: 'check', palette: isFixDocument },
  'lanceCatalog.cluster.openDocs': { title: 'Open Check Documentation', icon: 'book' },
  'lanceCatalog.cluster.showReport': {
    title: 'Show Check Report',
    icon: 'open-preview',
    palette: contextKey('lanceCatalog.cluster.hasReport'),
  },
  'lanceCatalog.cluster.saveReport': {
    title: 'Save Report as JSON…',
    palette: contextKey('lanceCatalog.cluster.hasReport'),
  },
  'lanceCatalog.cluster.newProfile': { title: 'New Cluster Profile…', icon: 'add' },
  'lanceCatalog.cluster.editProfiles': { title: 'Edit Cluster Profiles' },
  'lanceCatalog.backfill.column': { title: 'Backfill Column…', icon: 'symbol-function', palette: isTrusted },
  'lanceCatalog.ray.connect': { title: 'Connect to Ray…', icon: 'plug', palette: isTrusted },
  'lanceCatalog.backfill.fromFile': { title: 'Launch Backfill from File…', icon: 'play', palette: isTrusted },
  'lanceCatalog.function.accept': { title: 'Accept Stored Function', icon: 'check', palette: isFunctionDocument },
  'lanceCatalog.function.decline': { title: 'Decline Stored Function', icon: 'close', palette: isFunctionDocument },
  'lanceCatalog.jobFile.check': { title: 'Check Job File', icon: 'check', palette: all(isTrusted, isJobFile) },
  'lanceCatalog.jobFile.plan': { title: 'Plan Job File', palette: all(isTrusted, isJobFile) },
  'lanceCatalog.jobFile.try': { title: 'Try Job File', palette: all(isTrusted, isJobFile) },
  'lanceCatalog.jobFile.run': { title: 'Run Job File', icon: 'play', palette: all(isTrusted, isJobFile) },
  'lanceCatalog.ray.createCluster': { title: 'Create KubeRay Cluster…', palette: isTrusted },
  'lanceCatalog.ray.openDashboard': { title: 'Open Ray Dashboard', palette: isTrusted },
  'lanceCatalog.ray.forget': { title: 'Remove Ray Connection…', palette: isTrusted },
  'lanceCatalog.python.setUp': { title: 'Set Up Python for Backfills…', palette: isTrusted },
  'lanceCatalog.python.remove': { title: 'Remove Python for Backfills…', palette: isTrusted },
  'lanceCatalog.jobs.show': { title: 'Show Jobs' },
  'lanceCatalog.jobs.open': { title: 'Show Job', icon: 'go-to-file', palette: never },
  'lanceCatalog.jobs.cancel': { title: 'Cancel Job', icon: 'debug-stop', palette: never },
  'lanceCatalog.jobs.resume': { title: 'Resume Job', icon: 'debug-continue', palette: never },
  'lanceCatalog.jobs.retry': { title: 'Retry Failed Rows', icon: 'debug-restart', palette: never },
  'lanceCatalog.jobs.openTable': { title: 'Open Job Table', icon: 'table', palette: never },
  'lanceCatalog.jobs.copyCode': { title: 'Copy Backfill as Code', icon: 'copy', palette: never },
  'lanceCatalog.jobs.remove': { title: 'Remove Job', icon: 'close', palette: never },
  'lanceCatalog.jobs.removeEnded': {
    title: 'Remove Finished Jobs',
    icon: 'clear-all',
    palette: contextKey('lanceCatalog.jobs.hasEnded'),
  },
  'lanceCatalog.jupyter.preview': {
    title: 'Preview Table from Running Kernel',
    icon: 'table',
    palette: all(isNotebook, contextKey('lanceCatalog.jupyter.available')),
  },
};

/** Writes a link to a command, in Markdown. */
export const link = (text: string, command: CommandId): string => `[${text}](command:${command})`;
/** Writes a link with the title of the command. VS Code shows a line that contains only a link as a button. */
export const button = (command: CommandId): string => link(commands[command].title, command);
