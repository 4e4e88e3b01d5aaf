import * as vscode from 'vscode';

export const jupyterId = 'ms-toolsai.jupyter';

/** Whether the Jupyter extension is installed. That extension offers every kernel that Jupyter finds. */
export const hasJupyter = (): boolean => vscode.extensions.getExtension(jupyterId) !== undefined;
