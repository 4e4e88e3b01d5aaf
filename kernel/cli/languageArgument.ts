import { notebookLanguages, type NotebookLanguage } from '#shared/notebookLanguage.ts';
import { UsageError } from './command.ts';

export const languageHelp = `  --language LANGUAGE   language of the cells: typescript, or javascript, whose types are not checked (default: typescript;
                      javascript for a kernel named "jslab")`;

/** The language that `--language` names. @throws UsageError for a language that is not run here */
export function languageArgument(argument: string | undefined): NotebookLanguage | undefined {
  if (argument === undefined) return undefined;
  const language = notebookLanguages.find((each) => each === argument);
  if (language) return language;
  throw new UsageError(`Expected ${notebookLanguages.join(' or ')} for --language, got "${argument}".`);
}
