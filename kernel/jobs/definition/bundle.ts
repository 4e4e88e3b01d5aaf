import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import type * as Esbuild from 'esbuild';
import type { BuildFailure, BuildOptions, Message } from 'esbuild';
import { messageOf } from '#shared/errors.ts';
import { sizeText } from '#shared/format/numbers.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';

// A function travels as one file: its own text and all that it imports. The bundler runs here and nothing of the function does.

/** The most bytes of a bundle: it is kept on the table, and started for every worker. */
export const maxCodeBytes = 8 * 2 ** 20;

export type ModuleText = {
  /** An ES module in TypeScript whose default export is the function. */
  readonly contents: string;
  /** Where its imports are resolved from. */
  readonly folder: string;
  /** For errors: `words.ts`, or what the function is called. */
  readonly name: string;
  readonly isJsx?: boolean;
};

/** Where packages are looked for that the folder has not: apache-arrow is lent to every notebook. */
const lentPackages = (): string[] => {
  const here = import.meta.dirname;
  return basename(here) === 'dist'
    ? [join(here, 'node_modules'), join(here, '..', 'node_modules')]
    : [join(here, '../../../node_modules')];
};

/** What the module is called in its bundle: names in there are made of it, and are to be the same for every file. */
const ownName = '<function>';

/** Loaded when the first function is defined, and not before: it is a program of its own. */
function esbuild(): typeof Esbuild {
  try {
    // Said so by name and not by `import`, since it stays outside of our bundles.
    return createRequire(import.meta.filename)('esbuild') as typeof Esbuild;
  } catch (cause) {
    throw noBundler(cause);
  }
}

/** Its module is everywhere, and its program in the packages of platforms alone. */
const noBundler = (cause: unknown): JobError =>
  new JobError(
    'FunctionInvalid',
    `TypeScript functions can't be bundled here: ${messageOf(cause).split('\n')[0] ?? ''}`,
    'Use the package of the extension that is made for this platform, a SQL expression or a Python function.',
    { cause },
  );

/**
 * Bundles a module into one that imports nothing but modules of Node. Equal sources give equal code wherever they are.
 * @throws JobError FunctionInvalid for code that does not compile, FunctionNotPortable for what can't travel
 */
export function bundleFunction(module: ModuleText): string {
  const { contents, folder, name } = module;
  const options: BuildOptions = {
    stdin: { contents, resolveDir: folder, sourcefile: ownName, loader: module.isJsx ? 'tsx' : 'ts' },
    absWorkingDir: folder,
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    nodePaths: lentPackages(),
    // Comments name the files that the parts come from.
    minifyWhitespace: true,
    legalComments: 'none',
    logLevel: 'silent',
    metafile: true,
    banner: { js: requireOfNode },
  };
  const { outputFiles, metafile } = run(options, name);
  const code = withoutPlaces(outputFiles?.[0]?.text ?? '');
  const unused = code.startsWith(requireOfNode) && !/\brequire\b/.test(code.slice(requireOfNode.length));
  const bundle = (unused ? code.slice(requireOfNode.length) : code).trim();
  const size = Buffer.byteLength(bundle);
  if (size <= maxCodeBytes) return `${bundle}\n`;
  throw new JobError(
    'FunctionNotPortable',
    `The function "${name}" has ${sizeText(size)} of code with all that it imports, more than ${sizeText(maxCodeBytes)}. The largest of it is ${largestOf(metafile)}.`,
    'Import less of it, or do that part in a Python function.',
  );
}

/** CommonJS packages ask for modules of Node by `require`, which an ES module has not. */
const requireOfNode = `import{createRequire as $createRequire}from'node:module';const require=$createRequire(import.meta.url);\n`;

function run(options: BuildOptions, name: string) {
  const { buildSync } = esbuild();
  try {
    return buildSync(options as BuildOptions & { metafile: true });
  } catch (error) {
    if (!isBuildFailure(error)) throw noBundler(error);
    throw explained(error.errors, options.absWorkingDir ?? '', name, error);
  }
}

const isBuildFailure = (error: unknown): error is BuildFailure =>
  error instanceof Error && 'errors' in error && Array.isArray(error.errors);

function explained(errors: readonly Message[], folder: string, name: string, cause: unknown): JobError {
  const [first] = errors;
  const text = first?.text ?? messageOf(cause);
  const at = first?.location;
  const where = at ? ` (${at.file === ownName ? name : at.file}:${at.line}:${at.column + 1})` : '';
  if (/No loader is configured for "\.node" files/.test(text)) {
    const file = /"\.node" files: (.*)$/.exec(text)?.[1] ?? '';
    const what = `The function "${name}" needs ${packageOf(file)}, which has native code and can't travel${where}.`;
    return new JobError('FunctionNotPortable', what, 'Use a package without, or do that part in a Python function.', {
      cause,
    });
  }
  const missing = /^Could not resolve "([^"]+)"/.exec(text)?.[1];
  if (missing === 'lance-catalog') {
    const what = `The function "${name}" needs 'lance-catalog'${where}, which is not there where functions run.`;
    return new JobError('FunctionNotPortable', what, 'Give it what it needs as columns or constants.', { cause });
  }
  if (missing !== undefined) {
    const isOwn = /^[./]/.test(missing);
    const hint = isOwn ? `Look whether the file is there, from ${folder}.` : `Install it: npm install ${missing}.`;
    return new JobError(
      'FunctionInvalid',
      `The function "${name}" imports '${missing}', which is not found${where}.`,
      hint,
      {
        cause,
      },
    );
  }
  return new JobError(
    'FunctionInvalid',
    `The function "${name}" can't be compiled: ${text}${where}.`,
    'Mend the code.',
    {
      cause,
    },
  );
}

/** The package that a file belongs to: what follows the last `node_modules`. */
function packageOf(file: string): string {
  const parts =
    file
      .split(/(?:^|[\\/])node_modules[\\/]/)
      .at(-1)
      ?.split(/[\\/]/) ?? [];
  const name = parts.slice(0, parts[0]?.startsWith('@') ? 2 : 1).join('/');
  return file.includes('node_modules') ? `the package "${name}"` : `"${file}"`;
}

/** CommonJS modules are named by their paths, which are others in another folder. */
const withoutPlaces = (code: string): string =>
  code.replace(
    /(__(?:commonJS|esm)(?:Min)?\(\{)"((?:[^"\\]|\\.)*)"/g,
    (_, head: string, path: string) =>
      `${head}"${
        path
          .split('node_modules/')
          .at(-1)
          ?.replace(/^(?:\.\.\/)+/, '') ?? ''
      }"`,
  );

function largestOf(metafile: { inputs: Record<string, { bytes: number }> } | undefined): string {
  const inputs = Object.entries(metafile?.inputs ?? {}).toSorted(([, a], [, b]) => b.bytes - a.bytes);
  return inputs[0]?.[0] ?? 'its own text';
}

/** A path as errors name it: from the working directory where it is below it. */
export function shownPath(file: string): string {
  const near = relative(process.cwd(), file);
  return near.startsWith('..') ? file : near || basename(dirname(file));
}
