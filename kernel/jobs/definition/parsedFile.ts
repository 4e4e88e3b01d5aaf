import ts from 'typescript-6';
import { shownPath } from './bundle.ts';
import { invalid } from './functionOptions.ts';

/**
 * The text of a file of functions as the compiler reads it. It reads what is broken too, as it was probably meant: what would
 * run then is not what somebody wrote.
 * @throws JobError FunctionInvalid with the place of the first mistake
 */
export function parsedFile(path: string, text: string): ts.SourceFile {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const [first] = (file as { parseDiagnostics?: readonly ts.DiagnosticWithLocation[] }).parseDiagnostics ?? [];
  if (!first) return file;
  const { line, character } = file.getLineAndCharacterOfPosition(first.start);
  const said = ts.flattenDiagnosticMessageText(first.messageText, ' ').replace(/\.$/, '');
  throw invalid(
    `${shownPath(path)} can't be compiled: ${said} (line ${line + 1}, column ${character + 1}).`,
    'Mend the code.',
  );
}
