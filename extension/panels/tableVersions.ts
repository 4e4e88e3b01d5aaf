import type { CallOptions } from '#catalog/arguments/options.ts';
import type { Table, VersionInfo } from '#catalog/table/table.ts';
import { messageIn } from '#shared/nextSteps.ts';
import type { PickChoice } from '../host/messages.ts';

/** The calls of a table that its versions need. */
export type VersionReader = Pick<Table, 'listVersions' | 'tags'>;

/** The versions of a table, newest first, and its tags. A list that the server does not have is empty. */
export type TableVersions = {
  readonly versions: readonly Pick<VersionInfo, 'version' | 'timestamp'>[];
  readonly tags: Readonly<Record<string, number>>;
  /** Why the versions can't be listed. */
  readonly problem?: string | undefined;
};

/** @throws the reason if the signal aborts */
export async function readVersions(table: VersionReader, options: CallOptions): Promise<TableVersions> {
  const [versions, tags] = await Promise.allSettled([table.listVersions(options), table.tags().list(options)]);
  options.signal?.throwIfAborted();
  const problem = versions.status === 'rejected' ? messageIn('editor', versions.reason) : undefined;
  const named =
    tags.status === 'rejected' ? [] : [...tags.value].map(([name, { version }]) => [name, version] as const);
  return {
    versions: versions.status === 'rejected' ? [] : versions.value.toReversed(),
    tags: Object.fromEntries(named),
    ...(problem !== undefined && { problem }),
  };
}

/** What the user chose: a version, or the newest one, also when there are newer ones later. */
export type VersionChoice = number | 'newest';

/** Versions in the list. Others are found by their number. */
const maxListed = 2_000;

/**
 * Returns the rows of the list: newest first, tags before them. A number that is typed is a row, too, because the list
 * may lack it.
 */
export function versionChoices(
  { versions, tags, problem }: TableVersions,
  shown: number | undefined,
  typed: string,
): PickChoice<VersionChoice>[] {
  const tagsOf = (version: number): string[] => Object.keys(tags).filter((name) => tags[name] === version);
  const newest = versions[0]?.version;
  const rows = versions.slice(0, maxListed).map(({ version, timestamp }): PickChoice<VersionChoice> => {
    const facts = [
      ...(version === newest ? ['newest'] : []),
      ...(version === shown ? ['shown'] : []),
      ...tagsOf(version).map((tag) => `tag ${tag}`),
    ];
    return {
      label: `Version ${version}`,
      description: [timeText(timestamp), ...facts].join(' · '),
      value: version === newest ? 'newest' : version,
    };
  });
  const tagged = Object.entries(tags).map(([tag, version]): PickChoice<VersionChoice> => {
    return { label: tag, icon: 'tag', description: `version ${version}`, value: version };
  });
  const number = /^\s*(?:version\s+)?(\d{1,15})\s*$/i.exec(typed)?.[1];
  const isListed = versions.slice(0, maxListed).some(({ version }) => version === Number(number));
  const wanted: PickChoice<VersionChoice>[] =
    number === undefined || isListed || Number(number) < 1
      ? []
      : [
          {
            label: `Version ${Number(number)}`,
            description: 'not in the list',
            value: Number(number),
            isAlwaysShown: true,
          },
        ];
  if (problem === undefined) return [...wanted, ...tagged, ...rows];
  // The row tells why the list is empty, and chooses the newest version.
  const newestRow: PickChoice<VersionChoice> = {
    label: 'Newest version',
    detail: `${problem} Type the number of a version to open it.`,
    value: 'newest',
    isAlwaysShown: true,
  };
  return [...wanted, newestRow, ...tagged];
}

const timeText = (time: Date): string => time.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
