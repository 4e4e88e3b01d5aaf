import { writeSqlTable } from '#catalog/names/sqlNames.ts';
import { quotedName } from '#shared/sqlTokens.ts';
import { cutText } from '#shared/format/markup.ts';
import { countText } from '#shared/format/numbers.ts';
import { displayPath } from '#shared/names.ts';
import type { PanelReview, ReviewAction } from '#shared/protocol/webviewMessages.ts';
import type { ViewConnection, ViewFile } from '#shared/viewFile.ts';
import { connectionLabel } from '../connections/connectionRules.ts';
import type { Connection } from '../explorer/node.ts';
import type { ViewTextProblem } from './viewFileText.ts';

/** What is known about a view file before anything of it runs. */
export type ReviewedFile = {
  readonly file: ViewFile;
  /** The connection of the user that the file means. */
  readonly connection: Connection | undefined;
  readonly isTrusted: boolean;
  /** Whether the file is on this machine, and not an old version of it in a comparison. */
  readonly isFile: boolean;
};

/** Returns what a page shows before the rows: the connection, the table and the SQL, all as data. */
export function reviewOf({ file, connection, isTrusted, isFile }: ReviewedFile): PanelReview {
  const { table, version, view, columns } = file;
  const { where: _, orderBy: __, ...others } = view;
  const target = connection ? `${connection.name}: ${connectionLabel(connection)}` : describeTarget(file.connection);
  const facts = [
    { label: 'Connection', text: target },
    { label: 'Table', text: displayPath(table) },
    { label: 'Version', text: version === undefined ? 'newest' : String(version) },
    ...Object.entries(others).map(([label, value]) => ({ label, text: shortJson(value) })),
    ...(columns && columns.hidden.length > 0
      ? [{ label: 'Hidden columns', text: countText(columns.hidden.length) }]
      : []),
  ];
  return {
    title: `View of ${displayPath(table)}`,
    facts,
    sql: sqlOf(file),
    ...nextStep({ connection, isTrusted, isFile }),
  };
}

function nextStep({ connection, isTrusted, isFile }: Omit<ReviewedFile, 'file'>): {
  note: string;
  actions: ReviewAction[];
} {
  if (!isFile) return { note: 'Open the file in a folder to show its rows.', actions: ['openText'] };
  if (!isTrusted)
    return {
      note: 'This workspace is not trusted, so nothing of the file runs.',
      actions: ['manageTrust', 'openText'],
    };
  if (!connection) return { note: 'You have no connection to this catalog yet.', actions: ['connect', 'openText'] };
  return {
    note: 'Nothing of this file has run yet.',
    actions: ['showRows', 'alwaysShowRows', 'openText'],
  };
}

/** Returns what a page shows instead of a file that is not a view. */
export const reviewOfProblem = (name: string, { line, column, message }: ViewTextProblem): PanelReview => ({
  title: `Can't read ${name}`,
  facts: [],
  sql: null,
  note: `Line ${line}, column ${column}: ${message}`,
  actions: ['openText'],
});

function describeTarget(connection: ViewConnection): string {
  if (connection.kind === 'dir') return connection.path;
  return connection.database === undefined ? connection.uri : `${connection.uri}, database ${connection.database}`;
}

/** The condition is shown as it is written, because the engine gets it so. */
function sqlOf({ table, version, view }: ViewFile): string {
  const { where, orderBy } = view;
  return [
    'select *',
    `from ${writeSqlTable([...table])}${version === undefined ? '' : ` -- version ${version}`}`,
    ...(where.trim() === '' ? [] : [`where ${where}`]),
    ...(orderBy.length === 0
      ? []
      : [
          `order by ${orderBy.map(({ column, descending }) => `${quotedName(column)}${descending ? ' desc' : ''}`).join(', ')}`,
        ]),
  ].join('\n');
}

const maxJson = 300;

const shortJson = (value: unknown): string => cutText(JSON.stringify(value) ?? '', maxJson);
