import * as path from 'node:path';
import * as vscode from 'vscode';
import type { InputHandler } from '#processes/kernelConversation.ts';
import { CatalogError } from '#shared/errors.ts';
import { asRecord } from '#shared/records.ts';
import { runCommand } from '../host/commands.ts';
import { type Log, logFailure } from '../host/log.ts';
import { inputText, pickItem, showWarning } from '../host/messages.ts';
import { setting } from '../host/settings.ts';
import { notebookIds } from '../manifest.ts';
import { RenamedNotebooks } from './disconnections.ts';
import { hasJupyter, jupyterId } from './jupyter/jupyterExtension.ts';
import type { KeptKernels } from './keptKernels.ts';
import { kernelMetadata } from './newNotebook.ts';
import { isForOurKernel } from './notebookKernel.ts';
import type { NotebookCatalogs } from './notebookCatalogs.ts';
import type { NotebookTabs } from './notebookTabs.ts';
import { notebookTitle } from './notices.ts';
import { NotebookSession } from './session.ts';
import type { StartKernel } from './sessionTypes.ts';

/** The kernel ends yes-or-no prompts with this suffix, because users type the reply in terminals and Jupyter. */
const yesOrNo = /\s*\[y\/N\]$/;
/** Maximum length of a prompt in a quick pick, which cuts off a longer prompt. An input box shows the whole prompt. */
const lineCharacters = 80;

/** Prompts the user for the input that a cell requests. The prompt closes when the cell ends. */
function askForInput(notebook: () => vscode.NotebookDocument): InputHandler {
  return async ({ prompt, password }, signal) => {
    const source = new vscode.CancellationTokenSource();
    const cancel = (): void => source.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    if (signal.aborted) cancel();
    // Several notebooks may prompt at once, so the title names the notebook.
    const common = { title: notebookTitle(notebook()), token: source.token };
    const text = prompt.trim();
    const question = text.replace(yesOrNo, '');
    const isChoice = question !== text && !password && question.length <= lineCharacters && !question.includes('\n');
    try {
      if (isChoice) {
        const choices = [
          { label: 'Yes', value: 'y' },
          { label: 'No', value: 'n' },
        ];
        return (await pickItem(choices, { ...common, placeHolder: question })) ?? null;
      }
      const asked = text || 'A cell requests a line of input.';
      return (await inputText({ ...common, prompt: asked, isSecret: password })) ?? null;
    } finally {
      signal.removeEventListener('abort', cancel);
      source.dispose();
    }
  };
}

/** If one of these extensions is installed, a new notebook may be meant for Python. */
const pythonExtensions = [jupyterId, 'ms-python.python'];

/** Whether a notebook is new, names no kernel, and only the Lance kernel can run its cells. */
function hasNoKernel(notebook: vscode.NotebookDocument): boolean {
  if (notebook.notebookType !== notebookIds.notebookType || !notebook.isUntitled || notebook.cellCount === 0)
    return false;
  if (ofFile(notebook)['kernelspec'] !== undefined) return false;
  return !pythonExtensions.some((id) => vscode.extensions.getExtension(id) !== undefined);
}

/**
 * Changes the cells of a notebook to TypeScript if all are empty. VS Code creates new cells as Python cells, which have
 * no working run button with the Lance kernel. The language of a cell with content is the choice of the user.
 */
async function setCellLanguage(
  notebook: vscode.NotebookDocument,
  controller: vscode.NotebookController,
): Promise<void> {
  const cells = notebook.getCells().filter(({ kind }) => kind === vscode.NotebookCellKind.Code);
  if (cells.some(({ document }) => document.getText() !== '')) return;
  const others = cells.filter(({ document }) => controller.supportedLanguages?.includes(document.languageId) !== true);
  if (others.length === 0) return;
  for (const { document } of others) await vscode.languages.setTextDocumentLanguage(document, 'typescript');
  if (ofFile(notebook)['kernelspec'] !== undefined) return;
  const edit = new vscode.WorkspaceEdit();
  const metadata = { ...notebook.metadata, metadata: { ...ofFile(notebook), ...kernelMetadata } };
  edit.set(notebook.uri, [vscode.NotebookEdit.updateNotebookMetadata(metadata)]);
  await vscode.workspace.applyEdit(edit);
}

/** Returns the metadata of the file, without VS Code's additions. */
const ofFile = ({ metadata }: vscode.NotebookDocument): Record<string, unknown> => asRecord(metadata['metadata']);

type NotebookDeps = {
  log: Log;
  /** Moves and removes the stored catalog of a notebook. */
  notebookCatalogs: Pick<NotebookCatalogs, 'move' | 'forget'>;
  /** Asks for the catalog of a notebook that has none. @returns whether its cells may run */
  requireCatalog: (notebook: vscode.NotebookDocument) => Promise<boolean>;
  startKernel: StartKernel;
  kept: KeptKernels;
  tabs: NotebookTabs;
};

/** The Lance kernel in VS Code's kernel picker, and the kernel process of each notebook that uses it. */
export class NotebookKernels implements vscode.Disposable {
  readonly controller: vscode.NotebookController;
  readonly #parts: NotebookDeps;
  readonly #sessions = new Map<string, NotebookSession>();
  readonly #partings = new RenamedNotebooks();
  readonly #changed = new vscode.EventEmitter<NotebookSession>();
  /** Fires when the kernel of a notebook or one of its cells starts or ends. */
  readonly onDidChange = this.#changed.event;
  /** Notebooks in which VS Code lets this controller run cells. */
  readonly #selected = new WeakSet<vscode.NotebookDocument>();
  /** Notebooks that ever named or used the Lance kernel. */
  readonly #met = new WeakSet<vscode.NotebookDocument>();
  readonly #subscriptions: vscode.Disposable[];

  constructor(parts: NotebookDeps) {
    this.#parts = parts;
    const { controller: id, notebookType } = notebookIds;
    this.controller = vscode.notebooks.createNotebookController(id, notebookType, 'Lance TypeScript');
    this.controller.description = 'TypeScript with a connected catalog';
    this.controller.supportedLanguages = ['typescript', 'javascript'];
    this.controller.supportsExecutionOrder = true;
    this.controller.executeHandler = async (cells, notebook) => this.#run(cells, notebook);
    this.controller.interruptHandler = (notebook) => this.#interrupt(notebook);
    this.#subscriptions = [
      this.controller,
      this.controller.onDidChangeSelectedNotebooks(({ notebook, selected }) => {
        if (!selected) {
          this.#selected.delete(notebook);
          return this.#leave(notebook);
        }
        this.#selected.add(notebook);
        this.#met.add(notebook);
        this.#adopt(notebook);
        this.#warm(notebook);
        this.session(notebook)?.select();
      }),
      vscode.workspace.onDidOpenNotebookDocument((notebook) => this.#welcome(notebook)),
      // If an extension opens a notebook with content, VS Code first reports the notebook without its cells and
      // metadata, and then reports a change.
      vscode.workspace.onDidChangeNotebookDocument(({ notebook, metadata, contentChanges }) => {
        if ((metadata || contentChanges.length > 0) && !this.#met.has(notebook)) this.#meet(notebook);
      }),
      vscode.workspace.onDidCloseNotebookDocument((notebook) => this.#leave(notebook, keepMilliseconds())),
      // The document may stay open for minutes after its last tab was closed.
      parts.tabs.onDidClose((notebook) => this.#leave(notebook, keepMilliseconds())),
      parts.tabs.onDidReopen((notebook) => {
        this.#inherit(notebook);
        this.#meet(notebook);
      }),
      vscode.workspace.onWillRenameFiles(({ files }) => this.#partings.expect(files)),
      vscode.workspace.onDidRenameFiles(() => {
        // Don't wait for the close event: the document with the old name stays open while another extension uses it.
        const renamed = [...this.#sessions.values()].filter(({ notebook }) => this.#partings.isRenamed(notebook));
        for (const { notebook } of renamed) this.#leave(notebook);
      }),
      vscode.window.onDidChangeActiveNotebookEditor(() => this.#claim()),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.#welcomeAll()),
    ];
    this.#welcomeAll();
  }

  session(notebook: vscode.NotebookDocument): NotebookSession | undefined {
    return this.#sessions.get(keyOf(notebook));
  }

  /** Called when the list of connections changes. Restarts each kernel in which no cell has run. */
  renew(): void {
    for (const session of this.#sessions.values()) session.renew();
  }

  /**
   * Returns the session of a notebook, for an action of the user.
   * @throws CatalogError PermissionDenied (15) without trust, InvalidInput (13) for a notebook of another kernel
   */
  require(notebook: vscode.NotebookDocument): NotebookSession {
    requireTrust();
    const session = this.session(notebook);
    if (!session) {
      throw new CatalogError(
        'InvalidInput',
        'This notebook does not run on the Lance TypeScript kernel.',
        'Choose that kernel and run a cell first.',
      );
    }
    return session;
  }

  /** @throws CatalogError as `require` does */
  async restart(notebook: vscode.NotebookDocument): Promise<void> {
    await this.require(notebook).restart();
  }

  /** Leaves the kernels. A used kernel waits a while, because the window may return after a reload. */
  dispose(): void {
    this.#partings.dispose();
    for (const session of this.#sessions.values()) session.leave();
    this.#sessions.clear();
    for (const subscription of this.#subscriptions) subscription.dispose();
    this.#changed.dispose();
  }

  async #run(cells: vscode.NotebookCell[], notebook: vscode.NotebookDocument): Promise<void> {
    requireTrust();
    // Don't ask for a catalog if the kernel was used, because a used kernel already has one. This includes a used
    // kernel that waits to be reattached.
    const isUsed = this.session(notebook)?.hasRun === true || this.#parts.kept.get(notebook.uri)?.isUsed === true;
    if (!isUsed && !(await this.#parts.requireCatalog(notebook))) return;
    await this.#sessionOf(notebook).run(cells);
  }

  async #interrupt(notebook: vscode.NotebookDocument): Promise<void> {
    const session = this.session(notebook);
    const isOver = await runCommand(this.#parts.log, 'interrupting a cell', () => session?.interrupt());
    // Don't await the prompt, because VS Code shows the interrupt as running until this handler returns.
    if (session && isOver === false) void this.#offerRestart(session);
  }

  async #offerRestart(session: NotebookSession): Promise<void> {
    const restart = 'Restart Kernel';
    const what = "Can't interrupt the cell: it is running native code or waiting for another process.";
    const next = 'It may still finish. To stop it now, restart the kernel; this loses the variables of the notebook.';
    if ((await showWarning(`${what} ${next}`, restart)) !== restart) return;
    await runCommand(this.#parts.log, 'restarting the kernel', () => session.restart());
  }

  #welcomeAll(): void {
    for (const notebook of vscode.workspace.notebookDocuments) this.#welcome(notebook);
  }

  /** Preselects the Lance kernel in a notebook that names it, and starts the kernel. */
  #welcome(notebook: vscode.NotebookDocument): void {
    if (notebook.notebookType !== notebookIds.notebookType) return;
    const { kept, notebookCatalogs } = this.#parts;
    const isNew = notebook.isUntitled && !this.session(notebook) && !kept.get(notebook.uri);
    if (isNew) notebookCatalogs.forget(notebook.uri);
    this.#inherit(notebook);
    this.#meet(notebook);
  }

  #meet(notebook: vscode.NotebookDocument): void {
    if (notebook.notebookType !== notebookIds.notebookType) return;
    if (!isForOurKernel(notebook.metadata, hasJupyter())) {
      if (hasNoKernel(notebook)) this.#adopt(notebook);
      return;
    }
    this.#met.add(notebook);
    this.controller.updateNotebookAffinity(notebook, vscode.NotebookControllerAffinity.Preferred);
    this.#warm(notebook);
  }

  #adopt(notebook: vscode.NotebookDocument): void {
    setCellLanguage(notebook, this.controller).catch((error: unknown) =>
      logFailure(this.#parts.log, 'making empty cells TypeScript', error),
    );
  }

  #warm(notebook: vscode.NotebookDocument): void {
    if (vscode.workspace.isTrusted) this.#sessionOf(notebook).warm();
  }

  #sessionOf(notebook: vscode.NotebookDocument): NotebookSession {
    const key = keyOf(notebook);
    this.#inherit(notebook);
    const existing = this.#sessions.get(key);
    if (existing) return existing;
    const { log, startKernel, kept } = this.#parts;
    const session: NotebookSession = new NotebookSession({
      notebook,
      controller: this.controller,
      log,
      cwd: folderOf(notebook),
      start: startKernel,
      ask: askForInput(() => session.notebook),
      onUse: ({ uri }) => kept.use(uri),
      onEnd: ({ uri }) => kept.drop(uri),
      onWaiting: ({ uri }, rows) => kept.wait(uri, rows),
    });
    session.onDidChange(() => this.#changed.fire(session));
    this.#sessions.set(key, session);
    return session;
  }

  /**
   * Handles a notebook that was closed or for which another kernel was selected. VS Code also closes a notebook that is
   * renamed or saved under another name; then the kernel continues in the new file.
   * @param keepMs how long the kernel waits for the same notebook to be opened again
   */
  #leave(notebook: vscode.NotebookDocument, keepMs = 0): void {
    const session = this.session(notebook);
    if (!session) return;
    // Delete the entry now, before the file with the new name opens, because another untitled notebook may get the old
    // name meanwhile.
    this.#sessions.delete(keyOf(notebook));
    const candidates = vscode.workspace.notebookDocuments.filter((one) => one !== notebook && this.#isFree(one));
    const next = this.#partings.leave(session, candidates, keepMs);
    if (next) this.#handOver(session, next);
    else this.#changed.fire(session);
  }

  /** Moves the kernel of a renamed notebook to the file with the new name. */
  #inherit(notebook: vscode.NotebookDocument): void {
    const session = this.#isFree(notebook) ? this.#partings.claim(notebook) : undefined;
    if (session) this.#handOver(session, notebook);
  }

  /** Whether a notebook may be the new name of a closed notebook: it is open and saved, and no cell ran in it yet. */
  #isFree(notebook: vscode.NotebookDocument): boolean {
    if (notebook.isUntitled || notebook.isClosed || notebook.notebookType !== notebookIds.notebookType) return false;
    return this.session(notebook)?.hasRun !== true;
  }

  /**
   * Selects the Lance kernel for the active notebook if a running cell moved to this notebook. VS Code has no selected
   * kernel for the new name. Without a selected kernel, VS Code can't show output of the moved cell until the user runs
   * another cell.
   */
  #claim(): void {
    const notebook = vscode.window.activeNotebookEditor?.notebook;
    if (!notebook || this.session(notebook)?.needsSelection !== true) return;
    const kernel = { id: notebookIds.controller, extension: notebookIds.extension };
    void vscode.commands.executeCommand('notebook.selectKernel', kernel);
  }

  #handOver(session: NotebookSession, notebook: vscode.NotebookDocument): void {
    const key = keyOf(notebook);
    this.#sessions.get(key)?.dispose();
    this.#parts.kept.move(session.notebook.uri, notebook.uri);
    this.#parts.notebookCatalogs.move(session.notebook.uri, notebook.uri);
    const before = session.notebook;
    session.moveTo(notebook, folderOf(notebook), () => this.#partings.whenRestored(before, notebook));
    if (this.#selected.has(notebook)) session.select();
    this.#claim();
    this.#sessions.set(key, session);
    this.#changed.fire(session);
  }
}

/** @throws CatalogError PermissionDenied (15) if the user does not trust the workspace */
function requireTrust(): void {
  if (vscode.workspace.isTrusted) return;
  throw new CatalogError('PermissionDenied', 'Cells do not run in an untrusted workspace.', 'Trust it first.');
}

const keyOf = (notebook: vscode.NotebookDocument): string => notebook.uri.toString();

/** How long the kernel of a closed notebook waits for the notebook to be opened again. */
const keepMilliseconds = (): number => (setting('lanceCatalog.notebook.keepKernelSeconds') ?? 0) * 1000;

/** Returns the base of relative paths: the notebook's folder, or the first workspace folder for an unsaved notebook. */
export function folderOf(notebook: vscode.NotebookDocument): string {
  if (notebook.uri.scheme === 'file') return path.dirname(notebook.uri.fsPath);
  return vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? process.cwd();
}
