import { cellLanguages, type CellLanguage } from '#shared/kernelMessages.ts';
import { UsageError } from './command.ts';

export const languageHelp = `  --language LANGUAGE   language of the cells: typescript, or javascript, whose types are not checked (default: typescript;
                      javascript for a kernel named "jslab")`;

/** The language that `--language` names. @throws UsageError for a language that is not run here */
export function languageArgument(argument: string | undefined): CellLanguage | undefined {
  if (argument === undefined) return undefined;
  const language = cellLanguages.find((each) => each === argument);
  if (language) return language;
  throw new UsageError(`Expected ${cellLanguages.join(' or ')} for --language, got "${argument}".`);
}
