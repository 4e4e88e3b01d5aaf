import * as vscode from 'vscode';
import type { SettingId, SettingTypes } from '../manifest.ts';

/** The only reader of settings. Their defaults are in package.json; a value of the wrong shape is the caller's to check. */
export const setting = <K extends SettingId>(id: K): SettingTypes[K] | undefined =>
  vscode.workspace.getConfiguration().get<SettingTypes[K]>(id);

export const onDidChangeSetting = (id: SettingId, listener: () => void): vscode.Disposable =>
  vscode.workspace.onDidChangeConfiguration((event) => {
    if (event.affectsConfiguration(id)) listener();
  });
