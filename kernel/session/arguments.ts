import { parseArgs } from 'node:util';
import { messageOf } from '#shared/errors.ts';
import { catalogOfArgument } from './catalogArgument.ts';
import type { Front } from './coreMessages.ts';

/** Set to `off`, cells are not remembered for later kernels. */
export const historyVariable = 'LANCE_CATALOG_HISTORY';
const isOff = (value: string | undefined): boolean => /^(off|no|false|0)$/i.test(value ?? '');

/** Reads a kernel's command line: one front, and for Jupyter the catalog that is `db`. */
export function parseKernelArguments(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): { front: Front } | { problem: string } {
  const usage = 'Use --pipe, or --connection-file=FILE with --catalog=DIR or --catalog=ADDRESS if wanted.';
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        pipe: { type: 'boolean' },
        'connection-file': { type: 'string' },
        catalog: { type: 'string' },
        'no-history': { type: 'boolean' },
      },
    });
    if (values.pipe) return { front: { kind: 'pipe' } };
    const connectionFile = values['connection-file'];
    if (!connectionFile) return { problem: `A kernel needs a front. ${usage}` };
    const catalog = catalogOfArgument(values.catalog, env);
    const keepsHistory = !values['no-history'] && !isOff(env[historyVariable]);
    return { front: { kind: 'jupyter', connectionFile, catalog, keepsHistory } };
  } catch (error) {
    return { problem: `${messageOf(error)}. ${usage}` };
  }
}
