import * as path from 'node:path';
import * as vscode from 'vscode';
import { JobError } from '#shared/jobs/jobErrors.ts';
import { readJobFile, type JobFile } from '#shared/jobs/jobFile.ts';
import { backfillTaskType } from '../../manifest.ts';
import type { Backfills } from '../runBackfills.ts';
import { BackfillTerminal } from './backfillTerminal.ts';
import { folderOfFile, jobFilePattern, readJobFileAt } from '../jobFile/jobFiles.ts';
import { requestOfFile, type JobFileDeps } from '../jobFile/request.ts';
import type { JobsHost } from '../jobsHost.ts';

type BackfillTasksDeps = JobFileDeps & { readonly host: JobsHost; readonly backfills: Backfills };

/** Limit of the listed job files. tasks.json can name further files. */
const maxFiles = 100;

/** Provides each job file of the folder as a task. Also runs tasks.json entries with a job file or its fields. */
export class BackfillTasks implements vscode.TaskProvider {
  readonly #parts: BackfillTasksDeps;

  constructor(parts: BackfillTasksDeps) {
    this.#parts = parts;
  }

  async provideTasks(): Promise<vscode.Task[]> {
    const found = await vscode.workspace.findFiles(jobFilePattern, '**/node_modules/**', maxFiles);
    return found.flatMap((uri) => {
      const folder = vscode.workspace.getWorkspaceFolder(uri);
      if (!folder) return [];
      const file = path.relative(folder.uri.fsPath, uri.fsPath);
      return [this.#task({ type: backfillTaskType, file }, folder, file)];
    });
  }

  resolveTask(task: vscode.Task): vscode.Task {
    const folder = typeof task.scope === 'object' ? task.scope : vscode.workspace.workspaceFolders?.[0];
    // The returned task must have the definition of the given task, because VS Code compares the two.
    return this.#task(task.definition, folder, task.name);
  }

  #task(definition: vscode.TaskDefinition, folder: vscode.WorkspaceFolder | undefined, name: string): vscode.Task {
    const { host, backfills } = this.#parts;
    const execution = new vscode.CustomExecution((resolved) =>
      Promise.resolve(
        new BackfillTerminal({
          host,
          backfills,
          request: async (signal) => {
            const asked = await askedBy({ ...definition, ...resolved }, folder);
            return requestOfFile(this.#parts, asked.file, asked.folder, signal);
          },
        }),
      ),
    );
    const task = new vscode.Task(
      definition,
      folder ?? vscode.TaskScope.Workspace,
      name,
      'Lance Catalog',
      execution,
      [],
    );
    task.detail = 'Backfill of a Lance table';
    return task;
  }
}

/** Returns the job file that a task names or contains. @throws JobError RequestInvalid if the file is not valid */
async function askedBy(
  definition: vscode.TaskDefinition,
  folder: vscode.WorkspaceFolder | undefined,
): Promise<{ readonly file: JobFile; readonly folder: string }> {
  const { type: _type, file, ...fields } = definition as Record<string, unknown>;
  const base = folder?.uri.fsPath ?? '';
  if (typeof file === 'string') {
    const more = Object.keys(fields);
    if (more.length > 0)
      throw new JobError(
        'RequestInvalid',
        `The task sets both "file" and "${more[0]}".`,
        `Set "${more[0]}" in the file instead.`,
      );
    const uri = vscode.Uri.file(path.resolve(base, file));
    return { file: await readJobFileAt(uri), folder: folderOfFile(uri) };
  }
  const { file: read, problems } = readJobFile(fields);
  if (read) return { file: read, folder: base };
  const [first] = problems;
  throw new JobError('RequestInvalid', `The task is not a valid backfill: ${first?.what ?? ''}`, first?.hint ?? '');
}
