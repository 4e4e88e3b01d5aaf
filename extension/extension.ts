import * as vscode from 'vscode';
import { catalogServices, registerCatalog } from './explorer/register.ts';
import { registerCluster } from './cluster/register.ts';
import { hostServices, registerHost } from './host/register.ts';
import { registerJobs } from './jobs/register.ts';
import { registerNotebooks } from './notebook/register.ts';
import { registerPanels } from './panels/register.ts';
import { registerSql } from './sql/register.ts';
import { registerViewFiles } from './viewFiles/register.ts';

/** For tests. */
export type ExtensionApi = ReturnType<typeof start>;

/**
 * Creates the services and disposes them when the window closes.
 * @returns the services in tests, else `undefined`: other extensions can read the result, and the services include
 * secrets
 */
export function activate(context: vscode.ExtensionContext): ExtensionApi | undefined {
  const services = start(context);
  return context.extensionMode === vscode.ExtensionMode.Test ? services : undefined;
}

function start(context: vscode.ExtensionContext) {
  const host = hostServices(context);
  const services = { ...host, ...catalogServices(host) };
  const tables = registerPanels(services);
  const viewFiles = registerViewFiles({ ...services, panels: tables.panels });
  const cluster = registerCluster(services);
  const { panels } = tables;
  const { profiles } = cluster;
  const notebooks = registerNotebooks({ ...services, panels, profiles });
  const sql = registerSql({ ...services, panels });
  const jobs = registerJobs({ ...services, panels, cluster });
  context.subscriptions.push(
    registerHost(host),
    registerCatalog({ ...services, panels }),
    tables,
    viewFiles,
    notebooks,
    sql,
    cluster,
    jobs,
    // A backfill adds its column when it starts, and versions when it ends.
    jobs.host.onDidEnd(() => services.updates.changed()),
  );
  const { kernels, variables, language } = notebooks;
  return { ...services, panels, viewFiles, kernels, variables, language, sql, cluster, jobs };
}
