import { constants } from 'node:os';
import { startNode } from '#client/childProcess.ts';
import { kernelFlags } from '#client/nodeVersion.ts';
import { UsageError, parse } from './command.ts';
import { kernelEntry, thisNode } from './installation.ts';
import { languageArgument } from './languageArgument.ts';
import { typeCheckArgument } from './typeCheckArgument.ts';

const options = {
  'connection-file': { type: 'string' },
  catalog: { type: 'string' },
  'type-check': { type: 'string' },
  language: { type: 'string' },
} as const;

/** `kernel run`: a kernel as Jupyter starts it, and ends as it ends. */
export async function runKernel(args: readonly string[]): Promise<number> {
  const { values } = parse(args, options);
  const { 'connection-file': file, catalog } = values;
  if (file === undefined) throw new UsageError('"kernel run" needs --connection-file FILE.');
  const typeCheck = typeCheckArgument(values['type-check']);
  const language = languageArgument(values.language);
  const child = startNode({
    node: thisNode(),
    flags: kernelFlags(process.versions.node),
    entry: kernelEntry,
    args: [
      `--connection-file=${file}`,
      ...(catalog === undefined ? [] : [`--catalog=${catalog}`]),
      ...(typeCheck === undefined ? [] : [`--type-check=${typeCheck}`]),
      ...(language === undefined ? [] : [`--language=${language}`]),
    ],
    stdio: 'inherit',
  });
  // Ctrl-C reaches the kernel by itself, which leaves its meaning to the front.
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  return new Promise((resolveExit, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => resolveExit(signal ? 128 + constants.signals[signal] : (code ?? 1)));
  });
}
