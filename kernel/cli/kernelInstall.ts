import { kernelDisplayName, kernelName } from '#session/kernelspec.ts';
import { installKernelspec } from '#session/kernelspecs/install.ts';
import { parse } from './command.ts';
import { installation, thisNode } from './installation.ts';
import { placeArgument, placeOptions } from './specPlace.ts';
import { typeCheckArgument } from './typeCheckArgument.ts';

const options = {
  ...placeOptions,
  name: { type: 'string' },
  'display-name': { type: 'string' },
  catalog: { type: 'string' },
  'type-check': { type: 'string' },
} as const;

/** `kernel install`: makes the kernel known to Jupyter. */
export async function install(args: readonly string[]): Promise<number> {
  const { values } = parse(args, options);
  const { name = kernelName, catalog } = values;
  // Without letters nobody could choose it.
  const displayName =
    values['display-name']?.trim() || (name === kernelName ? kernelDisplayName : `TypeScript (${name})`);
  const spec = await installKernelspec({
    place: placeArgument(values) ?? { kind: 'user' },
    name,
    displayName,
    catalog,
    typeCheck: typeCheckArgument(values['type-check']),
    installation,
    node: thisNode(),
  });
  console.log(`Installed the kernel "${displayName}" in ${spec}`);
  return 0;
}
