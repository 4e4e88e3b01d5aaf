import { removeKernelspec } from '#session/kernelspecs/remove.ts';
import { UsageError, parse } from './command.ts';
import { placeArgument, placeOptions } from './specPlace.ts';

/** `kernel remove`: takes one of our kernelspecs away. */
export async function remove(args: readonly string[]): Promise<number> {
  const { values, positionals } = parse(args, placeOptions, true);
  const [name, ...more] = positionals;
  if (name === undefined || more.length > 0) throw new UsageError('"kernel remove" needs one NAME.');
  const folder = await removeKernelspec(name, placeArgument(values));
  console.log(`Removed the kernel "${name}" from ${folder}`);
  return 0;
}
