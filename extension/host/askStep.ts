import * as vscode from 'vscode';
import { isAbort, messageOf } from '#shared/errors.ts';
import { inert } from './inertText.ts';
import { createInputBox, createPickList, type InertInputBox, type PickChoice } from './messages.ts';

/** A prompt for one string, alone or as a step of several. */
export type Question = {
  title: string;
  /** Step number and total; "Back" is offered from the second step on. */
  step?: { number: number; of: number };
  prompt: string;
  value?: string;
  placeHolder?: string;
  isSecret?: boolean;
  /** Label of an additional button that asks for more steps. */
  more?: string;
  /** Returns an error message for an invalid value; checked while the user types. */
  check?: (value: string) => string | undefined;
  /** Returns a warning for a value that is still accepted. */
  warn?: (value: string) => string | undefined;
  /**
   * Checks the value a moment after the last key. The box shows the result, a problem or a note, but accepts the value
   * in any case.
   */
  look?: (value: string, signal: AbortSignal) => Promise<{ problem: string } | { note: string }>;
  /**
   * Performs the action while the box stays open. If the action fails, the box shows the failure and keeps the value.
   */
  accept?: (value: string, signal: AbortSignal) => Promise<void>;
};

/** The value, "Back", the request for more steps, or `undefined` if the user cancels. */
export type Answer = { value: string } | 'back' | 'more' | undefined;

export type Ask = (question: Question) => Promise<Answer>;

/** Prompts for one value. The box stays open when it loses focus, so that the user can look the value up. */
export function askStep(question: Question): Promise<Answer> {
  const { title, step, prompt, value = '', placeHolder, isSecret = false, more, check, warn, look, accept } = question;
  const box = createInputBox();
  const controller = new AbortController();
  box.title = inert(title);
  box.prompt = inert(prompt);
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
    // Show no error for an empty box before the user presses Enter.
    const problem = typed === '' && !isAccepted ? undefined : check?.(typed);
    const warning = problem === undefined ? warn?.(typed) : undefined;
    box.validationMessage =
      problem === undefined
        ? warning === undefined
          ? undefined
          : { message: inert(warning), severity: vscode.InputBoxValidationSeverity.Warning }
        : inert(problem);
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
      if (!isAbort(error)) box.validationMessage = inert(messageOf(error));
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
    // Ignore Enter while the action runs, because it would run the action twice.
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

/** A choice from a list as a step of several. "Back" is offered from the second step on. */
export type PickQuestion<T> = {
  readonly title: string;
  readonly step: { readonly number: number; readonly of: number };
  readonly choices: readonly PickChoice<T>[];
};

/** Returns `undefined` if the user cancels. */
export type PickStep = <T>(question: PickQuestion<T>) => Promise<PickAnswer<T> | 'back' | undefined>;

/** `typed` is the text in the box of the list. */
export type PickAnswer<T> = { readonly value: T; readonly typed?: string };

export const pickStep: PickStep = ({ title, step, choices }) => {
  const list = createPickList(choices);
  list.title = inert(title);
  list.step = step.number;
  list.totalSteps = step.of;
  list.matchOnDescription = true;
  if (step.number > 1) list.buttons = [vscode.QuickInputButtons.Back];
  return new Promise((resolve) => {
    // The first answer counts; `hide` then only closes the list.
    list.onDidTriggerButton(() => {
      resolve('back');
      list.hide();
    });
    list.onDidAccept(() => {
      const [chosen] = list.selectedItems;
      if (!chosen) return;
      resolve({ value: chosen.value, typed: list.value.trim() });
      list.hide();
    });
    list.onDidHide(() => {
      resolve(undefined);
      list.dispose();
    });
    list.show();
  });
};

/** Delay after the last key before `look` runs, in milliseconds. */
const typing = 250;

async function lookAt(
  box: InertInputBox,
  typed: string,
  look: NonNullable<Question['look']>,
  signal: AbortSignal,
): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, typing));
  if (signal.aborted) return;
  // If `look` fails, show nothing: `accept` reports the failure.
  const found = await look(typed, signal).catch(() => undefined);
  if (signal.aborted || !found) return;
  const { Error, Info } = vscode.InputBoxValidationSeverity;
  box.validationMessage =
    'problem' in found
      ? { message: inert(found.problem), severity: Error }
      : { message: inert(found.note), severity: Info };
}
