import * as path from 'node:path';
import * as vscode from 'vscode';
import { jobFileEnding } from '#shared/jobs/jobFile.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';
import { jobTableText } from '#shared/jobs/jobLabels.ts';
import { pickOne, withProgress } from '../../host/ask.ts';
import { showInformation } from '../../host/messages.ts';
import { registerCommand } from '../../host/commands.ts';
import type { Log } from '../../host/log.ts';
import type { Backfills } from '../runBackfills.ts';
import { isJobFile, jobFilePattern, requestAt } from './jobFiles.ts';
import type { JobFileDeps } from './request.ts';
import type { JobPage } from '../jobPage.ts';
import type { JobPages } from '../jobPages.ts';
import { PlanSession, type PlanSessionDeps } from '../backfill/planSession.ts';

type JobFileCommandDeps = JobFileDeps & {
  readonly log: Log;
  readonly backfills: Backfills;
  readonly pages: JobPages;
  readonly session: PlanSessionDeps;
};

export function registerJobFileCommands(parts: JobFileCommandDeps): vscode.Disposable {
  const { log, pages, backfills } = parts;
  return vscode.Disposable.from(
    registerCommand(log, 'lanceCatalog.backfill.fromFile', async (given) => {
      const uri = given instanceof vscode.Uri ? given : await askFile();
      if (uri) await planFile(parts, uri);
    }),
    registerCommand(log, 'lanceCatalog.jobFile.check', async (given) => {
      const uri = fileOf(given);
      const { request, table, plan: found } = await planned(parts, uri, 'Checking');
      if (!found) return;
      const plan = 'Plan';
      const choice = await showInformation(
        `${nameOf(uri)} can be run: "${request.column}" of ${jobTableText(table)}.`,
        plan,
      );
      if (choice === plan) await planFile(parts, uri);
    }),
    registerCommand(log, 'lanceCatalog.jobFile.plan', async (given) => void (await planFile(parts, fileOf(given)))),
    registerCommand(log, 'lanceCatalog.jobFile.try', async (given) => {
      const page = await planFile(parts, fileOf(given));
      await page?.act('try');
    }),
    registerCommand(log, 'lanceCatalog.jobFile.run', async (given) => {
      const uri = fileOf(given);
      const started = await withProgress(`Starting ${nameOf(uri)}…`, async (signal) => {
        const { request } = await requestAt(parts, uri, signal);
        return backfills.start(request, signal);
      });
      if (started) pages.show(started.id);
    }),
  );
}

/** @returns the page of the plan; `undefined` if checks of the cluster fail and the user cancels */
async function planFile(parts: JobFileCommandDeps, uri: vscode.Uri): Promise<JobPage | undefined> {
  const { request, table, plan } = await planned(parts, uri, 'Planning');
  return plan && parts.pages.showPlan(new PlanSession(parts.session, request, table, plan));
}

const planned = (parts: JobFileCommandDeps, uri: vscode.Uri, doing: 'Checking' | 'Planning') =>
  withProgress(`${doing} ${nameOf(uri)}…`, async (signal) => {
    const asked = await requestAt(parts, uri, signal);
    return { ...asked, plan: await parts.backfills.plan(asked.request, signal) };
  });

/** Limit of the listed files. The user can open all others with "Browse…". */
const maxFiles = 200;

async function askFile(): Promise<vscode.Uri | undefined> {
  const found = await vscode.workspace.findFiles(jobFilePattern, '**/node_modules/**', maxFiles);
  if (found.length === 0) return browse();
  const chosen = await pickOne<vscode.Uri | 'browse'>('Select the backfill to launch', [
    ...found
      .toSorted((a, b) => (a.path < b.path ? -1 : 1))
      .map((uri) => ({
        label: nameOf(uri),
        description: vscode.workspace.asRelativePath(path.dirname(uri.fsPath)),
        icon: 'json',
        value: uri,
      })),
    { label: 'Browse…', icon: 'folder-opened', value: 'browse' },
  ]);
  return chosen === 'browse' ? browse() : chosen;
}

async function browse(): Promise<vscode.Uri | undefined> {
  const [file] =
    (await vscode.window.showOpenDialog({
      title: `Launch a Backfill from a File (*${jobFileEnding})`,
      openLabel: 'Plan',
      filters: { 'Job file': ['json'] },
    })) ?? [];
  return file;
}

const nameOf = ({ fsPath }: vscode.Uri): string => path.basename(fsPath);

/** Returns the job file of the argument, else of the active editor. @throws JobError RequestInvalid if none is open */
function fileOf(given: unknown): vscode.Uri {
  const uri = given instanceof vscode.Uri ? given : vscode.window.activeTextEditor?.document.uri;
  if (uri && isJobFile(uri)) return uri;
  throw new JobError('RequestInvalid', 'No job file is open.', `Open one whose name ends with ${jobFileEnding}.`);
}
