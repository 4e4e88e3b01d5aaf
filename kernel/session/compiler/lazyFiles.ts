import ts from 'typescript-6';
import { recordDroppedComments, unreadDocs } from './lazyComments.ts';

// Declaration files of which the compiler holds only the parts that every program reads. The rest of a file is parsed
// and bound when it is first read. This saves time, because most declarations of a package are never read.

type Container = (ts.SourceFile | ts.ModuleDeclaration) & {
  symbol: ts.Symbol;
  locals?: ts.SymbolTable;
  nextContainer?: ts.Node;
};
/** Internals that TypeScript does not declare. */
export type BoundFile = ts.SourceFile & {
  imports: readonly ts.StringLiteralLike[];
  moduleAugmentations: readonly ts.Node[];
  ambientModuleNames: readonly string[];
  externalModuleIndicator: ts.Node | true | undefined;
  setExternalModuleIndicator: (file: ts.SourceFile) => void;
  scriptKind: ts.ScriptKind;
  symbol: ts.Symbol & { globalExports?: ts.SymbolTable };
};
type Owned = { symbol: ts.Symbol & { parent?: ts.Symbol } };

type Internals = { bindSourceFile: (file: ts.SourceFile, options: ts.CompilerOptions) => void };
const { bindSourceFile } = ts as unknown as Internals;

export const symbolOf = (module: ts.Node): ts.Symbol => (module as Container).symbol;

/**
 * Whether a module does not change other modules or the globals. The body of a module that makes such changes can't be
 * left out, because the changes must be visible immediately.
 */
export const hasNoGlobalEffects = (file: BoundFile): boolean =>
  file.moduleAugmentations.length === 0 && !file.symbol.globalExports;

/**
 * Leaves out the content of a bound module until the content is read.
 * @returns a function that parses the file again
 */
export function unloadModuleBody(file: BoundFile, options: ts.CompilerOptions): () => ts.SourceFile {
  const again = once(() => loadAndBind(file, options));
  const bring = once(() => {
    const { statements } = again();
    transplant(again(), file);
    for (const statement of statements) adopt(statement, file);
    return { statements, exports: exportsOf(again(), file) };
  });
  file.externalModuleIndicator = true;
  forget(file);
  defineLazy(file, 'statements', () => bring().statements);
  defineLazy<ts.Symbol, 'exports'>(file.symbol, 'exports', () => bring().exports);
  return again;
}

/**
 * Completes an outline, which has only the imports of a file. The file's content is read, parsed and bound on demand.
 */
export function replaceByOutline(file: BoundFile, options: ts.CompilerOptions, read: () => string): void {
  bindSourceFile(file, options);
  file.imports = file.statements.flatMap(importedBy);
  file.moduleAugmentations = [];
  file.ambientModuleNames = [];
  const again = unloadModuleBody(file, options);
  defineLazy(file, 'text', read);
  defineLazy(file, 'end', () => again().end);
  defineLazy(file, 'endOfFileToken', () => {
    const { endOfFileToken } = again();
    adopt(endOfFileToken, file);
    return endOfFileToken;
  });
}

function importedBy(statement: ts.Statement): ts.StringLiteralLike[] {
  const from = ts.isImportDeclaration(statement)
    ? statement.moduleSpecifier
    : ts.isImportEqualsDeclaration(statement) && ts.isExternalModuleReference(statement.moduleReference)
      ? statement.moduleReference.expression
      : undefined;
  return from && ts.isStringLiteralLike(from) ? [from] : [];
}

/** Parses and binds the file again. */
export function loadAndBind(file: BoundFile, options: ts.CompilerOptions): ts.SourceFile {
  const { fileName, text, languageVersion, impliedNodeFormat, setExternalModuleIndicator, scriptKind } = file;
  const jsDocParsingMode = unreadDocs(text);
  const how = { languageVersion, impliedNodeFormat, setExternalModuleIndicator };
  const again = ts.createSourceFile(
    fileName,
    text,
    jsDocParsingMode === undefined ? how : { ...how, jsDocParsingMode },
    false,
    scriptKind,
  );
  bindSourceFile(again, options);
  if (jsDocParsingMode !== undefined) recordDroppedComments(again);
  return again;
}

/** Copies the names that are visible inside the node `from` to the node `to`. */
export function transplant(from: ts.Node, to: ts.Node): void {
  const { locals } = to as Container;
  (from as Container).locals?.forEach((symbol, name) => locals?.set(name, symbol));
}

export function exportsOf(from: ts.Node, to: ts.Node): ts.SymbolTable | undefined {
  const [{ symbol: theirs }, { symbol: ours }] = [from as unknown as Owned, to as unknown as Owned];
  theirs.exports?.forEach((symbol) => {
    if ((symbol as Owned['symbol']).parent === theirs) (symbol as Owned['symbol']).parent = ours;
  });
  return theirs.exports;
}

/** Releases the content of a container. */
export function forget(container: ts.Node): void {
  const { locals } = container as Container;
  locals?.clear();
  delete (container as Container).nextContainer;
}

export const adopt = (child: ts.Node, parent: ts.Node): void => void ((child as { parent: ts.Node }).parent = parent);

export function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

/** Defines a property whose value is computed when the property is first read. */
export function defineLazy<T extends object, K extends keyof T>(owner: T, name: K, find: () => T[K]): void {
  const settle = (value: T[K]): void => {
    Object.defineProperty(owner, name, { value, writable: true, enumerable: true, configurable: true });
  };
  Object.defineProperty(owner, name, {
    enumerable: true,
    configurable: true,
    get(): T[K] {
      const value = find();
      settle(value);
      return value;
    },
    set: settle,
  });
}
