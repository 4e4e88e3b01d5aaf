import { invalid } from './functionOptions.ts';

const block = /^# \/\/\/ script\s*\n((?:#(?: .*)?\r?\n)+?)# \/\/\/\s*$/m;
const hint = 'Use the syntax of inline script metadata (PEP 723): # dependencies = ["pillow>=11"].';

/**
 * Returns the pip requirements that a Python file declares in its script metadata (PEP 723). The list is empty if the
 * file has no such block.
 * @throws JobError FunctionInvalid if the list can't be parsed
 */
export function pythonDependencies(code: string): readonly string[] {
  const lines = block.exec(code.replaceAll('\r\n', '\n'))?.[1];
  if (lines === undefined) return [];
  const text = lines.replaceAll(/^# ?/gm, '');
  const list = /^dependencies\s*=\s*\[/m.exec(text);
  if (!list) return [];
  return readList(text.slice(list.index + list[0].length));
}

/** Parses a TOML array of strings, up to its closing bracket. */
function readList(text: string): string[] {
  const found: string[] = [];
  const token = /\s+|,|#[^\n]*|(\])|"([^"\\\n]*)"|'([^'\n]*)'/y;
  for (let match = token.exec(text); match; match = token.exec(text)) {
    const [, end, double, single] = match;
    if (end !== undefined) return found;
    const requirement = double ?? single;
    if (requirement === undefined) continue;
    // A pip option could set another package index. Only the cluster may configure that, so options are refused.
    if (requirement.trim().startsWith('-'))
      throw invalid(
        `The Python file requires ${JSON.stringify(requirement)}, which is not a valid package requirement.`,
        hint,
      );
    found.push(requirement);
  }
  throw invalid("Can't read the dependencies of the Python file.", hint);
}
