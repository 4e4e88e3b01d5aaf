import * as vscode from 'vscode';
import { registerNotebookCommands, type NotebookCommandParts } from './commands.ts';
import { NotebookKernels } from './controller.ts';
import { registerNotebookDebugger } from './debug.ts';
import { registerJupyter } from './jupyter.ts';
import { KeptKernels } from './keptKernels.ts';
import { holdKernels } from './heldKernels.ts';
import { kernelStarter, type KernelStarterParts } from './kernelStarter.ts';
import { registerCellLanguage, type CellLanguage, type CellLanguageParts } from './language.ts';
import { registerRestartMarks } from './restartMarks.ts';
import { VariablesView } from './variablesView.ts';

export type NotebookServices = { kernels: NotebookKernels; variables: VariablesView; language: CellLanguage };

type Parts = Omit<NotebookCommandParts & KernelStarterParts & CellLanguageParts, 'kernels' | 'variables' | 'kept'>;

/** Notebooks: their kernels, the view of variables, the language of cells, the debugger and commands. */
export function registerNotebooks(parts: Parts): vscode.Disposable & NotebookServices {
  const { log, state, connections } = parts;
  const kept = new KeptKernels(state);
  const kernels = new NotebookKernels({ log, startKernel: kernelStarter({ ...parts, kept }), kept });
  const variables = new VariablesView(kernels, log);
  const cells = registerCellLanguage({ ...parts, kernels });
  const registered = vscode.Disposable.from(
    kernels,
    holdKernels(kept),
    variables,
    connections.onDidChange(() => kernels.renew()),
    registerNotebookCommands({ ...parts, kernels, variables }),
    registerNotebookDebugger({ log, kernels }),
    registerRestartMarks(kernels),
    cells,
    registerJupyter(parts),
  );
  return { kernels, variables, language: cells.language, dispose: () => void registered.dispose() };
}
