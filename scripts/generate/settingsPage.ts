import { commands } from '../../extension/contributions/commands.ts';
import { keybindings } from '../../extension/contributions/menus.ts';
import { settings } from '../../extension/contributions/settings.ts';
import { isBoundSql, isTablePanel } from '../../extension/contributions/whenClauses.ts';

/** docs/settings.md: settings, commands and keys, from the contributions of package.json. */
export function settingsPage(): string {
  return [
    '# Settings and commands',
    'This page is generated from the contributions of the extension.',
    '## Settings',
    table(
      ['setting', 'default', 'description'],
      Object.entries(settings).map(([id, { default: value, description, markdownDescription }]) => [
        `\`${id}\``,
        `\`${JSON.stringify(value)}\``,
        markdownDescription ?? description ?? '',
      ]),
    ),
    '## Commands',
    'The commands of the category "Lance Catalog". Commands that need a row of a view are in the menus of the view, not in the palette.',
    table(
      ['command', 'id', 'key'],
      Object.entries(commands).map(([id, { title }]) => [title, `\`${id}\``, describeKey(id)]),
    ),
  ].join('\n\n');
}

function describeKey(id: string): string {
  const { key, mac, when = '' } = keybindings.find(({ command }) => command === id) ?? {};
  const where = when.includes(isBoundSql)
    ? 'in a SQL file with a connection'
    : when.includes(isTablePanel)
      ? 'in a table panel'
      : 'in the catalog view';
  return key === undefined ? '' : `${key}${mac === undefined ? '' : ` (macOS: ${mac})`}, ${where}`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => tableRow(cells)).join('\n');
}

const tableRow = (cells: readonly string[]): string =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
