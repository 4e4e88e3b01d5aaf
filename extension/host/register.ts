import * as vscode from 'vscode';
import { registerCommand } from './commands.ts';
import { Engine } from './engine.ts';
import { createLog, logFailure, type Log } from './log.ts';
import { Secrets } from './secrets.ts';
import { State } from './state.ts';
import { ViewsHost } from './viewsHost.ts';

export type HostServices = {
  readonly extensionUri: vscode.Uri;
  readonly log: Log;
  /** Logs a failure that is not shown to the user. */
  readonly report: (what: string, error: unknown) => void;
  readonly state: State;
  readonly secrets: Secrets;
  readonly engine: Engine;
  readonly views: ViewsHost;
  readonly dist: (name: string) => string;
};

/** Creates the log, the stored state, and the engine and the views process, which start on demand. */
export function hostServices(context: vscode.ExtensionContext): HostServices {
  const { extensionUri } = context;
  const dist = (name: string) => vscode.Uri.joinPath(extensionUri, 'dist', name).fsPath;
  const log = createLog();
  return {
    extensionUri,
    log,
    report: (what, error) => logFailure(log, what, error),
    state: new State(context),
    secrets: new Secrets(context),
    engine: new Engine({ entry: dist('engine.cjs'), storeFiles: dist('jobParts.cjs') }, log),
    views: new ViewsHost(dist('views.cjs'), log),
    dist,
  };
}

export const registerHost = ({ log, secrets, engine, views }: HostServices): vscode.Disposable =>
  vscode.Disposable.from(
    log,
    secrets,
    engine,
    views,
    registerCommand(log, 'lanceCatalog.engine.restart', () => engine.restart()),
  );
