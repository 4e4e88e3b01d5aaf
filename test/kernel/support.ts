import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ConnectionHandler, InputHandler, ViewHandler } from '#processes/kernelConversation.ts';
import { KernelProcess } from '#processes/kernelProcess.ts';
import type { CatalogConfig } from '#shared/catalogConfig.ts';
import type { ExecuteReply, KernelOutput, MimeBundle, TypeCheck } from '#shared/protocol/kernelMessages.ts';
import type { NotebookLanguage } from '#shared/notebookLanguage.ts';
import { makeSample } from '../../scripts/sample.ts';
import { inRoot } from '../../scripts/paths.ts';
import { shareKernelSnapshot } from '../harness/kernelSnapshot.ts';
import { tempFolder } from '../harness/temp.ts';

// These variables determine how the kernels of this process start. Child processes inherit them for their kernels.
Object.assign(process.env, shareKernelSnapshot(tempFolder()));

export const kernelEntry = inRoot('dist/kernel.cjs');
export const cliEntry = inRoot('dist/cli.cjs');
export const node = { path: process.execPath, env: {}, version: process.versions.node };

let made: Promise<string> | undefined;

/** Returns the directory of a sample catalog, created once per run of the layer. */
export const sampleCatalog = (): Promise<string> => (made ??= makeCatalog());

async function makeCatalog(): Promise<string> {
  const root = join(tempFolder(), 'catalog');
  mkdirSync(root);
  await makeSample(root);
  return root;
}

export const startKernel = (
  options: {
    cwd?: string;
    catalog?: CatalogConfig | null;
    env?: Record<string, string>;
    typeCheck?: TypeCheck;
    language?: NotebookLanguage;
    ask?: InputHandler;
    connection?: ConnectionHandler;
    view?: ViewHandler;
  } = {},
): Promise<KernelProcess> =>
  KernelProcess.start({
    entry: kernelEntry,
    node,
    cwd: options.cwd ?? tempFolder(),
    catalog: options.catalog ?? null,
    ...(options.env && { env: options.env }),
    ...(options.ask && { ask: options.ask }),
    ...(options.connection && { connection: options.connection }),
    ...(options.view && { view: options.view }),
    ...(options.typeCheck && { typeCheck: options.typeCheck }),
    ...(options.language && { language: options.language }),
  });

/** The kernel of a suite, started before its first test and ended after its last. */
export function kernelOfSuite(start: () => Promise<KernelProcess> = startKernel): () => KernelProcess {
  let kernel: KernelProcess;
  suiteSetup(async () => {
    kernel = await start();
  });
  suiteTeardown(() => kernel.shutdown());
  return () => kernel;
}

export type CellRun = { reply: ExecuteReply; outputs: KernelOutput[] };

export async function run(kernel: KernelProcess, code: string): Promise<CellRun> {
  const outputs: KernelOutput[] = [];
  const reply = await kernel.execute(code, (output) => outputs.push(output));
  return { reply, outputs };
}

/** Returns the value of a cell's last expression as text; the text of the error if it failed. */
export async function valueOf(kernel: KernelProcess, code: string): Promise<unknown> {
  const { outputs } = await run(kernel, code);
  return resultOf(outputs)?.['text/plain'] ?? errorOf(outputs)?.evalue;
}

export const resultOf = (outputs: readonly KernelOutput[]): MimeBundle | undefined =>
  outputs.find((output) => output.type === 'execute_result')?.content.data;

export const errorOf = (outputs: readonly KernelOutput[]) => outputs.find((output) => output.type === 'error')?.content;

export const printed = (outputs: readonly KernelOutput[], name: 'stdout' | 'stderr' = 'stdout'): string =>
  outputs
    .filter((output) => output.type === 'stream')
    .filter((output) => output.content.name === name)
    .map((output) => output.content.text)
    .join('');

export const sleep = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Waits until `find` returns a value, and returns it; fails at the time limit. */
export async function until<T>(what: string, find: () => T | undefined | false, seconds = 30): Promise<T> {
  for (const end = Date.now() + seconds * 1000; ; await sleep(20)) {
    const found = find();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > end) throw new Error(`Waited ${seconds} seconds for ${what}.`);
  }
}

export type Ran = { code: number | null; stdout: string; stderr: string };

/** Runs a command. If the command takes longer than `seconds`, kills it and its child processes. */
export function command(
  program: string,
  args: readonly string[],
  options: { env?: Record<string, string>; cwd?: string; seconds?: number } = {},
): Promise<Ran> {
  const { env, cwd, seconds = 60 } = options;
  const child = spawn(program, args, {
    env: { ...process.env, ...env },
    ...(cwd !== undefined && { cwd }),
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const ran: Ran = { code: null, stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (ran.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (ran.stderr += text));
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    }, seconds * 1000);
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve({ ...ran, code });
    });
  });
}
