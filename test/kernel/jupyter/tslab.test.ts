import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inRoot } from '../../../scripts/paths.ts';
import { python } from '../../harness/needs/python.ts';
import { tempFolder } from '../../harness/temp.ts';
import { cliEntry, command } from '../support.ts';
import { installedKernel } from './jupyterHome.ts';
import { differences, type Event, type FeatureNotebook, helperFile, notebooks } from './tslabNotebooks.ts';

/** A message of a kernel, as printed by notebooks.py. */
type Message = { type: string; content: Record<string, unknown>; cell: number };
type Seen = Record<string, Message[][]>;

const script = inRoot('test/kernel/python/notebooks.py');

/** The names of our kernels in Jupyter, beside tslab's own kernels, which keep tslab's names. */
const ours = { tslab: 'lance-typescript', jslab: 'lance-javascript' } as const;

suite('Notebooks made for tslab and jslab', function () {
  this.timeout(200_000);
  let byTslab: Map<string, Event[][]>;
  let byUs: Map<string, Event[][]>;

  suiteSetup(async () => {
    const { home, env } = await installedKernel();
    const install = ['kernel', 'install', '--name', ours.jslab, '--language', 'javascript'];
    const { code, stderr } = await command(process.execPath, [cliEntry, ...install], { env });
    assert.equal(code, 0, stderr);
    for (const name of ['tslab', 'jslab'] as const) installTslab(home, name);
    const folder = tempFolder();
    writeFileSync(join(folder, helperFile.name), helperFile.text);
    [byTslab, byUs] = await Promise.all([
      runAll((name) => name, folder, env),
      runAll((name) => ours[name], folder, env),
    ]);
  });

  for (const [title, { cells }] of Object.entries(notebooks))
    test(`give what they give in tslab: ${title}`, () => {
      for (const [cell, code] of cells.entries()) {
        const [there, here] = [byTslab.get(title)?.[cell], byUs.get(title)?.[cell]];
        const known = differences.find((each) => each.notebook === title && each.cell === cell);
        assert.deepEqual(there, known?.tslab ?? there, `tslab: ${code}`);
        assert.deepEqual(here, known?.ours ?? there, code);
        if (known) assert.notDeepEqual(here, there, `No difference any more: ${code}`);
      }
    });

  test('differ only in cells that there are', () => {
    for (const { notebook, cell } of differences)
      assert.notEqual(notebooks[notebook]?.cells[cell], undefined, `${notebook}, cell ${cell}`);
  });
});

suite('lance-catalog run of a notebook made for tslab', function () {
  this.timeout(120_000);

  test('takes the kernelspec of tslab, and keeps it', async () => {
    const saved = await runSaved('tslab', "import { display } from 'tslab';\ndisplay.html('<b>' + limit + '</b>');");
    assert.deepEqual(saved.cell?.outputs, [
      { output_type: 'display_data', data: { 'text/html': ['<b>7</b>'] }, metadata: {} },
    ]);
    assert.deepEqual(saved.metadata['kernelspec'], { name: 'tslab', display_name: 'tslab' });
    assert.equal(saved.metadata['language_info']?.['name'], 'typescript');
  });

  test('takes the kernelspec of jslab, does not check types, and writes parameters without them', async () => {
    const code = "const tslab = require('tslab');\nlimit += 'a';\ntslab.display.text(limit);";
    const saved = await runSaved('jslab', code);
    assert.deepEqual(saved.cell?.outputs, [
      { output_type: 'display_data', data: { 'text/plain': ['7a'] }, metadata: {} },
    ]);
    assert.deepEqual(saved.metadata['kernelspec'], { name: 'jslab', display_name: 'jslab' });
    assert.equal(saved.metadata['language_info']?.['name'], 'javascript');
  });
});

type Saved = { cells: { outputs: unknown[] }[]; metadata: Record<string, Record<string, unknown>> };

const codeCell = (source: string, tags: readonly string[]) => ({
  cell_type: 'code',
  source,
  metadata: { tags },
  outputs: [],
  execution_count: null,
});

/** Runs a notebook of tslab with a parameter `limit`, and returns the last cell of the saved file. */
async function runSaved(
  name: 'tslab' | 'jslab',
  code: string,
): Promise<{ cell: Saved['cells'][number] | undefined; metadata: Saved['metadata'] }> {
  const [notebook, target] = ['in.ipynb', 'out.ipynb'].map((each) => join(tempFolder(), each));
  const cells = [codeCell('const limit = 5', ['parameters']), codeCell(code, [])];
  const metadata = { kernelspec: { name, display_name: name } };
  writeFileSync(notebook!, JSON.stringify({ cells, metadata, nbformat: 4, nbformat_minor: 4 }));
  const args = [cliEntry, 'run', notebook!, '-p', 'limit=7', '-o', target!];
  const { code: status, stderr } = await command(process.execPath, args, { seconds: 100 });
  assert.equal(status, 0, stderr);
  const saved = JSON.parse(readFileSync(target!, 'utf8')) as Saved;
  return { cell: saved.cells.at(-1), metadata: saved.metadata };
}

/** Installs a kernelspec that starts the tslab in node_modules, as tslab's own installer does. */
function installTslab(home: string, name: 'tslab' | 'jslab'): void {
  const folder = join(home, 'jupyter/kernels', name);
  mkdirSync(folder, { recursive: true });
  const program = [process.execPath, inRoot('node_modules/tslab/bin/tslab'), 'kernel'];
  const argv = [...program, '--config-path', '{connection_file}', ...(name === 'jslab' ? ['--js'] : [])];
  const language = name === 'jslab' ? 'javascript' : 'typescript';
  writeFileSync(join(folder, 'kernel.json'), JSON.stringify({ argv, display_name: name, language }));
}

/** Runs all notebooks, one kernel per language. */
async function runAll(
  nameOf: (name: FeatureNotebook['kernel']) => string,
  folder: string,
  env: Record<string, string>,
): Promise<Map<string, Event[][]>> {
  const found = new Map<string, Event[][]>();
  for (const kernel of ['tslab', 'jslab'] as const) {
    const some = Object.entries(notebooks).filter(([, notebook]) => notebook.kernel === kernel);
    const file = join(tempFolder(), 'notebooks.json');
    writeFileSync(file, JSON.stringify(Object.fromEntries(some.map(([title, { cells }]) => [title, cells]))));
    const { code, stdout, stderr } = await command(python(), [script, nameOf(kernel), folder, file], {
      env,
      seconds: 150,
    });
    assert.equal(code, 0, stderr);
    for (const [title, cells] of Object.entries(JSON.parse(stdout) as Seen)) found.set(title, toEvents(cells));
  }
  return found;
}

/** Converts the cells of a notebook to events. Numbers the displays, because their ids are random. */
function toEvents(cells: readonly Message[][]): Event[][] {
  const ids: unknown[] = [];
  const idOf = (id: unknown): number => (ids.includes(id) ? ids.indexOf(id) : ids.push(id) - 1);
  return cells.map((messages, index) => {
    const events: Event[] = [];
    for (const { type, content, cell } of messages) {
      const { data = {}, transient, name, text } = content as Content;
      const of = cell === index ? {} : { cell };
      const id = transient?.display_id === undefined ? {} : { id: idOf(transient.display_id) };
      if (type === 'stream' && (name === 'stdout' || name === 'stderr')) print(events, name, String(text));
      else if (type === 'display_data') events.push({ display: data, ...id, ...of });
      else if (type === 'update_display_data') events.push({ update: data, id: idOf(transient?.display_id), ...of });
      else if (type === 'execute_result') events.push({ result: String(data['text/plain']) });
      else if (type === 'error') events.push({ error: `${String(content['ename'])}: ${String(content['evalue'])}` });
      else assert.fail(`A message of the type ${type}`);
    }
    return events;
  });
}

type Content = {
  data?: Record<string, unknown>;
  transient?: { display_id?: unknown };
  name?: unknown;
  text?: unknown;
};

/** Adds printed text. From the stack that tslab prints for an error, only the line of the error is used. */
function print(events: Event[], name: 'stdout' | 'stderr', text: string): void {
  const error = /evalmachine/.test(text) ? /^\w*Error: .*$/m.exec(text)?.[0] : undefined;
  const last = events.at(-1);
  if (name === 'stdout') {
    if (last && 'stdout' in last) last.stdout += text;
    else events.push({ stdout: text });
  } else if (error === undefined && last && 'stderr' in last) last.stderr += text;
  else events.push({ stderr: error ?? text });
}
