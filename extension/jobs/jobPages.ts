import * as vscode from 'vscode';
import type { JobAction } from '#shared/jobs/jobPageMessages.ts';
import { showFailure } from '../host/commands.ts';
import { logFailure, type Log } from '../host/log.ts';
import { asRecord } from '#shared/records.ts';
import { panelTypes } from '../manifest.ts';
import { JobPage } from './jobPage.ts';
import type { JobsHost } from './jobsHost.ts';
import type { PlanSession } from './backfill/planSession.ts';

type JobPagesDeps = {
  readonly extensionUri: vscode.Uri;
  readonly log: Log;
  readonly host: JobsHost;
  readonly act: (action: JobAction, id: string) => Promise<void>;
};

/** Shows one page for each job, and one page for each plan that has not started a job. */
export class JobPages implements vscode.WebviewPanelSerializer, vscode.Disposable {
  readonly #parts: JobPagesDeps;
  readonly #pages = new Set<JobPage>();

  constructor(parts: JobPagesDeps) {
    this.#parts = parts;
  }

  get all(): readonly JobPage[] {
    return [...this.#pages];
  }

  isSeen(id: string): boolean {
    return this.all.some((page) => page.job === id && page.panel.visible);
  }

  show(id: string): JobPage {
    const open = this.all.find((page) => page.job === id);
    if (!open) return this.#adopt(this.#make(), id);
    open.panel.reveal();
    return open;
  }

  showPlan(session: PlanSession): JobPage {
    return this.#adopt(this.#make(), session);
  }

  async deserializeWebviewPanel(panel: vscode.WebviewPanel, state: unknown): Promise<void> {
    const { job } = asRecord(state);
    if (typeof job !== 'string') return panel.dispose();
    this.#adopt(panel, job);
    if (!vscode.workspace.isTrusted) return;
    await this.#parts.host.watch().catch((error: unknown) => logFailure(this.#parts.log, 'showing a job again', error));
  }

  dispose(): void {
    for (const page of this.all) page.panel.dispose();
  }

  #make(): vscode.WebviewPanel {
    return vscode.window.createWebviewPanel(panelTypes.job, 'Job', vscode.ViewColumn.Active);
  }

  #adopt(panel: vscode.WebviewPanel, content: string | PlanSession): JobPage {
    const { extensionUri, log, host, act } = this.#parts;
    const media = (name: string) => vscode.Uri.joinPath(extensionUri, 'media', name);
    panel.iconPath = { light: media('job-light.svg'), dark: media('job-dark.svg') };
    const onAct = (action: JobAction, id: string): Promise<void> =>
      act(action, id).catch((error: unknown) => {
        logFailure(log, `${action} of the job ${id}`, error);
        showFailure(log, error);
      });
    const page = new JobPage(panel, vscode.Uri.joinPath(extensionUri, 'dist'), { host, log, act: onAct }, content);
    this.#pages.add(page);
    panel.onDidDispose(() => this.#pages.delete(page));
    return page;
  }
}
