import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { FunctionSource } from '#shared/jobs/jobMessages.ts';
import type { ExtensionApi } from '../../../extension/extension.ts';
import { eventually, extensionApi, run } from '../support.ts';
import { ended, type JobsWorld, makeJobsWorld } from './jobsSupport.ts';

type Notice = { readonly level: string; readonly text: string; readonly buttons: readonly string[] };

/**
 * Stands in for the notifications of the window, which host tests can't see. It records them, and presses a button of
 * the first one.
 */
class NoticesStandIn implements Disposable {
  readonly shown: Notice[] = [];
  readonly #window = vscode.window;
  readonly #before = { ...pick(vscode.window) };

  constructor(press: string) {
    const show =
      (level: string) =>
      (text: string, ...buttons: string[]): Promise<string | undefined> => {
        this.shown.push({ level, text, buttons });
        return Promise.resolve(this.shown.length === 1 ? buttons.find((one) => one === press) : undefined);
      };
    Object.assign(this.#window, {
      showInformationMessage: show('information'),
      showWarningMessage: show('warning'),
      showErrorMessage: show('error'),
    });
  }

  [Symbol.dispose](): void {
    Object.assign(this.#window, this.#before);
  }
}

const pick = ({ showInformationMessage, showWarningMessage, showErrorMessage }: typeof vscode.window) => ({
  showInformationMessage,
  showWarningMessage,
  showErrorMessage,
});

suite('the end of a backfill whose page is not visible', function () {
  this.timeout(180_000);
  const { signal } = new AbortController();
  let api: ExtensionApi;
  let world: JobsWorld;

  suiteSetup(async () => {
    api = await extensionApi();
    world = await makeJobsWorld(api, 'notices');
  });

  suiteTeardown(async () => {
    api.jobs.pages.dispose();
    api.panels.dispose();
    await world.remove();
  });

  async function runUnseen(column: string, source: FunctionSource): Promise<string> {
    const table = await api.jobs.references.of(world.place);
    const made = await api.jobs.host.request('readFunction', { table, column, source }, signal);
    const request = { table, column, function: made, runner: 'local', key: 'id' } as const;
    const started = await api.jobs.backfills.start(request, signal);
    assert.ok(started);
    await ended(api.jobs.host, started.id);
    return started.id;
  }

  test('is shown, and its button opens the table', async () => {
    using notices = new NoticesStandIn('Open Table');
    const id = await runUnseen('told', { kind: 'sql', expression: 'length(note)' });
    const [notice] = await eventually('the notification', () => notices.shown.length > 0 && notices.shown);
    assert.deepEqual(notice, {
      level: 'information',
      text: 'The backfill of "told" of shop/orders is done.',
      buttons: ['Open Table', 'Show Job'],
    });
    await eventually('the table', () => api.panels.all.some(({ title }) => title.includes('orders')));
    assert.equal(api.jobs.pages.isSeen(id), false);
  });

  test('of a failed one is shown with its reason; its buttons show and resume it', async () => {
    const file = join(world.folder, 'throws.ts');
    writeFileSync(
      file,
      `import { existsSync } from 'node:fs';
import { arrow, udf } from 'lance-catalog';
export default udf({ name: 'throws', input: ['id'], output: new arrow.Int32() }, ({ id }) => {
  if (Number(id) === 7 && !existsSync(${JSON.stringify(join(world.folder, 'mended'))})) throw new Error('no seven');
  return Number(id);
});
`,
    );
    let id: string;
    {
      using notices = new NoticesStandIn('Show Job');
      id = await runUnseen('throws', { kind: 'typescript', file });
      const [notice] = await eventually('the notification', () => notices.shown.length > 0 && notices.shown);
      assert.equal(notice?.level, 'error');
      assert.match(notice.text, /^The backfill of "throws" of shop\/orders failed\. .*no seven/);
      assert.deepEqual(notice.buttons, ['Show Job', 'Resume']);
      await eventually('the page of the job', () => api.jobs.pages.isSeen(id));
    }
    api.jobs.pages.dispose();
    {
      using notices = new NoticesStandIn('Resume');
      await run('lanceCatalog.jobs.resume', { kind: 'job', id });
      await eventually('the failure again', () => notices.shown.length === 1);
      writeFileSync(join(world.folder, 'mended'), '');
      await eventually('its end', () => api.jobs.host.board.get(id)?.state === 'succeeded', 120_000);
    }
  });

  test('leads to the table and to its code by the commands of its row too', async () => {
    const id = await runUnseen('rowed', { kind: 'sql', expression: 'length(note)' });
    await run('lanceCatalog.jobs.copyCode', { kind: 'job', id });
    assert.match(await vscode.env.clipboard.readText(), /\.backfill\("rowed"/);
    api.panels.dispose();
    await run('lanceCatalog.jobs.openTable', { kind: 'job', id });
    assert.ok(api.panels.all.some(({ title }) => title.includes('orders')));
  });
});
