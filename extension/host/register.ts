import * as vscode from 'vscode';
import { registerCommand } from './commands.ts';
import { Engine } from './engine.ts';
import { createLog, logFailure, type Log } from './log.ts';
import { Secrets } from './secrets.ts';
import { State } from './state.ts';

/** What every folder of the extension builds upon. */
export type HostServices = {
  readonly extensionUri: vscode.Uri;
  readonly log: Log;
  /** Writes into the log what failed and is shown to nobody. */
  readonly report: (what: string, error: unknown) => void;
  readonly state: State;
  readonly secrets: Secrets;
  readonly engine: Engine;
  /** The path of a file that was built. */
  readonly dist: (name: string) => string;
};

/** The log, what is kept between windows, and the engine process, which starts when it is first needed. */
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
    engine: new Engine(dist('engine.cjs'), log),
    dist,
  };
}

/** The end of these services, and the command that starts the engine again. */
export const registerHost = ({ log, secrets, engine }: HostServices): vscode.Disposable =>
  vscode.Disposable.from(
    log,
    secrets,
    engine,
    registerCommand(log, 'lanceCatalog.engine.restart', () => engine.restart()),
  );
