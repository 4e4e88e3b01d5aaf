import { invalid } from './functionOptions.ts';

const block = /^# \/\/\/ script\s*\n((?:#(?: .*)?\r?\n)+?)# \/\/\/\s*$/m;
const hint = 'Write it as "Inline script metadata" of Python says: # dependencies = ["pillow>=11"].';

/**
 * Packages that a Python file says it needs, by the block that Python has for it (PEP 723): requirements as pip takes them.
 * None where it has no such block.
 * @throws JobError FunctionInvalid for a block whose list cannot be read
 */
export function pythonDependencies(code: string): readonly string[] {
  const lines = block.exec(code.replaceAll('\r\n', '\n'))?.[1];
  if (lines === undefined) return [];
  const text = lines.replaceAll(/^# ?/gm, '');
  const list = /^dependencies\s*=\s*\[/m.exec(text);
  if (!list) return [];
  return readList(text.slice(list.index + list[0].length));
}

/** The texts of a TOML array, up to its end: all that such a list may hold. */
function readList(text: string): string[] {
  const found: string[] = [];
  const token = /\s+|,|#[^\n]*|(\])|"([^"\\\n]*)"|'([^'\n]*)'/y;
  for (let match = token.exec(text); match; match = token.exec(text)) {
    const [, end, double, single] = match;
    if (end !== undefined) return found;
    const requirement = double ?? single;
    if (requirement === undefined) continue;
    // An option of pip would say where to look for packages, which is the cluster's to say.
    if (requirement.trim().startsWith('-'))
      throw invalid(`The Python file asks for the package ${JSON.stringify(requirement)}, which is none.`, hint);
    found.push(requirement);
  }
  throw invalid('What the Python file says of its dependencies cannot be read.', hint);
}
