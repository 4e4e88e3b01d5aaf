import { isRecord } from './records.ts';

/** The languages of cells. Cells of JavaScript are parsed as JavaScript, and their types are not checked. */
export const notebookLanguages = ['typescript', 'javascript'] as const;
export type NotebookLanguage = (typeof notebookLanguages)[number];

/** The names of tslab's kernels, with the languages of their cells. */
const tslabKernels: Readonly<Record<string, NotebookLanguage>> = { tslab: 'typescript', jslab: 'javascript' };

/** Whether a kernel is one of tslab's. */
export const isTslabKernel = (name: string): boolean => Object.hasOwn(tslabKernels, name);

/** The language of a kernel of which only the name is known. */
export const languageOfKernel = (name: string): NotebookLanguage =>
  (isTslabKernel(name) ? tslabKernels[name] : undefined) ?? 'typescript';

/** The name of the kernel in a notebook's metadata. */
export function readKernelName(metadata: Record<string, unknown>): string | undefined {
  const name = fieldsOf(metadata['kernelspec'])['name'];
  return typeof name === 'string' ? name : undefined;
}

/**
 * The language of a notebook's cells: that of its metadata, else the one of its kernel, else TypeScript.
 * @returns the name as the notebook has it for a language that is not run here
 */
export function readNotebookLanguage(metadata: Record<string, unknown>): NotebookLanguage | { other: string } {
  const language = fieldsOf(metadata['language_info'])['name'] ?? fieldsOf(metadata['kernelspec'])['language'];
  if (typeof language !== 'string') return languageOfKernel(readKernelName(metadata) ?? '');
  return notebookLanguages.find((each) => each === language.toLowerCase()) ?? { other: language };
}

const fieldsOf = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {});
