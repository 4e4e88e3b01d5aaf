import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { isRecord } from '#shared/records.ts';
import type { FoundSpec } from './list.ts';
import { launcherOf, nodeCommand } from './spec.ts';

export type SpecState =
  | { works: true; version: string; installation: string; node: string; nodeVersion: string }
  | { works: false; why: string };

const limitMs = 20_000;
const run = promisify(execFile);

/** Runs the launcher of one of our kernelspecs with `--which`, and checks that this kernel can load ZeroMQ. */
export async function stateOf({ argv, isReadable }: FoundSpec): Promise<SpecState> {
  if (!isReadable) return { works: false, why: `Its kernel.json is not a valid kernelspec. ${again}` };
  const command = nodeCommand(argv);
  const script = command === argv ? undefined : argv[1];
  if (script !== undefined && !existsSync(script)) return { works: false, why: gone(script) };
  const [program = '', ...rest] = command;
  const args = [...rest.slice(0, launcherOf(rest) + 1), '--which'];
  try {
    const { stdout } = await run(program, args, { timeout: limitMs, windowsHide: true });
    const said: unknown = JSON.parse(stdout);
    if (!isRecord(said)) throw new Error('The launcher printed no result.');
    const [entry, version, node, nodeVersion] = ['entry', 'version', 'node', 'nodeVersion'].map((key) =>
      String(said[key]),
    );
    const installation = dirname(dirname(entry!));
    const problem = await zeroMqProblem(node!, installation);
    if (problem !== undefined) return { works: false, why: problem };
    return { works: true, version: version!, installation, node: node!, nodeVersion: nodeVersion! };
  } catch (error) {
    if (Object(error).code === 'ENOENT') return { works: false, why: gone(program) };
    const words = lastWordsOf(error);
    // The launcher's own message says how to fix the problem, so it is shown. A stack trace is not.
    const isOwn = words !== undefined && !isError.test(words);
    return {
      works: false,
      why: isOwn ? words : `Its launcher does not start (${words ?? 'unknown reason'}). ${again}`,
    };
  }
}

const isError = /^\w*Error: /;
const again = 'Run "lance-catalog kernel install" again.';
const gone = (file: string): string => `"${file}" no longer exists. ${again}`;

/** Checks that ZeroMQ loads. A Jupyter kernel needs this native package to start; a kernel of VS Code does not. */
async function zeroMqProblem(node: string, installation: string): Promise<string | undefined> {
  try {
    await run(node, ['-e', 'require("zeromq")'], { cwd: installation, timeout: limitMs, windowsHide: true });
    return undefined;
  } catch (error) {
    return `The kernel in "${installation}" can't load ZeroMQ (${lastWordsOf(error) ?? 'unknown reason'}). Install Lance Catalog again.`;
  }
}

/** Returns the message of a failed program: the first line with an error name, else the first line of stderr. */
function lastWordsOf(error: unknown): string | undefined {
  const { stderr } = Object(error) as { stderr?: unknown };
  const lines = typeof stderr === 'string' ? stderr.split('\n').filter((line) => line.trim() !== '') : [];
  return lines.find((line) => isError.test(line)) ?? lines[0];
}
