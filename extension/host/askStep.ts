import * as vscode from 'vscode';
import { isAbort, messageOf } from '#shared/errors.ts';

/** One text that is asked for, alone or as a step of several. */
export type Question = {
  title: string;
  /** Which step of how many; from the second on there is a way back. */
  step?: { number: number; of: number };
  prompt: string;
  value?: string;
  placeHolder?: string;
  isSecret?: boolean;
  /** A button beside the box by this name, for who wants to be asked more. */
  more?: string;
  /** What keeps the text from being taken, as a sentence, while it is typed. */
  check?: (value: string) => string | undefined;
  /** What to know about a text that can be taken all the same. */
  warn?: (value: string) => string | undefined;
  /**
   * Looks at the text while it is typed, a moment after the last key. What it finds is shown and keeps nobody from going on:
   * a problem, or something to know.
   */
  look?: (value: string, signal: AbortSignal) => Promise<{ problem: string } | { note: string }>;
  /**
   * Does what the text is asked for, while the box stays open. A failure is shown in the box, which keeps what was typed.
   */
  accept?: (value: string, signal: AbortSignal) => Promise<void>;
};

/** What was typed, a step back, the wish for more, or `undefined` when the person leaves. */
export type Answer = { value: string } | 'back' | 'more' | undefined;

export type Ask = (question: Question) => Promise<Answer>;

/** Asks for one text. It stays open when the person looks elsewhere for what to type. */
export function askStep(question: Question): Promise<Answer> {
  const { title, step, prompt, value = '', placeHolder, isSecret = false, more, check, warn, look, accept } = question;
  const box = vscode.window.createInputBox();
  const controller = new AbortController();
  box.title = title;
  box.prompt = prompt;
  box.value = value;
  box.placeholder = placeHolder;
  box.password = isSecret;
  box.ignoreFocusOut = true;
  if (step) {
    box.step = step.number;
    box.totalSteps = step.of;
    if (step.number > 1) box.buttons = [vscode.QuickInputButtons.Back];
  }
  if (more !== undefined) {
    box.buttons = [...box.buttons, { iconPath: new vscode.ThemeIcon('ellipsis'), tooltip: more }];
  }
  let looking = new AbortController();
  const judge = (typed: string, isAccepted: boolean): boolean => {
    looking.abort();
    // An empty box tells nothing new before the person tries to go on with it.
    const problem = typed === '' && !isAccepted ? undefined : check?.(typed);
    const warning = problem === undefined ? warn?.(typed) : undefined;
    box.validationMessage =
      problem ?? (warning && { message: warning, severity: vscode.InputBoxValidationSeverity.Warning });
    if (problem === undefined && typed !== '' && look && !isAccepted) {
      looking = new AbortController();
      void lookAt(box, typed, look, looking.signal);
    }
    return problem === undefined;
  };
  const take = async (): Promise<boolean> => {
    const typed = box.value;
    if (!judge(typed, true)) return false;
    if (!accept) return true;
    box.busy = true;
    box.enabled = false;
    try {
      await accept(typed, controller.signal);
      return true;
    } catch (error) {
      if (!isAbort(error)) box.validationMessage = messageOf(error);
      return false;
    } finally {
      box.busy = false;
      box.enabled = true;
    }
  };
  return new Promise((resolve) => {
    const end = (answer: Answer): void => {
      resolve(answer);
      box.hide();
    };
    box.onDidChangeValue((typed) => judge(typed, false));
    box.onDidTriggerButton((button) => end(button === vscode.QuickInputButtons.Back ? 'back' : 'more'));
    // Enter while it is being done would do it twice.
    box.onDidAccept(() => !box.busy && void take().then((isTaken) => isTaken && end({ value: box.value })));
    box.onDidHide(() => {
      looking.abort();
      controller.abort();
      resolve(undefined);
      box.dispose();
    });
    judge(value, false);
    box.show();
  });
}

/** How long a person may go on typing before a text is looked at, in milliseconds. */
const typing = 250;

async function lookAt(
  box: vscode.InputBox,
  typed: string,
  look: NonNullable<Question['look']>,
  signal: AbortSignal,
): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, typing));
  if (signal.aborted) return;
  // A look that fails says nothing: going on does, in the box.
  const found = await look(typed, signal).catch(() => undefined);
  if (signal.aborted || !found) return;
  const { Error, Info } = vscode.InputBoxValidationSeverity;
  box.validationMessage =
    'problem' in found ? { message: found.problem, severity: Error } : { message: found.note, severity: Info };
}
