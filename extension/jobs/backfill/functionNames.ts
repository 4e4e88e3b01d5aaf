// Names of functions in a file, for a person to pick from. They are found by how people write them; who writes otherwise
// names the function in a job file.

/** The exports of a TypeScript file that are made by `udf(…)`; `default` for that export. */
export function typescriptFunctions(text: string): readonly string[] {
  const named = [...text.matchAll(/^export\s+const\s+([\p{ID_Start}$_][\p{ID_Continue}$]*)[^=\n]*=\s*udf\b/gmu)];
  const hasDefault = /^export\s+default\b/m.test(text);
  return [...(hasDefault ? ['default'] : []), ...named.flatMap(([, name]) => name ?? [])];
}

type PythonFunction = { readonly name: string; readonly parameters: readonly string[] };

/** The functions, and classes of objects that can be called, at the outermost level of a Python file. */
export function pythonFunctions(text: string): readonly PythonFunction[] {
  const functions = [...text.matchAll(/^def\s+([A-Za-z]\w*)\s*\(([^)]*)\)/gm)].map(([, name = '', list = '']) => ({
    name,
    parameters: parametersOf(list),
  }));
  const classes = [...text.matchAll(/^class\s+([A-Za-z]\w*)[^\n]*:\n((?:[ \t]+.*\n|\s*\n)*)/gm)].flatMap(
    ([, name = '', body = '']) => {
      const called = /^[ \t]+def\s+__call__\s*\(\s*self\s*,?([^)]*)\)/m.exec(body);
      return called ? [{ name, parameters: parametersOf(called[1] ?? '') }] : [];
    },
  );
  return [...functions, ...classes];
}

/** Names of parameters; those with a default need not be given. */
const parametersOf = (list: string): string[] =>
  list
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '' && !one.includes('=') && !one.startsWith('*') && one !== '/')
    .map((one) => one.replace(/\s*:.*$/s, ''));
