import * as vscode from 'vscode';
import { registerCommand } from '../host/commands.ts';
import { logFailure, type Log } from '../host/log.ts';
import type { CheckCommandParts } from './commands.ts';
import { newProfile } from './newProfile.ts';

/** The commands that make and change profiles. */
export function registerProfileCommands({ log, profiles }: CheckCommandParts): vscode.Disposable {
  return vscode.Disposable.from(
    registerCommand(log, 'lanceCatalog.cluster.newProfile', async () => {
      const profile = await newProfile(profiles);
      if (profile) offerToVerify(log, profile.name);
      return profile;
    }),
    registerCommand(log, 'lanceCatalog.cluster.editProfiles', async () => {
      // Where the profiles are: a team's are in the settings of the workspace.
      const isShared = Object.keys(profiles.writtenIn('workspace')).length > 0;
      const hasSome = Object.keys(profiles.written()).length > 0;
      await vscode.commands.executeCommand(
        isShared ? 'workbench.action.openWorkspaceSettingsFile' : 'workbench.action.openSettingsJson',
        // Who has some only looks for the place; a line is begun for who has none.
        { revealSetting: { key: 'lanceCatalog.cluster.profiles', edit: !hasSome } },
      );
    }),
  );
}

/** Says that a profile is kept, and how to see whether the cluster is as it has to be. Nobody waits for the answer. */
function offerToVerify(log: Log, profile: string): void {
  const verify = 'Verify Now';
  void vscode.window
    .showInformationMessage(`The cluster profile "${profile}" is kept in the settings.`, verify)
    .then((choice) => choice === verify && vscode.commands.executeCommand('lanceCatalog.cluster.verify', { profile }))
    .then(undefined, (error: unknown) => logFailure(log, 'verifying a new profile', error));
}
