import {
  type NotebookLanguage,
  isTslabKernel,
  readKernelName,
  readNotebookLanguage,
} from '#shared/notebookLanguage.ts';
import { asRecord } from '#shared/records.ts';
import { notebookIds } from '../manifest.ts';

/** VS Code's metadata of a notebook. Its property `metadata` is the metadata in the file. */
type NotebookMetadata = Readonly<Record<string, unknown>>;

/**
 * Whether the Lance kernel is preselected. The notebook names either the Lance kernel, or a tslab kernel that no other
 * extension can start.
 * @param hasJupyter whether the Jupyter extension is installed, which lets the user choose between tslab's kernel and
 * ours
 */
export function isForOurKernel(metadata: NotebookMetadata, hasJupyter: boolean): boolean {
  const name = readKernelName(asRecord(metadata['metadata']));
  if (name === undefined) return false;
  return name === notebookIds.kernelspec || (isTslabKernel(name) && !hasJupyter);
}

/** Returns the language in which the Lance kernel runs the cells of a notebook. */
export function cellLanguage(metadata: NotebookMetadata): NotebookLanguage {
  const language = readNotebookLanguage(asRecord(metadata['metadata']));
  return typeof language === 'string' ? language : 'typescript';
}
