import { isSecretOption } from '#client/storageSecrets.ts';
import { UsageError } from './command.ts';

/** What a command that reaches object stores takes beside its own options. */
export const storageArguments = {
  'storage-option': { type: 'string', multiple: true },
  'storage-option-env': { type: 'string', multiple: true },
} as const;

export const storageHelp = `  --storage-option NAME=VALUE        a setting of the object store, for instance aws_region=eu-west-1
  --storage-option-env NAME=VARIABLE the same with the value of an environment variable, for secrets;
                                     the store's own variables (AWS_ACCESS_KEY_ID, …) are read anyway`;

/**
 * The settings of an object store. `side` is `from` or `to` where a command has two of them, as part of the options'
 * names. A secret is not taken from the command line, which every user of a machine can read.
 * @throws UsageError for one that is, for what is no `NAME=VALUE`, and for a variable that is not set
 */
export function storageOptions(
  values: { 'storage-option'?: string[] | undefined; 'storage-option-env'?: string[] | undefined },
  side?: string,
): Record<string, string> | undefined {
  const option = side === undefined ? '--storage-option' : `--${side}-storage-option`;
  const options: Record<string, string> = {};
  for (const text of values['storage-option'] ?? []) {
    const [name, value] = pair(option, text);
    if (isSecretOption(name)) {
      throw new UsageError(
        `"${name}" is a secret: put it into an environment variable, ${option}-env ${name}=VARIABLE.`,
      );
    }
    options[name] = value;
  }
  for (const text of values['storage-option-env'] ?? []) {
    const [name, variable] = pair(`${option}-env`, text);
    options[name] = fromEnvironment(variable);
  }
  return Object.keys(options).length > 0 ? options : undefined;
}

/** The value of an environment variable that an option names. @throws UsageError when it is not set or empty */
export function fromEnvironment(variable: string): string {
  const value = process.env[variable];
  if (value) return value;
  throw new UsageError(`The environment variable ${variable} is not set.`);
}

function pair(option: string, text: string): [name: string, value: string] {
  const split = text.indexOf('=');
  // Not repeated: it may be a secret.
  if (split < 1) throw new UsageError(`${option} needs NAME=VALUE.`);
  return [text.slice(0, split), text.slice(split + 1)];
}
