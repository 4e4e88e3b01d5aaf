import * as vscode from 'vscode';
import type { SettingId, SettingTypes } from '../manifest.ts';

/**
 * Reads a setting. Only this file reads settings of the extension. Defaults are in package.json, and callers check the
 * type of the value.
 */
export const setting = <K extends SettingId>(id: K): SettingTypes[K] | undefined =>
  vscode.workspace.getConfiguration().get<SettingTypes[K]>(id);

export const onDidChangeSetting = (id: SettingId, listener: () => void): vscode.Disposable =>
  vscode.workspace.onDidChangeConfiguration((event) => {
    if (event.affectsConfiguration(id)) listener();
  });

/** `workspace`: the settings of the opened workspace, which a team shares. `person`: the settings of the user. */
export type SettingPlace = 'workspace' | 'person';

/** Reads a setting from one settings file. `setting` merges the two files. */
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
