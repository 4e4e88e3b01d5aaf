import { parseArgs } from 'node:util';
import { messageOf } from '#shared/errors.ts';
import type { CatalogConfig } from '#shared/kernelMessages.ts';
import type { Front } from './coreMessages.ts';

/** Reads a kernel's command line: one front, and for Jupyter the directory of `db`. */
export function parseKernelArguments(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): { front: Front } | { problem: string } {
  const usage = 'Use --pipe, or --connection-file=FILE with --catalog=DIR if wanted.';
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        pipe: { type: 'boolean' },
        'connection-file': { type: 'string' },
        catalog: { type: 'string' },
      },
    });
    if (values.pipe) return { front: { kind: 'pipe' } };
    const connectionFile = values['connection-file'];
    if (!connectionFile) return { problem: `A kernel needs a front. ${usage}` };
    const root = values.catalog ?? env['LANCE_CATALOG'];
    const catalog: CatalogConfig | null = root ? { implementation: 'dir', root } : null;
    return { front: { kind: 'jupyter', connectionFile, catalog } };
  } catch (error) {
    return { problem: `${messageOf(error)}. ${usage}` };
  }
}
