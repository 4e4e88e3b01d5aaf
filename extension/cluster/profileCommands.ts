import * as vscode from 'vscode';
import { registerCommand } from '../host/commands.ts';
import { logFailure, type Log } from '../host/log.ts';
import { showInformation } from '../host/messages.ts';
import type { CheckCommandDeps } from './commands.ts';
import { newProfile } from './newProfile.ts';

export function registerProfileCommands({ log, profiles }: CheckCommandDeps): vscode.Disposable {
  return vscode.Disposable.from(
    registerCommand(log, 'lanceCatalog.cluster.newProfile', async () => {
      const profile = await newProfile(profiles);
      if (profile) offerToVerify(log, profile.name);
      return profile;
    }),
    registerCommand(log, 'lanceCatalog.cluster.editProfiles', async () => {
      // Open the settings file that has the profiles. A team keeps its profiles in the workspace settings.
      const isShared = Object.keys(profiles.writtenIn('workspace')).length > 0;
      const hasSome = Object.keys(profiles.written()).length > 0;
      await vscode.commands.executeCommand(
        isShared ? 'workbench.action.openWorkspaceSettingsFile' : 'workbench.action.openSettingsJson',
        // Reveal existing profiles. If there are none, add an entry for the user to edit.
        { revealSetting: { key: 'lanceCatalog.cluster.profiles', edit: !hasSome } },
      );
    }),
  );
}

/** Reports the saved profile and offers to verify the cluster. Callers don't wait for the answer of the user. */
function offerToVerify(log: Log, profile: string): void {
  const verify = 'Verify Now';
  void showInformation(`Saved the cluster profile "${profile}" in the settings.`, verify)
    .then((choice) => choice === verify && vscode.commands.executeCommand('lanceCatalog.cluster.verify', { profile }))
    .then(undefined, (error: unknown) => logFailure(log, 'verifying a new profile', error));
}
