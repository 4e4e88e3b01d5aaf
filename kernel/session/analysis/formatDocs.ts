import type ts from 'typescript-6';
import type { Described } from '#shared/protocol/languageMessages.ts';

type Parts = {
  displayParts?: readonly ts.SymbolDisplayPart[] | undefined;
  documentation?: readonly ts.SymbolDisplayPart[] | undefined;
  tags?: readonly ts.JSDocTagInfo[] | undefined;
};

/** Returns a type as code, and its documentation as Markdown. */
export const codeAndDocumentation = ({ displayParts, documentation, tags }: Parts): Described => ({
  code: plain(displayParts),
  documentation: [linked(documentation), ...(tags ?? []).map(tagText)].filter((text) => text !== '').join('\n\n'),
});

export const plain = (parts: readonly ts.SymbolDisplayPart[] | undefined): string =>
  withoutAnyRows((parts ?? []).map(({ text }) => text).join(''));

/** Removes the type of rows from the types of tables and queries whose columns are not known. */
export const withoutAnyRows = (code: string): string => code.replace(/\b(Table|Query|TakeQuery)<any, any>/g, '$1');

/** Whether TypeScript does not know a name. TypeScript reports only `any` for such a name. */
export const isUnknown = ({ displayParts }: Parts): boolean => plain(displayParts) === 'any';

/** Joins display parts to Markdown. A `{@link name}` spans several parts. The parts become one name, as code. */
export function linked(parts: readonly ts.SymbolDisplayPart[] | undefined): string {
  return plain(parts).replace(
    /\{@link(?:code|plain)?\s+([^}|\s]+)(?:[\s|]+([^}]+))?\}/g,
    (_, target: string, text?: string) =>
      /^https?:/.test(target) ? `[${text ?? target}](${target})` : `\`${text ?? target}\``,
  );
}

function tagText({ name, text }: ts.JSDocTagInfo): string {
  const body = linked(text).trim();
  if (name === 'example') return /```/.test(body) ? body : `\`\`\`typescript\n${body}\n\`\`\``;
  if (body === '') return `*@${name}*`;
  const [, subject, rest] = /^([\w$.[\]]+)\s+(?:-\s*)?([^]*)$/.exec(body) ?? [];
  if (name === 'param' && subject !== undefined) return `*@param* \`${subject}\`: ${rest}`;
  return `*@${name}* ${body}`;
}
