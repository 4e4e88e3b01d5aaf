import type { SpecPlace } from '#session/kernelspecs/place.ts';
import { UsageError } from './command.ts';

/** Options that say where a kernelspec is. */
export const placeOptions = {
  user: { type: 'boolean' },
  'sys-prefix': { type: 'boolean' },
  prefix: { type: 'string' },
} as const;

/** What they said. @throws UsageError for more than one */
export function placeArgument(values: {
  user?: boolean | undefined;
  'sys-prefix'?: boolean | undefined;
  prefix?: string | undefined;
}): SpecPlace | undefined {
  const places: SpecPlace[] = [];
  if (values.user) places.push({ kind: 'user' });
  if (values['sys-prefix']) places.push({ kind: 'sys-prefix' });
  if (values.prefix !== undefined) places.push({ kind: 'prefix', folder: values.prefix });
  if (places.length > 1) throw new UsageError('Give one of --user, --sys-prefix and --prefix.');
  return places[0];
}
