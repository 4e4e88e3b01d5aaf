import { readFileSync } from 'node:fs';
import { registerHooks, type LoadFnOutput } from 'node:module';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript-6';
import { messageOf } from '#shared/errors.ts';
import { cellOptions } from '#session/compile/cellOptions.ts';
import { isOwnUrl, type OwnFiles } from './ownFiles.ts';
import type { ScriptMaps } from './scriptMaps.ts';

const compiled = new Set(['.ts', '.tsx', '.mts', '.cts', '.jsx']);

/**
 * Lets Node itself load the person's own files as the ES modules they are, top-level await and cycles included: imports
 * between them resolve as TypeScript resolves them, and TypeScript is compiled on the way.
 */
export function hookOwnFiles(files: OwnFiles, maps: ScriptMaps, options: () => ts.CompilerOptions): void {
  registerHooks({
    resolve(specifier, context, next) {
      const { parentURL } = context;
      if (isOwnUrl(specifier)) return { url: specifier, shortCircuit: true, importAttributes: {} };
      if (parentURL === undefined || !isOwnUrl(parentURL)) return next(specifier, context);
      const file = files.resolve(specifier, fileURLToPath(parentURL));
      if (file === undefined) return next(specifier, context);
      // JSON becomes a module of its own below, so that an import with `type: 'json'` and one without are the same.
      return { url: files.urlOf(file), shortCircuit: true, importAttributes: {} };
    },
    load(url, context, next) {
      if (!isOwnUrl(url)) return next(url, context);
      const file = fileURLToPath(url);
      const extension = extname(file);
      if (extension === '.json') return jsonModule(file);
      return compiled.has(extension) ? compile(file, url, maps, options()) : next(url, context);
    },
  });
}

function jsonModule(file: string): LoadFnOutput {
  const text = readFileSync(file, 'utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new SyntaxError(`${file} is not JSON: ${messageOf(error)}`, { cause: error });
  }
  const names = typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.keys(value) : [];
  const exported = names
    .filter((name) => /^[a-zA-Z_$][\w$]*$/.test(name) && name !== 'default')
    .map((name, index) => `const v${index} = value[${JSON.stringify(name)}]; export { v${index} as ${name} };`);
  const source = `const value = JSON.parse(${JSON.stringify(text)});\nexport default value;\n${exported.join('\n')}`;
  return { format: 'module', source, shortCircuit: true };
}

function compile(file: string, url: string, maps: ScriptMaps, folderSays: ts.CompilerOptions): LoadFnOutput {
  const text = readFileSync(file, 'utf8');
  const isCommonJs = extname(file) === '.cts';
  const { outputText, diagnostics = [] } = ts.transpileModule(text, {
    fileName: file,
    reportDiagnostics: true,
    compilerOptions: {
      ...cellOptions(folderSays),
      declaration: false,
      isolatedModules: true,
      module: isCommonJs ? ts.ModuleKind.CommonJS : ts.ModuleKind.ESNext,
    },
  });
  const [problem] = diagnostics;
  if (problem?.file) {
    const { line, character } = problem.file.getLineAndCharacterOfPosition(problem.start ?? 0);
    const why = ts.flattenDiagnosticMessageText(problem.messageText, ' ');
    throw new SyntaxError(`${file}:${line + 1}:${character + 1} can't be compiled: ${why}`);
  }
  return { format: isCommonJs ? 'commonjs' : 'module', source: maps.add(url, outputText), shortCircuit: true };
}
