import { commands, help } from '../../kernel/cli/commands.ts';

/** docs/command-line.md: the help of every command, as the terminal prints it. */
export async function commandLinePage(): Promise<string> {
  const sections = await Promise.all(
    Object.entries(commands).map(async ([name, load]) => section(name, (await load()).help)),
  );
  return [
    '# Command line',
    'This page is generated from `--help`. In a checkout run `npm run lance-catalog -- COMMAND`.',
    block(await help()),
    ...sections,
  ].join('\n\n');
}

const section = (name: string, text: string): string => `## ${name}\n\n${block(text)}`;

const block = (text: string): string => `\`\`\`text\n${text.trimEnd()}\n\`\`\``;
