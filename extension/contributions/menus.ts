import type { CommandId } from '../manifest.ts';
import {
  all,
  any,
  contextKey,
  grouped,
  hasOurKernel,
  inView,
  isBoundSql,
  isCodeCell,
  isFixDocument,
  isJobFile,
  isNotebook,
  isOurKernel,
  isSql,
  isSqlIdle,
  isSqlRunning,
  isTablePanel,
  isTrusted,
  item,
  itemIs,
  mayBeOurKernel,
  not,
  viewHasFocus,
} from './whenClauses.ts';

type MenuItem = { readonly command: CommandId; readonly when: string; readonly group: string };

/** Menu items by VS Code's id of the menu. The items of the command palette are generated from `commands`. */
export const menus: Readonly<Record<string, readonly MenuItem[]>> = {
  'view/title': [
    { command: 'lanceCatalog.connection.add', when: inView('catalog'), group: 'navigation@1' },
    { command: 'lanceCatalog.connection.addRest', when: inView('catalog'), group: 'navigation@2' },
    { command: 'lanceCatalog.catalog.refreshAll', when: inView('catalog'), group: 'navigation@3' },
    { command: 'lanceCatalog.notebook.new', when: inView('catalog'), group: '1_notebook@1' },
    { command: 'lanceCatalog.sql.history', when: inView('catalog'), group: '1_notebook@2' },
    {
      command: 'lanceCatalog.cluster.verify',
      when: all(inView('catalog'), not(contextKey('lanceCatalog.cluster.isShown'))),
      group: '3_cluster@1',
    },
    { command: 'lanceCatalog.engine.restart', when: inView('catalog'), group: '2_engine@1' },
    { command: 'lanceCatalog.log.show', when: inView('catalog'), group: '2_engine@2' },
    {
      command: 'lanceCatalog.cluster.verify',
      when: all(inView('checks'), not(contextKey('lanceCatalog.cluster.isRunning'))),
      group: 'navigation@1',
    },
    {
      command: 'lanceCatalog.cluster.stop',
      when: all(inView('checks'), contextKey('lanceCatalog.cluster.isRunning')),
      group: 'navigation@1',
    },
    {
      command: 'lanceCatalog.cluster.rerunFailed',
      when: all(
        inView('checks'),
        contextKey('lanceCatalog.cluster.hasReport'),
        not(contextKey('lanceCatalog.cluster.isRunning')),
      ),
      group: 'navigation@2',
    },
    {
      command: 'lanceCatalog.cluster.showProblems',
      when: all(
        inView('checks'),
        contextKey('lanceCatalog.cluster.hasReport'),
        not(contextKey('lanceCatalog.cluster.onlyProblems')),
      ),
      group: 'navigation@3',
    },
    {
      command: 'lanceCatalog.cluster.showAll',
      when: all(
        inView('checks'),
        contextKey('lanceCatalog.cluster.hasReport'),
        contextKey('lanceCatalog.cluster.onlyProblems'),
      ),
      group: 'navigation@3',
    },
    {
      command: 'lanceCatalog.cluster.showReport',
      when: all(inView('checks'), contextKey('lanceCatalog.cluster.hasReport')),
      group: 'navigation@4',
    },
    { command: 'lanceCatalog.cluster.chooseProfile', when: inView('checks'), group: '1_profile@1' },
    { command: 'lanceCatalog.cluster.newProfile', when: inView('checks'), group: '1_profile@2' },
    { command: 'lanceCatalog.cluster.editProfiles', when: inView('checks'), group: '1_profile@3' },
    {
      command: 'lanceCatalog.cluster.verifyWithProbe',
      when: all(inView('checks'), not(contextKey('lanceCatalog.cluster.isRunning'))),
      group: '2_run@1',
    },
    {
      command: 'lanceCatalog.cluster.saveReport',
      when: all(inView('checks'), contextKey('lanceCatalog.cluster.hasReport')),
      group: '3_report@1',
    },
    { command: 'lanceCatalog.cluster.openDocs', when: inView('checks'), group: '4_docs@1' },
    { command: 'lanceCatalog.backfill.column', when: all(inView('jobs'), isTrusted), group: 'navigation@1' },
    {
      command: 'lanceCatalog.jobs.removeEnded',
      when: all(inView('jobs'), contextKey('lanceCatalog.jobs.hasEnded')),
      group: 'navigation@2',
    },
    { command: 'lanceCatalog.ray.connect', when: all(inView('jobs'), isTrusted), group: '2_ray@1' },
    { command: 'lanceCatalog.backfill.fromFile', when: all(inView('jobs'), isTrusted), group: '1_new@1' },
    { command: 'lanceCatalog.ray.createCluster', when: all(inView('jobs'), isTrusted), group: '2_ray@2' },
    { command: 'lanceCatalog.ray.openDashboard', when: all(inView('jobs'), isTrusted), group: '2_ray@3' },
    { command: 'lanceCatalog.ray.forget', when: all(inView('jobs'), isTrusted), group: '2_ray@4' },
  ],
  'view/item/context': [
    { command: 'lanceCatalog.table.preview', when: all(inView('catalog'), item(/^table\b/)), group: 'inline@1' },
    { command: 'lanceCatalog.table.newNotebook', when: all(inView('catalog'), item(/^table\b/)), group: 'inline@2' },
    {
      command: 'lanceCatalog.catalog.refresh',
      when: all(inView('catalog'), item(/^(connection|namespace)/)),
      group: 'inline@1',
    },
    {
      command: 'lanceCatalog.engine.restart',
      when: all(inView('catalog'), itemIs('error.restart')),
      group: 'inline@1',
    },
    { command: 'lanceCatalog.catalog.repair', when: all(inView('catalog'), itemIs('damage')), group: 'inline@1' },
    { command: 'lanceCatalog.catalog.refresh', when: all(inView('catalog'), itemIs('error.retry')), group: 'inline@1' },
    { command: 'lanceCatalog.table.preview', when: all(inView('catalog'), item(/^table\b/)), group: '1_open@1' },
    { command: 'lanceCatalog.table.newNotebook', when: all(inView('catalog'), item(/^table\b/)), group: '1_open@2' },
    {
      command: 'lanceCatalog.notebook.new',
      when: all(inView('catalog'), item(/^(connection\.(dir|rest)|namespace)\b/)),
      group: '1_open@2',
    },
    {
      command: 'lanceCatalog.sql.newQuery',
      when: all(inView('catalog'), item(/^(connection\.(dir|rest)|namespace|table)\b/)),
      group: '1_open@3',
    },
    { command: 'lanceCatalog.table.export', when: all(inView('catalog'), item(/^table\b/)), group: '4_export@1' },
    {
      command: 'lanceCatalog.catalog.copyIdentifier',
      when: all(inView('catalog'), item(/^(namespace|table|column)\b/)),
      group: '5_copy@1',
    },
    {
      command: 'lanceCatalog.catalog.copyPath',
      when: all(inView('catalog'), item(/^(namespace|table)\b/)),
      group: '5_copy@2',
    },
    {
      command: 'lanceCatalog.catalog.refresh',
      when: all(inView('catalog'), item(/^(connection|namespace|table)/)),
      group: '7_refresh@1',
    },
    {
      command: 'lanceCatalog.connection.copyLocation',
      when: all(inView('catalog'), item(/^connection\.(dir|rest)\b/)),
      group: '5_copy@1',
    },
    {
      command: 'lanceCatalog.connection.openSettings',
      when: all(inView('catalog'), item(/^connection\.\w+\.setting\b/)),
      group: '8_connection@3',
    },
    {
      command: 'lanceCatalog.connection.remove',
      when: all(inView('catalog'), item(/^connection\.\w+\.person\b/)),
      group: '9_remove@1',
    },
    { command: 'lanceCatalog.log.show', when: all(inView('catalog'), item(/^error/)), group: '9_log@1' },
    {
      command: 'lanceCatalog.connection.updateKey',
      when: all(inView('catalog'), itemIs('error.key')),
      group: 'inline@1',
    },
    {
      command: 'lanceCatalog.namespace.create',
      when: all(inView('catalog'), item(/^(connection|namespace)\b.*\.createNamespace\b/)),
      group: '3_new@1',
    },
    {
      command: 'lanceCatalog.table.create',
      when: all(inView('catalog'), item(/^(connection|namespace)\b.*\.createTable\b/)),
      group: '3_new@2',
    },
    {
      command: 'lanceCatalog.catalog.repair',
      when: all(inView('catalog'), item(/^connection\.dir\b/)),
      group: '8_connection@1',
    },
    {
      command: 'lanceCatalog.connection.edit',
      when: all(inView('catalog'), item(/^connection\.rest\.person\b/)),
      group: '8_connection@1',
    },
    {
      command: 'lanceCatalog.connection.updateKey',
      when: all(inView('catalog'), item(/^connection\.rest\b/)),
      group: '8_connection@2',
    },
    {
      command: 'lanceCatalog.table.rename',
      when: all(inView('catalog'), item(/^table\b.*\.renameTable\b/)),
      group: '9_change@1',
    },
    {
      command: 'lanceCatalog.table.optimize',
      when: all(inView('catalog'), item(/^table\b.*\.optimizeTable\b/)),
      group: '8_optimize@1',
    },
    {
      command: 'lanceCatalog.table.drop',
      when: all(inView('catalog'), item(/^table\b.*\.dropTable\b/)),
      group: '9_change@2',
    },
    {
      command: 'lanceCatalog.namespace.drop',
      when: all(inView('catalog'), item(/^namespace\b.*\.dropNamespace\b/)),
      group: '9_change@1',
    },
    {
      command: 'lanceCatalog.cluster.copyMend',
      when: all(inView('checks'), item(/^check\b.*\.(command|advice)\b/)),
      group: 'inline@1',
    },
    {
      command: 'lanceCatalog.cluster.showMend',
      when: all(inView('checks'), item(/^check\b.*\.command\b/)),
      group: 'inline@2',
    },
    {
      command: 'lanceCatalog.cluster.rerun',
      when: all(inView('checks'), item(/^(check|category)\b/), not(contextKey('lanceCatalog.cluster.isRunning'))),
      group: 'inline@3',
    },
    {
      command: 'lanceCatalog.cluster.showEvidence',
      when: all(inView('checks'), item(/^check\.(pass|warn|fail|skipped|blocked)\b/)),
      group: '1_show@1',
    },
    { command: 'lanceCatalog.cluster.openDocs', when: all(inView('checks'), item(/^check\b/)), group: '1_show@2' },
    {
      command: 'lanceCatalog.cluster.copyMend',
      when: all(inView('checks'), item(/^check\b.*\.(command|advice)\b/)),
      group: '2_mend@1',
    },
    {
      command: 'lanceCatalog.cluster.showMend',
      when: all(inView('checks'), item(/^check\b.*\.command\b/)),
      group: '2_mend@2',
    },
    {
      command: 'lanceCatalog.cluster.applyMend',
      when: all(inView('checks'), item(/^check\b.*\.objects\b/)),
      group: '2_mend@3',
    },
    {
      command: 'lanceCatalog.cluster.rerun',
      when: all(inView('checks'), item(/^(check|category)\b/), not(contextKey('lanceCatalog.cluster.isRunning'))),
      group: '3_run@1',
    },
    {
      command: 'lanceCatalog.backfill.column',
      when: all(inView('catalog'), item(/^(table|column)\b/), isTrusted),
      group: '3_backfill@1',
    },
    { command: 'lanceCatalog.jobs.cancel', when: all(inView('jobs'), item(/^job\b.*\.cancel\b/)), group: 'inline@1' },
    { command: 'lanceCatalog.jobs.resume', when: all(inView('jobs'), item(/^job\b.*\.resume\b/)), group: 'inline@1' },
    { command: 'lanceCatalog.jobs.remove', when: all(inView('jobs'), item(/^job\b.*\.remove\b/)), group: 'inline@2' },
    { command: 'lanceCatalog.jobs.open', when: all(inView('jobs'), item(/^job\b/)), group: '1_open@1' },
    { command: 'lanceCatalog.jobs.openTable', when: all(inView('jobs'), item(/^job\b/)), group: '1_open@2' },
    { command: 'lanceCatalog.jobs.cancel', when: all(inView('jobs'), item(/^job\b.*\.cancel\b/)), group: '2_run@1' },
    { command: 'lanceCatalog.jobs.resume', when: all(inView('jobs'), item(/^job\b.*\.resume\b/)), group: '2_run@1' },
    { command: 'lanceCatalog.jobs.retry', when: all(inView('jobs'), item(/^job\b.*\.retry\b/)), group: '2_run@2' },
    { command: 'lanceCatalog.jobs.copyCode', when: all(inView('jobs'), item(/^job\b/)), group: '3_copy@1' },
    { command: 'lanceCatalog.jobs.remove', when: all(inView('jobs'), item(/^job\b.*\.remove\b/)), group: '4_remove@1' },
  ],
  'editor/title': [
    {
      command: 'lanceCatalog.table.keepOpen',
      when: all(isTablePanel, contextKey('lanceCatalog.table.unpinned')),
      group: 'navigation@1',
    },
    { command: 'lanceCatalog.table.goToRow', when: isTablePanel, group: '1_table@1' },
    { command: 'lanceCatalog.table.chooseVersion', when: isTablePanel, group: '1_table@2' },
    { command: 'lanceCatalog.table.showView', when: isTablePanel, group: '1_view@1' },
    { command: 'lanceCatalog.table.saveView', when: isTablePanel, group: '1_view@2' },
    { command: 'lanceCatalog.table.compare', when: isTablePanel, group: '1_table@3' },
    { command: 'lanceCatalog.table.saveViewFile', when: isTablePanel, group: '1_view@3' },
    { command: 'lanceCatalog.table.copyCode', when: isTablePanel, group: '2_code@1' },
    { command: 'lanceCatalog.table.insertCell', when: isTablePanel, group: '2_code@2' },
    { command: 'lanceCatalog.table.exportRows', when: isTablePanel, group: '3_export@1' },
    { command: 'lanceCatalog.table.exportSelectedRows', when: isTablePanel, group: '3_export@2' },
    { command: 'lanceCatalog.cluster.applyMend', when: isFixDocument, group: 'navigation@1' },
    { command: 'lanceCatalog.jobFile.run', when: all(isTrusted, isJobFile), group: 'navigation@1' },
    {
      command: 'lanceCatalog.sql.run',
      when: all(isTrusted, isSql, isBoundSql, isSqlIdle),
      group: 'navigation@1',
    },
    { command: 'lanceCatalog.sql.cancel', when: all(isSql, isBoundSql, isSqlRunning), group: 'navigation@1' },
    { command: 'lanceCatalog.sql.runAll', when: all(isTrusted, isSql, isBoundSql), group: '1_sql@1' },
    { command: 'lanceCatalog.sql.explain', when: all(isTrusted, isSql, isBoundSql), group: '1_sql@2' },
    { command: 'lanceCatalog.sql.chooseConnection', when: all(isSql, isBoundSql), group: '1_sql@3' },
    { command: 'lanceCatalog.sql.history', when: all(isSql, isBoundSql), group: '1_sql@4' },
  ],
  'editor/context': [
    { command: 'lanceCatalog.sql.run', when: all(isTrusted, isSql, isBoundSql), group: '1_sql@1' },
    {
      command: 'lanceCatalog.sql.runSelection',
      when: all(isTrusted, isSql, isBoundSql, 'editorHasSelection'),
      group: '1_sql@2',
    },
    { command: 'lanceCatalog.sql.explain', when: all(isTrusted, isSql, isBoundSql), group: '1_sql@3' },
  ],
  'notebook/toolbar': [
    {
      command: 'lanceCatalog.notebook.chooseCatalog',
      when: any(isOurKernel, hasOurKernel),
      group: 'navigation/execute@4',
    },
    {
      command: 'lanceCatalog.notebook.restartKernel',
      when: any(all(isOurKernel, isTrusted), hasOurKernel),
      group: 'navigation/execute@5',
    },
    {
      command: 'lanceCatalog.jupyter.preview',
      when: all(isNotebook, contextKey('lanceCatalog.jupyter.available')),
      group: 'navigation/execute@9',
    },
  ],
  'notebook/cell/execute': [
    {
      command: 'lanceCatalog.notebook.debugCell',
      when: all(grouped(mayBeOurKernel), isCodeCell, isTrusted),
      group: 'lanceCatalog@1',
    },
  ],
  'explorer/context': [
    { command: 'lanceCatalog.backfill.fromFile', when: all(isTrusted, isJobFile), group: 'navigation@90' },
  ],
};

type KeyBinding = {
  /** A command of this extension or of VS Code. */
  readonly command: CommandId | 'notebook.cell.execute';
  readonly key: string;
  readonly mac?: string;
  readonly when: string;
};

export const keybindings: readonly KeyBinding[] = [
  {
    command: 'lanceCatalog.catalog.copyIdentifier',
    key: 'ctrl+c',
    mac: 'cmd+c',
    when: all(viewHasFocus('catalog'), not('inputFocus')),
  },
  { command: 'lanceCatalog.catalog.refreshAll', key: 'f5', when: all(viewHasFocus('catalog'), not('inputFocus')) },
  { command: 'lanceCatalog.table.rename', key: 'f2', when: all(viewHasFocus('catalog'), not('inputFocus')) },
  { command: 'lanceCatalog.table.goToRow', key: 'ctrl+g', when: all(isTablePanel, not('inputFocus')) },
  {
    command: 'lanceCatalog.sql.run',
    key: 'ctrl+enter',
    mac: 'cmd+enter',
    when: all('editorTextFocus', isTrusted, isSql, isBoundSql),
  },
  {
    command: 'notebook.cell.execute',
    key: 'ctrl+enter',
    mac: 'cmd+enter',
    when: all(grouped(mayBeOurKernel), 'notebookCellListFocused', isCodeCell, '!inlineChatFocused'),
  },
];
