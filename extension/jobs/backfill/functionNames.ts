// Finds functions in a file for the user to pick from. Finds only the usual forms of definitions. To use any other
// function, the user names it in a job file.

/**
 * Returns the names of the constants that a TypeScript file creates with `udf(…)` and exports. If the file has a
 * default export, `default` comes first.
 */
export function typescriptFunctions(text: string): readonly string[] {
  const named = [...text.matchAll(/^export\s+const\s+([\p{ID_Start}$_][\p{ID_Continue}$]*)[^=\n]*=\s*udf\b/gmu)];
  const hasDefault = /^export\s+default\b/m.test(text);
  return [...(hasDefault ? ['default'] : []), ...named.flatMap(([, name]) => name ?? [])];
}

type PythonFunction = { readonly name: string; readonly parameters: readonly string[] };

/** Returns the top-level functions and callable classes of a Python file. */
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

/** Returns the names of the parameters without a default value. */
const parametersOf = (list: string): string[] =>
  list
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '' && !one.includes('=') && !one.startsWith('*') && one !== '/')
    .map((one) => one.replace(/\s*:.*$/s, ''));
