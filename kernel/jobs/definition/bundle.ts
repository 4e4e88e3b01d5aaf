import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import type * as Esbuild from 'esbuild';
import type { BuildFailure, BuildOptions, Message } from 'esbuild';
import { packageFolder } from '#processes/bundleFile.ts';
import { messageOf } from '#shared/errors.ts';
import { sizeText } from '#shared/format/numbers.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';

// A function travels as one file that contains its imports. Bundling runs no code of the function.

/** Limit in bytes, because the bundle is stored on the table and loaded by every worker. */
export const maxCodeBytes = 8 * 2 ** 20;

export type ModuleText = {
  /** An ES module in TypeScript whose default export is the function. */
  readonly contents: string;
  /** Base folder of its imports. */
  readonly folder: string;
  /** Name for errors: a file name such as `words.ts`, or the name of the function. */
  readonly name: string;
  readonly isJsx?: boolean;
};

/** Returns extra folders to search for packages, so that every function can import the apache-arrow of this product. */
const lentPackages = (): string[] =>
  [import.meta.dirname, packageFolder()].map((folder) => join(folder, 'node_modules'));

/** The module has the same name for every file, because esbuild derives identifiers in the output from the name. */
const ownName = '<function>';

/** Loads esbuild lazily, because it is large. */
function esbuild(): typeof Esbuild {
  try {
    // esbuild is loaded by `require`, because an `import` would put it into our own bundle.
    return createRequire(import.meta.filename)('esbuild') as typeof Esbuild;
  } catch (cause) {
    throw noBundler(cause);
  }
}

/**
 * Returns the error for an esbuild that can't run. Every package of the extension contains the module of esbuild, but
 * only packages for a single platform contain its executable.
 */
const noBundler = (cause: unknown): JobError =>
  new JobError(
    'FunctionInvalid',
    `TypeScript functions can't be bundled here: ${messageOf(cause).split('\n')[0] ?? ''}`,
    'Install the extension package for this platform, or use a SQL expression or a Python function.',
    { cause },
  );

/**
 * Bundles a module into one that imports only Node.js modules.
 * The output depends on the sources alone, not on their location.
 * @throws JobError FunctionInvalid if the code does not compile, FunctionNotPortable if it can't run on another
 * machine
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
    // Removes comments, because they contain paths of source files.
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
    `The function "${name}" has ${sizeText(size)} of code with its imports, more than ${sizeText(maxCodeBytes)}. Its largest part is ${largestOf(metafile)}.`,
    'Import less, or use a Python function for this part.',
  );
}

/** CommonJS packages load Node.js modules by `require`, which ES modules lack. */
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
    const what = `The function "${name}" needs ${packageOf(file)}, which has native code and can't run on another machine${where}.`;
    return new JobError(
      'FunctionNotPortable',
      what,
      'Use a package without native code, or use a Python function for this part.',
      {
        cause,
      },
    );
  }
  const missing = /^Could not resolve "([^"]+)"/.exec(text)?.[1];
  if (missing === 'lance-catalog') {
    const what = `The function "${name}" imports 'lance-catalog'${where}, which does not exist where functions run.`;
    return new JobError('FunctionNotPortable', what, 'Pass the data as columns or constants.', { cause });
  }
  if (missing !== undefined) {
    const isOwn = /^[./]/.test(missing);
    const hint = isOwn ? `Check that the file exists, relative to ${folder}.` : `Install it: npm install ${missing}.`;
    return new JobError(
      'FunctionInvalid',
      `The function "${name}" imports '${missing}', which can't be found${where}.`,
      hint,
      {
        cause,
      },
    );
  }
  return new JobError(
    'FunctionInvalid',
    `The function "${name}" can't be compiled: ${text}${where}.`,
    'Fix the code.',
    {
      cause,
    },
  );
}

/** Describes the package of a file by the last `node_modules` in its path. */
function packageOf(file: string): string {
  const parts =
    file
      .split(/(?:^|[\\/])node_modules[\\/]/)
      .at(-1)
      ?.split(/[\\/]/) ?? [];
  const name = parts.slice(0, parts[0]?.startsWith('@') ? 2 : 1).join('/');
  return file.includes('node_modules') ? `the package "${name}"` : `"${file}"`;
}

/** Shortens the paths in the names that esbuild gives to CommonJS modules, because the paths depend on the folder. */
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
  return inputs[0]?.[0] ?? 'its own code';
}

/** Returns a path for messages: relative if the file is below the working directory. */
export function shownPath(file: string): string {
  const near = relative(process.cwd(), file);
  return near.startsWith('..') ? file : near || basename(dirname(file));
}
