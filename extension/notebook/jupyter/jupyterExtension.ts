import * as vscode from 'vscode';

export const jupyterId = 'ms-toolsai.jupyter';

/** Whether the Jupyter extension is installed, which offers all kernels that Jupyter knows. */
export const hasJupyter = (): boolean => vscode.extensions.getExtension(jupyterId) !== undefined;
