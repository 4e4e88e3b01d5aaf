import { readFileSync } from 'node:fs';
import { registerHooks, type LoadFnOutput } from 'node:module';
import { extname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import ts from 'typescript-6';
import { messageOf } from '#shared/errors.ts';
import { cellOptions } from '#session/compiler/cellOptions.ts';
import { nodeSpecifier } from '#session/compiler/missingModules.ts';
import { isOwnUrl, type OwnFiles } from './ownFiles.ts';
import type { ScriptMaps } from './scriptMaps.ts';

/** MIME types of `data:` URLs that Node can import. */
const dataTypes: ReadonlySet<string> = new Set(['text/javascript', 'application/json', 'application/wasm']);
const compiled = new Set(['.ts', '.tsx', '.mts', '.cts', '.jsx']);

/**
 * Lets Node load the user's files as ES modules, with top-level await and cycles. Imports between these files resolve
 * as in TypeScript, and TypeScript is compiled when loaded.
 */
export function hookOwnFiles(files: OwnFiles, maps: ScriptMaps, options: () => ts.CompilerOptions): void {
  registerHooks({
    resolve(specifier, context, next) {
      const { parentURL } = context;
      if (isOwnUrl(specifier)) return { url: specifier, shortCircuit: true, importAttributes: {} };
      if (parentURL === undefined || !isOwnUrl(parentURL)) return next(specifier, context);
      const file = files.resolve(specifier, fileURLToPath(parentURL));
      if (file === undefined) return next(nodeSpecifier(specifier), context);
      // The attribute is dropped: JSON becomes a module below, so imports with and without `type: 'json'` give the same
      // module.
      return { url: files.urlOf(file), shortCircuit: true, importAttributes: {} };
    },
    load(url, context, next) {
      refuseUnknownData(url);
      if (!isOwnUrl(url)) return next(url, context);
      const file = fileURLToPath(url);
      const extension = extname(file);
      if (extension === '.json') return jsonModule(file);
      return compiled.has(extension) ? compile(file, url, maps, options()) : withPlainUrl(file, next(url, context));
    },
  });
}

/**
 * Throws for a `data:` URL whose type Node can't import. Node's own error would only describe the return value that it
 * expects of a hook.
 */
function refuseUnknownData(url: string): void {
  const [, type] = /^data:([^,;]*)/i.exec(url) ?? [];
  if (type === undefined || dataTypes.has(type.toLowerCase())) return;
  const known = [...dataTypes].join(', ');
  throw new TypeError(
    `Can't import the URL data:${type},…: Node supports only data URLs of the types ${known}. Put the code into a file next to the notebook and import this file.`,
  );
}

function jsonModule(file: string): LoadFnOutput {
  // Removes a byte order mark, because Windows programs may write one.
  const text = readFileSync(file, 'utf8').replace(/^\uFEFF/, '');
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
    transformers: isCommonJs ? {} : { before: [() => plainUrlFirst(file)] },
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

// The kernel's URLs have a version parameter, which `import.meta.url` would show. The property is writable, so the
// first statement of a file resets it.

const usesMeta = /\bimport\s*\.\s*meta\b/;
const plainUrl = (file: string): string => `import.meta.url = ${JSON.stringify(pathToFileURL(file).href)};`;

function plainUrlFirst(file: string): (source: ts.SourceFile) => ts.SourceFile {
  return (source) => {
    if (!usesMeta.test(source.text)) return source;
    const meta = ts.factory.createMetaProperty(ts.SyntaxKind.ImportKeyword, ts.factory.createIdentifier('meta'));
    const assigned = ts.factory.createAssignment(
      ts.factory.createPropertyAccessExpression(meta, 'url'),
      ts.factory.createStringLiteral(pathToFileURL(file).href),
    );
    return ts.factory.updateSourceFile(source, [ts.factory.createExpressionStatement(assigned), ...source.statements]);
  };
}

/**
 * Resets `import.meta.url` in a file that needs no compilation. The statement is on the first line, so that line
 * numbers in stack traces stay correct.
 */
function withPlainUrl(file: string, loaded: LoadFnOutput): LoadFnOutput {
  if (loaded.format !== 'module' || !loaded.source) return loaded;
  const { source } = loaded;
  const text = typeof source === 'string' ? source : Buffer.from(source as Uint8Array).toString('utf8');
  if (!usesMeta.test(text)) return loaded;
  return { ...loaded, source: `${plainUrl(file)} ${text.replace(/^\uFEFF?(?:#!.*)?/, '')}` };
}
