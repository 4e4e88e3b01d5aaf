import * as vscode from 'vscode';
import type { Catalogs } from '../connections/catalogs.ts';
import type { Log } from '../host/log.ts';
import type { State } from '../host/state.ts';
import { CheckDocuments, checkScheme, registerCheckDocuments } from './checkDocuments.ts';
import { ChecksStatus } from './checksStatus.ts';
import { ChecksView } from './checksView.ts';
import { ClusterChecks } from './clusterChecks.ts';
import { ClusterProfiles } from './clusterProfiles.ts';
import { registerCheckCommands } from './commands.ts';
import { registerFixCommands } from './fixCommands.ts';
import { fixScheme, FixPreviewProvider } from './fixPreviews.ts';
import { catalogResolver } from './resolveCatalog.ts';
import { registerProfileCommands } from './profileCommands.ts';

type ClusterDeps = { log: Log; state: State; catalogs: Catalogs; extensionUri: vscode.Uri };

export type ClusterServices = ReturnType<typeof makeServices>;

export function registerCluster(parts: ClusterDeps): vscode.Disposable & ClusterServices {
  const { log } = parts;
  const services = makeServices(parts);
  const { checks, profiles, checksView, checksStatus, documents, previews } = services;
  const all = { ...services, log };
  const registered = vscode.Disposable.from(
    checksStatus,
    checksView,
    documents,
    previews,
    profiles,
    checks,
    checks.onDidChange(() => checks.isRunning || documents.refresh()),
    vscode.workspace.registerTextDocumentContentProvider(checkScheme, documents),
    vscode.workspace.registerTextDocumentContentProvider(fixScheme, previews),
    registerCheckCommands(all),
    registerCheckDocuments(all),
    registerFixCommands(all),
    registerProfileCommands(all),
  );
  return { ...services, dispose: () => void registered.dispose() };
}

function makeServices({ log, state, catalogs, extensionUri }: ClusterDeps) {
  const checks = new ClusterChecks({ log, state, resolveCatalog: catalogResolver(catalogs) });
  const profiles = new ClusterProfiles();
  return {
    checks,
    profiles,
    checksView: new ChecksView(checks, profiles),
    checksStatus: new ChecksStatus(checks),
    documents: new CheckDocuments((profile) => checks.reportOf(profile), extensionUri),
    previews: new FixPreviewProvider(),
  };
}
