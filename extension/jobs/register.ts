import * as vscode from 'vscode';
import { findNode } from '#processes/childProcess.ts';
import { profilesVariable } from '#cluster/profiles/settingPath.ts';
import type { Catalogs } from '../connections/catalogs.ts';
import { rootBase, type Connections } from '../connections/connections.ts';
import type { CatalogNode } from '../explorer/node.ts';
import { profilesForKernels } from '../cluster/profilesForKernels.ts';
import type { ClusterServices } from '../cluster/register.ts';
import { askStep, pickStep } from '../host/askStep.ts';
import { registerCommand } from '../host/commands.ts';
import type { Engine } from '../host/engine.ts';
import { logFailure, type Log } from '../host/log.ts';
import type { Secrets } from '../host/secrets.ts';
import { setting } from '../host/settings.ts';
import type { State } from '../host/state.ts';
import { backfillTaskType, panelTypes } from '../manifest.ts';
import type { TablePanels } from '../panels/tablePanels.ts';
import type { PanelCatalog } from '../panels/tableSource.ts';
import { Backfills } from './runBackfills.ts';
import { FunctionDocuments, functionScheme } from './backfill/functionDocuments.ts';
import { JobActions } from './jobActions.ts';
import { registerJobCommands } from './jobCommands.ts';
import { notifyFinishedJobs } from './jobNotices.ts';
import { BackfillTasks } from './backfill/backfillTasks.ts';
import { registerJobFileCommands } from './jobFile/commands.ts';
import { JobFileCompletion } from './jobFile/completion.ts';
import { JobFileDiagnostics } from './jobFile/diagnostics.ts';
import { JobFileLenses } from './jobFile/lenses.ts';
import { jobFileSelector } from './jobFile/jobFiles.ts';
import { confirmLaunch } from './launchGate.ts';
import { registerRayCommands } from './rayCommands.ts';
import { JobPages } from './jobPages.ts';
import { registerJobOutputs } from './jobOutputs.ts';
import { JobsHost, type JobsHostDeps } from './jobsHost.ts';
import { JobsView } from './jobsView.ts';
import type { PlanSessionDeps } from './backfill/planSession.ts';
import { RayConnections } from './rayAddresses.ts';
import { TableReferences } from './tableReferences.ts';

type JobsDeps = {
  readonly log: Log;
  readonly state: State;
  readonly secrets: Secrets;
  readonly connections: Connections;
  readonly catalogs: Catalogs;
  readonly engine: Engine;
  readonly panels: TablePanels;
  readonly view: vscode.TreeView<CatalogNode>;
  readonly cluster: ClusterServices;
  readonly catalogOf: (connection: string) => Promise<PanelCatalog>;
  readonly extensionUri: vscode.Uri;
  readonly dist: (name: string) => string;
};

type JobsServices = ReturnType<typeof makeServices>;

/** Registers backfills in VS Code: the jobs process, view, pages, notifications and commands. */
export function registerJobs(parts: JobsDeps): vscode.Disposable & JobsServices {
  const { log } = parts;
  const services = makeServices(parts);
  const { host, pages, actions, jobsView, functions } = services;
  const notices = {
    isSeen: (id: string) => pages.isSeen(id),
    show: (id: string) => void pages.show(id),
    act: actions.act.bind(actions),
  };
  const all = { ...parts, ...services, ask: askStep, pick: pickStep, profiles: parts.cluster.profiles };
  const registered = vscode.Disposable.from(
    jobsView,
    pages,
    host,
    host.onDidEnd((ended) => {
      notifyFinishedJobs(ended, notices).catch((error: unknown) =>
        logFailure(log, 'reporting the end of a job', error),
      );
    }),
    // The jobs process gets the profiles as an environment variable, so it must restart when the profiles change.
    parts.cluster.profiles.onDidChange(() => {
      host.restart().catch((error: unknown) => logFailure(log, 'starting the jobs process again', error));
    }),
    vscode.window.registerWebviewPanelSerializer(panelTypes.job, pages),
    vscode.workspace.registerTextDocumentContentProvider(functionScheme, functions),
    vscode.languages.registerCodeLensProvider({ scheme: functionScheme }, functions),
    registerCommand(log, 'lanceCatalog.function.accept', (uri) => functions.answer(uri, true)),
    registerCommand(log, 'lanceCatalog.function.decline', (uri) => functions.answer(uri, false)),
    registerJobCommands(all),
    registerJobOutputs(all),
    registerRayCommands(all),
    registerJobFileCommands(all),
    registerJobFiles(all),
    vscode.tasks.registerTaskProvider(backfillTaskType, new BackfillTasks(all)),
  );
  host.wake();
  return { ...services, dispose: () => void registered.dispose() };
}

function registerJobFiles(
  parts: JobsDeps & JobsServices & { profiles: ClusterServices['profiles'] },
): vscode.Disposable {
  const lenses = new JobFileLenses();
  return vscode.Disposable.from(
    lenses,
    new JobFileDiagnostics(parts, parts.connections.onDidChange),
    vscode.languages.registerCodeLensProvider(jobFileSelector, lenses),
    vscode.languages.registerCompletionItemProvider(jobFileSelector, new JobFileCompletion(parts), '"', '/'),
  );
}

function makeServices(parts: JobsDeps) {
  const { log, state, secrets, connections, catalogs, engine, panels, catalogOf, extensionUri } = parts;
  const functions = new FunctionDocuments();
  const host = new JobsHost(hostParts(parts));
  const rays = new RayConnections(state, secrets);
  const references = new TableReferences({ connections, catalogs, rays });
  const actions = new JobActions({ host, references, panels, engine, catalogOf });
  const pages = new JobPages({ extensionUri, log, host, act: actions.act.bind(actions) });
  const backfills = new Backfills({
    host,
    askConsent: (...question) => functions.askConsent(...question),
    mayLaunchOn: (place, signal) => confirmLaunch(parts.cluster, place, signal),
  });
  const session: PlanSessionDeps = {
    log,
    backfills,
    showTrial: async (plan, trial) => {
      // Import this module only for the first trial, because it loads Arrow, which is large.
      const { trialSource } = await import('./backfill/trialTable.ts');
      await panels.preview(trialSource(plan, trial));
    },
    readSample: async (plan, trial) => {
      const { sampleOf } = await import('./backfill/trialTable.ts');
      return sampleOf(plan.column, trial);
    },
  };
  return {
    host,
    rays,
    references,
    actions,
    pages,
    backfills,
    functions,
    session,
    checkRay,
    jobsView: new JobsView({ host, log, state }),
  };
}

function hostParts({ log, connections, cluster, dist }: JobsDeps): JobsHostDeps {
  return {
    log,
    mayHaveRunningJobs: async () => {
      const { mayHaveRunningJobs } = await import('#processes/jobsFolder.ts');
      return mayHaveRunningJobs();
    },
    startProcess: async (onChanged, signal) => {
      const nodePath = setting('lanceCatalog.nodePath');
      const node = await findNode({ ...(nodePath && { nodePath }), signal });
      const { JobsProcess } = await import('#processes/jobsProcess.ts');
      const clusters = profilesForKernels(cluster.profiles.written(), connections.list(), rootBase().folder);
      const env = { [profilesVariable]: clusters };
      return JobsProcess.start({ entry: dist('jobs.cjs'), node, env, onChanged, signal });
    },
  };
}

/** Checks that Ray answers and accepts the token. @throws ClusterError with the reason if the check fails */
async function checkRay(place: { address: string; token: string | undefined }, signal: AbortSignal): Promise<void> {
  const { RayJobs } = await import('#cluster/ray/rayJobs.ts');
  const jobs = new RayJobs(place);
  try {
    await jobs.version(signal);
  } finally {
    await jobs.close();
  }
}
