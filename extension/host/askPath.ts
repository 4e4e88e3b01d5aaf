import { isAbort, messageOf } from '#shared/errors.ts';
import { askDirectory } from './ask.ts';
import { createPathBox } from './messages.ts';

/** A prompt for a folder. */
export type FolderQuestion = {
  title: string;
  placeHolder: string;
  /** Checks a path. If it throws for a typed path, the box stays open with the text and shows the error below it. */
  accept: (path: string, signal: AbortSignal) => Promise<void>;
};

/** Removes the quotes around a path: file managers and terminals copy paths with quotes. */
const unquoted = (text: string): string => /^(["'])(.+)\1$/.exec(text)?.[2] ?? text;

/**
 * Prompts for a folder in one box, which takes a typed or pasted path, or opens a dialog. The box stays open when it
 * loses focus, so that the user can copy the path.
 * @returns `undefined` if the user cancels
 */
export function askFolder({ title, placeHolder, accept }: FolderQuestion): Promise<string | undefined> {
  const box = createPathBox(title, placeHolder);
  const controller = new AbortController();
  let problem: string | undefined;
  let isAnswered = false;
  const draw = (): void => box.show(box.value.trim(), problem);
  const use = async (path: string): Promise<boolean> => {
    box.isBusy = true;
    try {
      await accept(path, controller.signal);
      return true;
    } catch (error) {
      if (!isAbort(error)) problem = messageOf(error);
      draw();
      return false;
    } finally {
      box.isBusy = false;
    }
  };
  // The dialog of the browser closes the box, so an error of `accept` is thrown.
  const chooseFolder = async (): Promise<string | undefined> => {
    const path = await askDirectory(title);
    if (path !== undefined) await accept(path, controller.signal);
    return path;
  };
  return new Promise((resolve, reject) => {
    const end = (answer: Promise<string | undefined> | string): void => {
      isAnswered = true;
      resolve(answer);
      box.hide();
    };
    box.onDidChangeValue(() => {
      problem = undefined;
      draw();
    });
    box.onDidAccept((isDialog) => {
      if (box.isBusy) return;
      const typed = unquoted(box.value.trim());
      if (isDialog) end(chooseFolder());
      else if (typed !== '') void use(typed).then((isTaken) => isTaken && end(typed), reject);
    });
    box.onDidHide(() => {
      if (!isAnswered) controller.abort();
      resolve(undefined);
    });
    draw();
  });
}
