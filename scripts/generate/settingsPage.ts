import { commands } from '../../extension/contributions/commands.ts';
import { keybindings } from '../../extension/contributions/menus.ts';
import { settings } from '../../extension/contributions/settings.ts';

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
  const { key, mac } = keybindings.find(({ command }) => command === id) ?? {};
  return key === undefined ? '' : `${key}${mac === undefined ? '' : ` (macOS: ${mac})`}, in the catalog view`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => tableRow(cells)).join('\n');
}

const tableRow = (cells: readonly string[]): string =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
