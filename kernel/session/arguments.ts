import { parseArgs } from 'node:util';
import { messageOf } from '#shared/errors.ts';
import { notebookLanguages, typeCheckModes } from '#shared/notebookLanguage.ts';
import { catalogOfArgument } from './catalogArgument.ts';
import type { Front } from '#session/threads/coreMessages.ts';

/** If set to `off`, no history of cells is kept for later kernels. */
const historyVariable = 'LANCE_CATALOG_HISTORY';
const isOff = (value: string | undefined): boolean => /^(off|no|false|0)$/i.test(value ?? '');

/** Reads the command line of a kernel process: `--pipe` from an editor, the other options from Jupyter. */
export function parseKernelArguments(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): { front: Front } | { problem: string } {
  const usage =
    'Use --pipe, or --connection-file=FILE, optionally with --catalog=DIR or --catalog=URL and with --type-check=MODE.';
  try {
    const { values } = parseArgs({
      args: [...args],
      // `jupyter run` also passes the name of the file to the kernel.
      allowPositionals: true,
      options: {
        pipe: { type: 'boolean' },
        'connection-file': { type: 'string' },
        // Only the launchers pass this option.
        relay: { type: 'string' },
        catalog: { type: 'string' },
        'type-check': { type: 'string' },
        language: { type: 'string' },
        'no-history': { type: 'boolean' },
      },
    });
    if (values.pipe) return { front: { kind: 'pipe' } };
    const connectionFile = values['connection-file'];
    if (!connectionFile) return { problem: `Can't start the kernel: no client connection is given. ${usage}` };
    const catalog = catalogOfArgument(values.catalog, env);
    const mode = values['type-check'];
    const typeCheck = typeCheckModes.find((each) => each === mode);
    if (mode !== undefined && !typeCheck)
      return { problem: `Expected one of ${typeCheckModes.join(', ')} for --type-check, got "${mode}".` };
    const language = notebookLanguages.find((each) => each === values.language);
    if (values.language !== undefined && !language)
      return { problem: `Expected ${notebookLanguages.join(' or ')} for --language, got "${values.language}".` };
    const keepsHistory = !values['no-history'] && !isOff(env[historyVariable]);
    const { relay } = values;
    return {
      front: {
        kind: 'jupyter',
        connectionFile,
        catalog,
        keepsHistory,
        ...(relay !== undefined && { relay }),
        ...(typeCheck && { typeCheck }),
        ...(language && { language }),
      },
    };
  } catch (error) {
    return { problem: `${messageOf(error)}. ${usage}` };
  }
}
