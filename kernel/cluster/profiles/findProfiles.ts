import { dirname, join, resolve } from 'node:path';
import {
  findNodeAtLocation,
  getNodeValue,
  parseTree,
  printParseErrorCode,
  type Node,
  type ParseError,
} from 'jsonc-parser';
import { ClusterError, isClusterError } from '#cluster/errors.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import { readRegularFile } from '#cluster/wholeFile.ts';
import { isRecord } from '#shared/records.ts';
import { readProfile } from './profileReader.ts';
import { placeOfError, profilesSetting, profilesVariable } from './settingPath.ts';

export type FoundProfiles = {
  /** The variable or file with the profiles, for display; `undefined` if there are no profiles. */
  readonly source: string | undefined;
  readonly names: readonly string[];
  /** Reads one profile, so that errors in other profiles do not matter. @throws ClusterError ProfileInvalid */
  profile(name: string): ClusterProfile;
};

type FindProfilesOptions = {
  /** The folder where the search for settings starts. The search continues in the folders above. */
  readonly folder: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** A settings file to use instead of searching. */
  readonly settings?: string | undefined;
};

/**
 * Finds the cluster profiles outside an editor: in the given settings file, else in `LANCE_CATALOG_CLUSTERS`, else in
 * the nearest `.vscode/settings.json` upwards that has profiles.
 * @throws ClusterError ProfileInvalid naming file and line
 */
export async function findProfiles(options: FindProfilesOptions): Promise<FoundProfiles> {
  const { folder, environment, settings } = options;
  if (settings !== undefined) {
    const file = resolve(folder, settings);
    const text = await readText(file);
    if (text === undefined)
      throw new ClusterError('ProfileInvalid', `There is no settings file ${file}.`, 'Check the path.');
    return profilesIn(file, text, true, dirname(file)) ?? noProfiles;
  }
  const variable = environment[profilesVariable];
  if (variable) return profilesIn(profilesVariable, variable, false, folder) ?? noProfiles;
  for (const above of foldersUp(resolve(folder))) {
    const file = join(above, '.vscode', 'settings.json');
    const text = await readText(file);
    const found = text === undefined ? undefined : profilesIn(file, text, true, above);
    if (found) return withOrigin(found, file);
  }
  return noProfiles;
}

/**
 * Marks the profiles as found by searching. The user may not know the settings file, for instance if it is in a
 * repository that was just cloned.
 */
const withOrigin = (found: FoundProfiles, settingsFile: string): FoundProfiles => ({
  ...found,
  profile: (name) => {
    const profile = found.profile(name);
    return { ...profile, auth: { ...profile.auth, foundIn: { settingsFile, profile: name } } };
  },
});

const noProfiles: FoundProfiles = {
  source: undefined,
  names: [],
  profile: (name) => {
    throw new ClusterError(
      'ProfileInvalid',
      `There is no cluster profile "${name}": none were found.`,
      `Write it into .vscode/settings.json below "${profilesSetting}", or set ${profilesVariable}.`,
    );
  },
};

function foldersUp(folder: string): readonly string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...foldersUp(above)];
}

async function readText(file: string): Promise<string | undefined> {
  try {
    return await readRegularFile(file);
  } catch (cause) {
    const { code } = cause as { code?: unknown };
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new ClusterError('ProfileInvalid', `Can't read ${file} (${String(code)}).`, 'Check its permissions.', {
      cause,
    });
  }
}

/** Returns the profiles in `text`, or `undefined` if settings have none. */
function profilesIn(source: string, text: string, isSettings: boolean, folder: string): FoundProfiles | undefined {
  // An empty file has no profiles, because an editor treats it as empty settings.
  if (isSettings && text.trim() === '') return undefined;
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error) {
    throw new ClusterError(
      'ProfileInvalid',
      `${source}:${lineAt(text, error.offset)} is not JSON: ${mistakeOf(error)}.`,
      'Fix the JSON.',
    );
  }
  const node = isSettings && tree ? findNodeAtLocation(tree, [profilesSetting]) : tree;
  if (!node) return undefined;
  const value: unknown = getNodeValue(node);
  if (!isRecord(value)) {
    throw new ClusterError(
      'ProfileInvalid',
      `${source}:${lineAt(text, node.offset)}: ${profilesSetting} must be an object with profiles by name.`,
      'Write { "name": { … } }.',
    );
  }
  const names = Object.keys(value);
  return {
    source,
    names,
    profile: (name) => {
      if (!names.includes(name)) throw unknownProfile(name, names, source);
      try {
        return readProfile(name, value[name], folder);
      } catch (cause) {
        throw isClusterError(cause) ? inFile(cause, source, text, node) : cause;
      }
    },
  };
}

const unknownProfile = (name: string, names: readonly string[], source: string): ClusterError =>
  new ClusterError(
    'ProfileInvalid',
    `There is no cluster profile "${name}" in ${source}.`,
    names.length === 0 ? 'It has no profiles.' : `It has ${names.join(', ')}.`,
  );

/** Adds the file and line to an error. */
function inFile(error: ClusterError, source: string, text: string, profiles: Node): ClusterError {
  const path = placeOfError(error) ?? [];
  // A missing setting has no line, so the line of its parent is used.
  const steps = path.map((_, index) => path.slice(0, path.length - index));
  const node = steps.map((one) => findNodeAtLocation(profiles, [...one])).find((one) => one !== undefined) ?? profiles;
  const line = lineAt(text, node.offset);
  return new ClusterError(error.kind, `${source}:${line}: ${error.what}`, error.hint, { cause: error });
}

const mistakes: Readonly<Record<string, string>> = {
  PropertyNameExpected: 'the name of a setting in double quotes is missing',
  ValueExpected: 'a value is missing',
  ColonExpected: 'a colon is missing',
  CommaExpected: 'a comma is missing',
  CloseBraceExpected: 'a closing brace is missing',
  CloseBracketExpected: 'a closing bracket is missing',
  EndOfFileExpected: 'there is text after its end',
  UnexpectedEndOfComment: 'a comment is not closed',
  UnexpectedEndOfString: 'a string is not closed',
  InvalidEscapeCharacter: 'an escape sequence is not valid',
};

function mistakeOf({ error }: ParseError): string {
  const name = printParseErrorCode(error);
  return mistakes[name] ?? `it has a character or word that is not valid (${name})`;
}

const lineAt = (text: string, offset: number): number => text.slice(0, offset).split('\n').length;
