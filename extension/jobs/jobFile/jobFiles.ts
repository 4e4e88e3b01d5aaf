import * as path from 'node:path';
import * as vscode from 'vscode';
import { type JobFile, jobFileEnding } from '#shared/jobs/jobFile.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';
import type { BackfillRequest } from '#shared/jobs/backfill.ts';
import type { JobTable } from '#shared/jobs/jobView.ts';
import { requestOfFile, type JobFileDeps } from './request.ts';

/** Job files are identified by their names. */
export const jobFilePattern = `**/*${jobFileEnding}`;
export const jobFileSelector: vscode.DocumentSelector = { pattern: jobFilePattern };

export const isJobFile = ({ path: where }: vscode.Uri): boolean => where.endsWith(jobFileEnding);

/** Returns the folder to which paths in a job file are relative. */
export const folderOfFile = ({ fsPath }: vscode.Uri): string => path.dirname(fsPath);

/** Returns the text of a file, including unsaved changes. */
async function textOfFile(uri: vscode.Uri): Promise<string> {
  const open = vscode.workspace.textDocuments.find((one) => one.uri.toString() === uri.toString());
  return open?.getText() ?? (await vscode.workspace.openTextDocument(uri)).getText();
}

/** @throws JobError RequestInvalid with the first error in the file */
export async function readJobFileAt(uri: vscode.Uri): Promise<JobFile> {
  const { readJobText } = await import('./text.ts');
  const { file, problems, isJson } = readJobText(await textOfFile(uri));
  if (file) return file;
  const name = path.basename(uri.fsPath);
  const [first] = problems;
  if (!isJson)
    throw new JobError(
      'RequestInvalid',
      `Can't read job file "${name}": it is not valid JSON.`,
      'Fix the errors that the editor underlines.',
    );
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
  throw new JobError('RequestInvalid', `${name}: ${first?.message ?? "it can't be read."}${more}`, '');
}

/** @throws JobError, CatalogError if the file is not valid */
export async function requestAt(
  parts: JobFileDeps,
  uri: vscode.Uri,
  signal: AbortSignal,
): Promise<{ readonly request: BackfillRequest; readonly table: JobTable }> {
  return requestOfFile(parts, await readJobFileAt(uri), folderOfFile(uri), signal);
}
