import * as vscode from 'vscode';
import type { SettingId, SettingTypes } from '../manifest.ts';

/** The only reader of settings. Their defaults are in package.json; a value of the wrong shape is the caller's to check. */
export const setting = <K extends SettingId>(id: K): SettingTypes[K] | undefined =>
  vscode.workspace.getConfiguration().get<SettingTypes[K]>(id);

export const onDidChangeSetting = (id: SettingId, listener: () => void): vscode.Disposable =>
  vscode.workspace.onDidChangeConfiguration((event) => {
    if (event.affectsConfiguration(id)) listener();
  });

/** Whose settings: those of the opened workspace, which a team shares, or the person's own. */
export type SettingPlace = 'workspace' | 'person';

/** What one of the files says alone: what `setting` gives is both together. */
export function settingIn<K extends SettingId>(id: K, place: SettingPlace): SettingTypes[K] | undefined {
  const inspected = vscode.workspace.getConfiguration().inspect<SettingTypes[K]>(id);
  return place === 'workspace' ? inspected?.workspaceValue : inspected?.globalValue;
}

export async function writeSetting<K extends SettingId>(
  id: K,
  value: SettingTypes[K],
  place: SettingPlace,
): Promise<void> {
  const { Global, Workspace } = vscode.ConfigurationTarget;
  await vscode.workspace.getConfiguration().update(id, value, place === 'workspace' ? Workspace : Global);
}
