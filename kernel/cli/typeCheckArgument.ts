import { typeCheckModes, type TypeCheck } from '#shared/kernelMessages.ts';
import { UsageError } from './command.ts';

export const typeCheckHelp = `  --type-check MODE   what a type error does: "error" keeps its cell from running, "warn" is printed, "off" is not looked
                      for; "error" when nothing is said`;

/** What `--type-check` said. @throws UsageError for a mode that there is not */
export function typeCheckArgument(argument: string | undefined): TypeCheck | undefined {
  if (argument === undefined) return undefined;
  const mode = typeCheckModes.find((each) => each === argument);
  if (mode) return mode;
  throw new UsageError(`--type-check is one of ${typeCheckModes.join(', ')}, and "${argument}" is none.`);
}
