import * as path from 'node:path';
import * as vscode from 'vscode';
import { jobFileEnding } from '#shared/jobs/jobFile.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';
import type { BackfillRequest } from '#shared/jobs/backfill.ts';
import type { JobFile } from '#shared/jobs/jobFile.ts';
import type { JobTable } from '#shared/jobs/jobView.ts';
import { requestOfFile, type JobFileParts } from './request.ts';

/** Which documents are job files, by their names. */
export const jobFilePattern = `**/*${jobFileEnding}`;
export const jobFileSelector: vscode.DocumentSelector = { pattern: jobFilePattern };

export const isJobFile = ({ path: where }: vscode.Uri): boolean => where.endsWith(jobFileEnding);

/** Where files and catalogs of a job file are seen from. */
export const folderOfFile = ({ fsPath }: vscode.Uri): string => path.dirname(fsPath);

/** The text of a file as it is in the editor, saved or not. */
async function textOfFile(uri: vscode.Uri): Promise<string> {
  const open = vscode.workspace.textDocuments.find((one) => one.uri.toString() === uri.toString());
  return open?.getText() ?? (await vscode.workspace.openTextDocument(uri)).getText();
}

/** @throws JobError RequestInvalid with the first thing that is wrong in the file */
export async function readJobFileAt(uri: vscode.Uri): Promise<JobFile> {
  const { readJobText } = await import('./text.ts');
  const { file, problems, isJson } = readJobText(await textOfFile(uri));
  if (file) return file;
  const name = path.basename(uri.fsPath);
  const [first] = problems;
  if (!isJson) throw new JobError('RequestInvalid', `${name} is no JSON.`, 'Correct what the editor underlines.');
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
  throw new JobError('RequestInvalid', `${name}: ${first?.message ?? 'it can not be read.'}${more}`, '');
}

/** What a job file asks for. @throws JobError, CatalogError saying what is wrong */
export async function requestAt(
  parts: JobFileParts,
  uri: vscode.Uri,
  signal: AbortSignal,
): Promise<{ readonly request: BackfillRequest; readonly table: JobTable }> {
  return requestOfFile(parts, await readJobFileAt(uri), folderOfFile(uri), signal);
}
