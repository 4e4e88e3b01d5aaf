import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isPath, missingFile } from './installedFiles.ts';

// Specifiers of imports: what they name, and the next step if there is no such module.

/** A package, as imports name it: `@scope/name@1.2/part`. */
type PackageName = { name: string; version: string; part: string };

const npmPrefix = 'npm:';
const packagePattern = /^((?:@[^/@:]+\/)?[^/@.#:][^/@:]*)(@[^/]+)?(\/.*)?$/;

function parsePackage(specifier: string): PackageName | undefined {
  const [, name, version = '', part = ''] = packagePattern.exec(specifier) ?? [];
  return name === undefined ? undefined : { name, version, part };
}

/**
 * Returns the specifier that Node.js resolves. Notebooks for Deno write `npm:zod@3.22/v4`, which names the module
 * `zod/v4` of an installed package.
 */
export function nodeSpecifier(specifier: string): string {
  if (!specifier.startsWith(npmPrefix)) return specifier;
  const found = parsePackage(specifier.slice(npmPrefix.length).replace(/^\//, ''));
  return found ? found.name + found.part : specifier;
}

/** Whether the message of Node.js is about this module, and not about a module that the module itself imports. */
export function reportsMissing(message: string, specifier: string): boolean {
  const name = nodeSpecifier(specifier);
  const quoted = [name, parsePackage(name)?.name].some((each) => each !== undefined && message.includes(`'${each}'`));
  // `import()` reports the scheme of a URL instead of the URL, and the path of a missing file of a package.
  return quoted || /^(?:jsr|https?):/.test(name) || message.includes(`/node_modules/${name}' `);
}

/**
 * Returns the next step for a module that does not exist, as a sentence; undefined if there is none.
 * @param folder folder of the importing file
 * @param called the name of a missing file in the sentence
 */
export function missingModuleStep(specifier: string, folder: string, called?: string): string | undefined {
  if (isPath(specifier)) return missingFile(specifier, folder, called);
  const [, scheme] = /^(jsr|https?):/.exec(specifier) ?? [];
  if (scheme === 'jsr') return "Node.js can't import from JSR, the registry of Deno. Use an npm package.";
  if (scheme !== undefined)
    return "Node.js can't import from a URL. Save the file next to the notebook, or use an npm package.";
  const isNpm = specifier.startsWith(npmPrefix);
  const found = parsePackage(isNpm ? specifier.slice(npmPrefix.length).replace(/^\//, '') : specifier);
  if (!found) return undefined;
  const { name, version, part } = found;
  const at = installedFolder(name, folder);
  if (at === undefined) return `Run %install ${name}${isNpm ? version : ''} in a cell.`;
  return part === ''
    ? undefined
    : `The package "${name}" in "${at}" has no module "${part.slice(1)}". Check the name of the module.`;
}

/** Returns the folder in which a package is installed for the code of a folder; undefined if it is not installed. */
function installedFolder(name: string, folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const found = join(at, 'node_modules', name);
    if (statSync(found, { throwIfNoEntry: false })?.isDirectory()) return found;
    if (dirname(at) === at) return undefined;
  }
}
