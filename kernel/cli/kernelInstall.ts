import { kernelDisplayName, kernelName } from '#session/kernelspec.ts';
import { installKernelspec } from '#session/kernelspecs/install.ts';
import { isTslabKernel, languageOfKernel, type NotebookLanguage } from '#shared/notebookLanguage.ts';
import { parse } from './command.ts';
import { installation, thisNode } from './installation.ts';
import { languageArgument } from './languageArgument.ts';
import { placeArgument, placeOptions } from './specPlace.ts';
import { typeCheckArgument } from './typeCheckArgument.ts';

const options = {
  ...placeOptions,
  name: { type: 'string' },
  'display-name': { type: 'string' },
  catalog: { type: 'string' },
  'type-check': { type: 'string' },
  language: { type: 'string' },
} as const;

/** `kernel install`: makes the kernel known to Jupyter. */
export async function install(args: readonly string[]): Promise<number> {
  const { values } = parse(args, options);
  const { name = kernelName, catalog } = values;
  const language = languageArgument(values.language) ?? languageOfKernel(name);
  // Without letters nobody could choose it.
  const displayName = values['display-name']?.trim() || usualDisplayName(name, language);
  const spec = await installKernelspec({
    place: placeArgument(values) ?? { kind: 'user' },
    name,
    displayName,
    catalog,
    typeCheck: typeCheckArgument(values['type-check']),
    language,
    installation,
    node: thisNode(),
  });
  console.log(`Installed the kernel "${displayName}" in ${spec}`);
  return 0;
}

function usualDisplayName(name: string, language: NotebookLanguage): string {
  const title = language === 'javascript' ? 'JavaScript' : 'TypeScript';
  if (name === kernelName && language === 'typescript') return kernelDisplayName;
  // Beside tslab's own kernels of another environment, whose names in lists are the bare languages.
  return isTslabKernel(name) ? `${title} (Lance Catalog, ${name})` : `${title} (${name})`;
}
