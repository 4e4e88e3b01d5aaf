import { CatalogError } from '#shared/errors.ts';
import type { KernelOutput, VariableInfo } from '#shared/kernelMessages.ts';
import { withProgress } from '../host/ask.ts';
import { fieldsOf } from '../host/shape.ts';
import type { TablePanels } from '../panels/tablePanel.ts';
import { previewCode } from './kernelCode.ts';
import { readKernelTable, type KernelCodeOutput } from './kernelTable.ts';
import { cellLanguage } from './notebookKernel.ts';
import { bundleItems, errorOutput } from './outputItems.ts';
import type { NotebookSession } from './session.ts';

/**
 * Shows a table that a notebook's variable holds in the panel for tables.
 * @throws CatalogError InvalidInput (13) for what is no table, ServiceUnavailable (17) without a kernel
 */
export async function openVariable(
  session: NotebookSession | undefined,
  given: VariableInfo | undefined,
  panels: TablePanels,
): Promise<void> {
  const name: unknown = fieldsOf(given)['name'];
  if (typeof name !== 'string') {
    throw new CatalogError('InvalidInput', 'No variable was chosen.', 'Click a table in the Variables view.');
  }
  const kernel = await session?.kernel;
  if (!session || !kernel) {
    throw new CatalogError('ServiceUnavailable', 'The kernel of this notebook does not run.', 'Run a cell first.');
  }
  const code = previewCode(cellLanguage(session.notebook.metadata), name);
  const source = await withProgress(`Reading ${name}`, async (signal) => {
    const outputs: KernelOutput[] = [];
    // Not the person's code: it is not counted, and belongs to no cell.
    const options = { signal, storeHistory: false };
    await kernel.execute(code, (output) => outputs.push(output), options);
    return readKernelTable(name, codeOutputs(outputs));
  });
  await panels.preview(source);
}

async function* codeOutputs(outputs: readonly KernelOutput[]): AsyncGenerator<KernelCodeOutput> {
  for (const output of outputs) {
    if (output.type === 'display_data')
      yield { items: bundleItems(output.content.data), metadata: output.content.metadata };
    if (output.type === 'error') yield { items: errorOutput(output.content).items };
  }
}
