import * as vscode from 'vscode';
import type { KernelProcess } from '#processes/kernelProcess.ts';
import { readArrow } from '#shared/arrow/readArrow.ts';
import { CatalogError, messageOf } from '#shared/errors.ts';
import { displayPath } from '#shared/names.ts';
import { wholeTable } from '#shared/protocol/panelViews.ts';
import { arrowStreamMime, decodeArrowOutput } from '#shared/mime.ts';
import type { KernelView, OutputTable, ViewAnswer } from '#shared/protocol/outputTables.ts';
import type { OutputHostMethods } from '#shared/protocol/webviewMessages.ts';
import { asRecord } from '#shared/records.ts';
import { isCount, isString, nullable, shapeFor } from '#shared/shape.ts';
import { placeOfKernelTable } from '../connections/kernelTables.ts';
import type { Connections } from '../connections/connections.ts';
import { withProgress } from '../host/ask.ts';
import { runCommand } from '../host/commands.ts';
import { type Log, logFailure } from '../host/log.ts';
import type { TablePanels } from '../panels/tablePanels.ts';
import type { OutputPlace, TablePlace, TableSource } from '../panels/tableSource.ts';
import type { NotebookKernels } from './controller.ts';
import { type HeldRows, heldRowsSource, kernelRowsSource } from './outputSource.ts';

type OutputPanelsDeps = {
  readonly log: Log;
  readonly connections: Pick<Connections, 'list'>;
  readonly panels: Pick<TablePanels, 'preview' | 'previewPlace'>;
  readonly kernels: () => Pick<NotebookKernels, 'session' | 'onDidChange'>;
  /** Whether a kernel of a notebook waits since a reload of the window. */
  readonly isKept: (notebook: vscode.Uri) => boolean;
};

/** How long the kernel may take to find the table of an output. A cell that runs without a pause keeps it from replying. */
const waitMs = 30_000;

const isRequest = shapeFor<OutputHostMethods['openTable'][0]>({ table: nullable(isString), data: nullable(isString) });

/** Opens tables of notebooks in the panel: all rows of an output, and tables that cells show by `table.view()`. */
export class OutputPanels {
  readonly #deps: OutputPanelsDeps;

  constructor(deps: OutputPanelsDeps) {
    this.#deps = deps;
  }

  /** Opens the table of an output, because the user has clicked its button. A failure is shown as a notification. */
  async open(notebook: vscode.NotebookDocument, params: unknown): Promise<void> {
    await runCommand(this.#deps.log, 'opening the table of an output', async () => {
      if (!isRequest(params)) throw new CatalogError('InvalidInput', 'The output is not valid.', 'Run the cell again.');
      await this.#open(notebook, params);
    });
  }

  /** Shows a table of a cell. In an untrusted workspace nothing opens. */
  async view({ table, view, columns }: KernelView): Promise<ViewAnswer> {
    if (!vscode.workspace.isTrusted)
      return { kind: 'refused', problem: "Can't open the table panel: the workspace is not trusted." };
    const place = await placeOfKernelTable(table, this.#deps.connections.list());
    const path = displayPath(table.namespacePath, table.name);
    if (!place) {
      const what = `Can't open the panel of "${path}": VS Code has no connection to its catalog.`;
      return { kind: 'refused', problem: `${what} Add it in the Lance Catalog view, then run the cell again.` };
    }
    // The cell continues while the panel reads its rows. The panel shows a failure itself.
    this.#show(place, { startView: view, ...(columns && { columns }) });
    return { kind: 'shown' };
  }

  /** Returns the rows of an output after a reload of the window, if its kernel has waited. */
  restored(title: string, place: OutputPlace): TableSource {
    let found: TableSource | undefined;
    const lost = new CatalogError(
      'TableNotFound',
      'The rows of this output were not kept when the window was reloaded.',
      'Run the cell again, then choose "Open in Panel" below its output.',
    );
    return {
      title,
      failureTitle: title,
      open: async (signal) => {
        const kernel = await this.#waitForKernel(vscode.Uri.parse(place.notebook), signal);
        const table = await kernel?.outputTable({ output: place.output, hasRows: true }, signal);
        if (!kernel || table?.kind !== 'rows') throw lost;
        found = rowsSource(title, place, kernel, table);
        return found.open(signal);
      },
      rows: (start, end, signal, columns) => found?.rows(start, end, signal, columns) ?? Promise.reject(lost),
    };
  }

  /** Waits until VS Code has opened a notebook again, and its kernel is attached. */
  async #waitForKernel(notebook: vscode.Uri, signal: AbortSignal): Promise<KernelProcess | undefined> {
    const kernels = this.#deps.kernels();
    const find = (): Promise<KernelProcess> | undefined => {
      const opened = vscode.workspace.notebookDocuments.find(({ uri }) => uri.toString() === notebook.toString());
      return opened && kernels.session(opened)?.kernel;
    };
    if (!find() && !this.#deps.isKept(notebook)) return undefined;
    const limit = AbortSignal.any([signal, AbortSignal.timeout(waitMs)]);
    const attached = new Promise<KernelProcess | undefined>((resolve) => {
      const look = (): void => {
        const kernel = find();
        if (!kernel && !limit.aborted) return;
        listening.dispose();
        resolve(kernel);
      };
      const listening = kernels.onDidChange(look);
      limit.addEventListener('abort', look, { once: true });
      look();
    });
    return attached.catch(() => undefined);
  }

  #show(place: TablePlace, options: Parameters<TablePanels['previewPlace']>[1]): void {
    this.#deps.panels
      .previewPlace(place, options)
      .catch((error: unknown) => logFailure(this.#deps.log, `opening ${place.table}`, error));
  }

  async #open(notebook: vscode.NotebookDocument, request: OutputHostMethods['openTable'][0]): Promise<void> {
    const { kernels, panels, connections, log } = this.#deps;
    const found = findOutput(notebook, request);
    const kernel = await kernels()
      .session(notebook)
      ?.kernel?.catch(() => undefined);
    const output = request.table;
    const title = found ? titleOf(found.cell) : 'Output';
    const ask = async (hasRows: boolean): Promise<OutputTable | null> => {
      if (!kernel?.isAlive || output === null) return null;
      return withProgress('Waiting for the kernel', (signal) =>
        kernel.outputTable({ output, hasRows }, AbortSignal.any([signal, AbortSignal.timeout(waitMs)])),
      ).catch((error: unknown) => {
        logFailure(log, 'finding the table of an output', error);
        // The rows of the output are better than none, but a query that fails has a reason.
        if (kernel.isAlive) throw error;
        return null;
      });
    };
    let table = await ask(false);
    if (table?.kind === 'catalog') {
      const place = await placeOfKernelTable(table.table, connections.list());
      if (place) return void (await panels.previewPlace(place, { startView: wholeTable }));
      table = await ask(true);
    }
    if (kernel && output !== null && table?.kind === 'rows') {
      const place = { notebook: notebook.uri.toString(), output };
      const source = rowsSource(table.variable ?? title, place, kernel, table);
      return void (await panels.preview(source, { isBeside: true }));
    }
    const held = found && heldRows(found);
    if (!held)
      throw new CatalogError(
        'TableNotFound',
        "Can't open the rows of the output: they are lost.",
        'Run the cell again.',
      );
    await panels.preview(heldRowsSource(title, held, kernel?.isAlive === true), { isBeside: true });
  }
}

const rowsSource = (
  title: string,
  place: OutputPlace,
  kernel: KernelProcess,
  table: Extract<OutputTable, { kind: 'rows' }>,
): TableSource =>
  kernelRowsSource(title, place, table, (range, signal) =>
    kernel.outputRows({ output: place.output, ...range }, signal),
  );

type FoundOutput = {
  readonly cell: vscode.NotebookCell | undefined;
  readonly data: Uint8Array;
  readonly told: unknown;
};

/** Finds an output by the id of its table, or by its data if it has none. */
function findOutput(
  notebook: vscode.NotebookDocument,
  { table, data }: OutputHostMethods['openTable'][0],
): FoundOutput | undefined {
  const wanted = data === null ? undefined : Buffer.from(data);
  for (const cell of notebook.getCells())
    for (const { items, metadata } of cell.outputs) {
      const item = items.find(({ mime }) => mime === arrowStreamMime);
      const isWanted = table === null ? wanted?.equals(item?.data ?? none) : metadata?.['table'] === table;
      if (!item || isWanted !== true) continue;
      return { cell, data: item.data, told: asRecord(asRecord(metadata?.['metadata'])[arrowStreamMime]) };
    }
  return wanted && { cell: undefined, data: wanted, told: {} };
}

const none = new Uint8Array();

function heldRows({ data, told }: FoundOutput): HeldRows | undefined {
  const { total_rows: total, omitted_cells: omitted } = asRecord(told);
  try {
    const table = readArrow(decodeArrowOutput(data));
    return {
      table,
      total: isCount(total) ? total : total === null ? undefined : table.numRows,
      isReduced: omitted !== undefined,
    };
  } catch (error) {
    throw new CatalogError('InvalidInput', `Can't read the output: ${messageOf(error)}`, 'Run the cell again.');
  }
}

const titleOf = (cell: vscode.NotebookCell | undefined): string =>
  cell ? `Output of cell ${cell.executionSummary?.executionOrder ?? cell.index + 1}` : 'Output';
