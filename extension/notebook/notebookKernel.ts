import {
  type NotebookLanguage,
  isTslabKernel,
  readKernelName,
  readNotebookLanguage,
} from '#shared/notebookLanguage.ts';
import { fieldsOf } from '#shared/records.ts';
import { notebookIds } from '../manifest.ts';

/** The metadata of a notebook as the editor has it, with the file's under `metadata`. */
type NotebookMetadata = Readonly<Record<string, unknown>>;

/**
 * Whether a notebook gets our kernel without being asked: it names ours, or one of tslab's that nothing else can start.
 * @param hasJupyter whether there is the Jupyter extension, with which the user chooses between tslab's kernel and ours
 */
export function isForOurKernel(metadata: NotebookMetadata, hasJupyter: boolean): boolean {
  const name = readKernelName(fieldsOf(metadata['metadata']));
  if (name === undefined) return false;
  return name === notebookIds.kernelspec || (isTslabKernel(name) && !hasJupyter);
}

/** The language in which our kernel takes the cells of a notebook. */
export function cellLanguage(metadata: NotebookMetadata): NotebookLanguage {
  const language = readNotebookLanguage(fieldsOf(metadata['metadata']));
  return typeof language === 'string' ? language : 'typescript';
}
