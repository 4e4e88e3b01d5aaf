import * as vscode from 'vscode';
import type { InertMarkdown } from './inertMarkdown.ts';
import { inert, type InertText, withIcon } from './inertText.ts';

// The only file that calls VS Code's messages, prompts, lists, status bar and Markdown, because VS Code reads markup in
// all of them. Lint forbids these calls elsewhere. A message may contain text from outside, so the whole message is
// made inert here. Buttons are constants.

type Options = { readonly modal: true; readonly detail: InertText };
type ShowMessage = {
  (message: InertText, ...buttons: string[]): Thenable<string | undefined>;
  (message: InertText, options: Options, ...buttons: string[]): Thenable<string | undefined>;
};
type PickOptions = { title: InertText; placeHolder?: InertText; ignoreFocusOut: true };
type PickItem = { label: InertText; description?: InertText; detail?: InertText };
type Report = vscode.Progress<{ message: InertText }>;

/** VS Code's window, but its functions accept inert text only: raw text does not compile. */
type InertWindow = {
  showInformationMessage: ShowMessage;
  showWarningMessage: ShowMessage;
  showErrorMessage: ShowMessage;
  setStatusBarMessage(text: InertText, hideAfterTimeout: number): vscode.Disposable;
  showInputBox(options: InertInputOptions, token?: vscode.CancellationToken): Thenable<string | undefined>;
  showQuickPick<T extends PickItem>(
    items: readonly T[],
    options: PickOptions & { canPickMany: true },
    token?: vscode.CancellationToken,
  ): Thenable<T[] | undefined>;
  showQuickPick<T extends PickItem>(
    items: readonly T[],
    options: PickOptions,
    token?: vscode.CancellationToken,
  ): Thenable<T | undefined>;
  withProgress<R>(
    options: { location: vscode.ProgressLocation; title: InertText; cancellable: true },
    task: (progress: Report, token: vscode.CancellationToken) => Thenable<R>,
  ): Thenable<R>;
  withProgress<R>(options: { location: { viewId: string } }, task: () => Thenable<R>): Thenable<R>;
};

// Call the functions on `vscode.window`, because tests replace some of them with functions that answer for the user.
const window: InertWindow = vscode.window;

export const showInformation = async <B extends string>(text: string, ...buttons: B[]): Promise<B | undefined> =>
  (await window.showInformationMessage(inert(text), ...buttons)) as B | undefined;

export const showWarning = async <B extends string>(text: string, ...buttons: B[]): Promise<B | undefined> =>
  (await window.showWarningMessage(inert(text), ...buttons)) as B | undefined;

export const showError = async <B extends string>(text: string, ...buttons: B[]): Promise<B | undefined> =>
  (await window.showErrorMessage(inert(text), ...buttons)) as B | undefined;

/** Shows a dialog that the user must answer. @returns `undefined` if the user cancels */
export const askModal = async <B extends string>(
  text: string,
  detail: string,
  ...buttons: B[]
): Promise<B | undefined> =>
  (await window.showWarningMessage(inert(text), { modal: true, detail: inert(detail) }, ...buttons)) as B | undefined;

/** Shows a message in the status bar for a moment after an action has finished. */
export function showDone(text: string, milliseconds: number): void {
  window.setStatusBarMessage(withIcon('check', text), milliseconds);
}

/**
 * The argument of a task. `signal` and VS Code's `token` both report that the user cancelled the task. `report` shows
 * progress.
 */
type RunningTask = {
  readonly signal: AbortSignal;
  readonly token: vscode.CancellationToken;
  readonly report: (message: string) => void;
};

/** Runs a task with a notification that can cancel it. */
export const notifyProgress = async <T>(title: string, task: (running: RunningTask) => Promise<T>): Promise<T> =>
  window.withProgress(
    { location: vscode.ProgressLocation.Notification, title: inert(title), cancellable: true },
    (progress, token) => {
      const controller = new AbortController();
      if (token.isCancellationRequested) controller.abort();
      token.onCancellationRequested(() => controller.abort());
      const report = (message: string): void => progress.report({ message: inert(message) });
      return task({ signal: controller.signal, token, report });
    },
  );

/** Runs a task with progress in a view. */
export const showViewProgress = async <T>(viewId: string, task: () => Promise<T>): Promise<T> =>
  window.withProgress({ location: { viewId } }, task);

export type PickChoice<T> = {
  label: string;
  description?: string;
  detail?: string;
  icon?: string;
  value: T;
  /** Whether the choice stays in the list if it does not match the typed text. */
  isAlwaysShown?: boolean;
  /** The heading of this choice and those after it. */
  group?: string;
  /** Buttons at the end of the row, with a product icon each. */
  buttons?: readonly { readonly icon: string; readonly tooltip: string }[];
};
type PickSettings = { title: string; placeHolder?: string; token?: vscode.CancellationToken };

/** Shows a list to choose from. @returns `undefined` if the user cancels */
export const pickItem = async <T>(choices: readonly PickChoice<T>[], settings: PickSettings): Promise<T | undefined> =>
  (await window.showQuickPick(choices.map(pickItemOf), pickOptions(settings), settings.token))?.value;

/** Shows a list with multiple selection. @returns `undefined` if the user cancels */
export const pickItems = async <T>(
  choices: readonly PickChoice<T>[],
  settings: PickSettings,
): Promise<T[] | undefined> =>
  (
    await window.showQuickPick(choices.map(pickItemOf), { ...pickOptions(settings), canPickMany: true }, settings.token)
  )?.map(({ value }) => value);

const pickOptions = ({ title, placeHolder }: PickSettings): PickOptions => ({
  title: inert(title),
  ignoreFocusOut: true,
  ...(placeHolder !== undefined && { placeHolder: inert(placeHolder) }),
});

const pickItemOf = <T>({
  label,
  description,
  detail,
  icon,
  value,
  isAlwaysShown,
  buttons,
}: PickChoice<T>): PickItem & { value: T } => ({
  label: icon === undefined ? inert(label) : withIcon(icon, label),
  value,
  ...(description !== undefined && { description: inert(description) }),
  ...(detail !== undefined && { detail: inert(detail) }),
  ...(isAlwaysShown === true && { alwaysShow: true }),
  ...(buttons && {
    buttons: buttons.map((one) => ({ iconPath: new vscode.ThemeIcon(one.icon), tooltip: one.tooltip })),
  }),
});

/** VS Code's list; its title accepts inert text only, and its rows are made inert. */
export type InertPickList<T> = Omit<vscode.QuickPick<PickItem & { value: T }>, 'title'> & {
  title: InertText | undefined;
};

/** Creates a list to choose from, which can be a step of several. */
export function createPickList<T>(choices: readonly PickChoice<T>[]): InertPickList<T> {
  const list = vscode.window.createQuickPick<PickItem & { value: T }>();
  list.items = choices.flatMap(groupedItems);
  list.ignoreFocusOut = true;
  return list as InertPickList<T>;
}

/** Replaces the rows of a list that is open. */
export function setPickChoices<T>(list: InertPickList<T>, choices: readonly PickChoice<T>[]): void {
  list.items = choices.flatMap(groupedItems);
}

/** Returns the row of a choice, after the heading of its group. Headings can't be chosen. */
function groupedItems<T>(choice: PickChoice<T>): (PickItem & { value: T })[] {
  const { group, value } = choice;
  const item = pickItemOf(choice);
  if (group === undefined) return [item];
  const heading = { label: inert(group), kind: vscode.QuickPickItemKind.Separator, value };
  return [heading, item];
}

type InertInputOptions = {
  title: InertText;
  prompt: InertText;
  ignoreFocusOut: true;
  value?: string;
  placeHolder?: string;
  password?: boolean;
  validateInput?: (value: string) => InertText | undefined;
};

export type InputSettings = {
  title: string;
  prompt: string;
  value?: string;
  placeHolder?: string;
  isSecret?: boolean;
  /** Returns an error message for an invalid value. */
  check?: (value: string) => string | undefined;
  token?: vscode.CancellationToken;
};

/** Prompts for a line of text. @returns `undefined` if the user cancels */
export async function inputText(settings: InputSettings): Promise<string | undefined> {
  const { title, prompt, value, placeHolder, isSecret, check, token } = settings;
  const options: InertInputOptions = {
    title: inert(title),
    prompt: inert(prompt),
    // A click elsewhere must not dismiss the prompt.
    ignoreFocusOut: true,
    ...(value !== undefined && { value }),
    ...(placeHolder !== undefined && { placeHolder }),
    ...(isSecret !== undefined && { password: isSecret }),
    ...(check && { validateInput: (typed: string) => inertIfAny(check(typed)) }),
  };
  return window.showInputBox(options, token);
}

const inertIfAny = (text: string | undefined): InertText | undefined => (text === undefined ? undefined : inert(text));

/** VS Code's input box; its properties that may contain markup accept inert text only. */
export type InertInputBox = Omit<vscode.InputBox, 'title' | 'prompt' | 'validationMessage'> & {
  title: InertText | undefined;
  prompt: InertText | undefined;
  validationMessage: InertText | { message: InertText; severity: vscode.InputBoxValidationSeverity } | undefined;
};

export const createInputBox = (): InertInputBox => vscode.window.createInputBox() as InertInputBox;

type PathItem = vscode.QuickPickItem & { label: InertText; description?: InertText; isDialog: boolean };

/** A box for a path. Its first row shows the typed path, and its last row opens a dialog. */
export type PathBox = {
  readonly value: string;
  isBusy: boolean;
  /** Shows the typed path, or why it can't be used. */
  show(typed: string, problem: string | undefined): void;
  hide(): void;
  onDidChangeValue(listener: () => void): void;
  /** @param listener gets whether the user chose the dialog */
  onDidAccept(listener: (isDialog: boolean) => void): void;
  onDidHide(listener: () => void): void;
};

export function createPathBox(title: string, placeHolder: string): PathBox {
  const box = vscode.window.createQuickPick<PathItem>();
  box.title = inert(title);
  box.placeholder = inert(placeHolder);
  box.ignoreFocusOut = true;
  // VS Code must not filter the rows by the typed text.
  const always = { alwaysShow: true };
  const dialog: PathItem = { label: withIcon('folder-opened', 'Choose Folder…'), isDialog: true, ...always };
  box.onDidHide(() => box.dispose());
  return {
    get value() {
      return box.value;
    },
    get isBusy() {
      return box.busy;
    },
    set isBusy(isBusy) {
      box.busy = isBusy;
    },
    show(typed, problem) {
      const first: PathItem =
        problem === undefined
          ? { label: withIcon('arrow-right', `Use ${typed}`), isDialog: false, ...always }
          : { label: withIcon('error', problem), isDialog: false, ...always };
      box.items = typed === '' ? [dialog] : [first, dialog];
      box.show();
    },
    hide: () => box.hide(),
    onDidChangeValue: (listener) => void box.onDidChangeValue(listener),
    onDidAccept: (listener) => void box.onDidAccept(() => listener(box.activeItems[0]?.isDialog === true)),
    onDidHide: (listener) => void box.onDidHide(listener),
  };
}

/** A part of the text of a status bar item. */
export type StatusPart = string | { readonly icon: string; readonly text: string };

export type StatusLook = {
  readonly parts: readonly StatusPart[];
  readonly tooltip: InertMarkdown;
  readonly spoken?: string;
  readonly isWarning?: boolean;
};

/** A status bar item, hidden at first. */
export class StatusItem implements vscode.Disposable {
  readonly #item: vscode.StatusBarItem;

  constructor(settings: { id: string; name: string; priority: number; command: string | vscode.Command }) {
    this.#item = vscode.window.createStatusBarItem(settings.id, vscode.StatusBarAlignment.Right, settings.priority);
    this.#item.name = settings.name;
    this.#item.command = settings.command;
  }

  /** For tests. */
  get text(): string {
    return this.#item.text;
  }

  show({ parts, tooltip, spoken, isWarning = false }: StatusLook): void {
    this.#item.text = parts
      .map((part): InertText => (typeof part === 'string' ? inert(part) : withIcon(part.icon, part.text)))
      .join(' ');
    this.#item.tooltip = createMarkdown(tooltip);
    this.#item.accessibilityInformation = spoken === undefined ? undefined : { label: spoken };
    this.#item.backgroundColor = isWarning ? new vscode.ThemeColor('statusBarItem.warningBackground') : undefined;
    this.#item.show();
  }

  hide(): void {
    this.#item.hide();
  }

  dispose(): void {
    this.#item.dispose();
  }
}

/** Creates Markdown in which VS Code runs no commands and escapes HTML. */
export const createMarkdown = (text: InertMarkdown): vscode.MarkdownString => new vscode.MarkdownString(text);

/** A hover also accepts plain strings as Markdown, so create hovers only here. */
export const createHover = (parts: readonly InertMarkdown[], range?: vscode.Range): vscode.Hover =>
  new vscode.Hover(parts.map(createMarkdown), range);
