import ts from 'typescript-6';
import {
  adopt,
  loadAndBind,
  exportsOf,
  forget,
  hasNoGlobalEffects,
  defineLazy,
  unloadModuleBody,
  once,
  symbolOf,
  transplant,
  type BoundFile,
} from '#session/compiler/lazyFiles.ts';

// Most declarations that every notebook includes belong to modules that few notebooks import: about fifty of Node, and
// the files of packages. A snapshot omits the content of these modules, except for what the compiler reads in every
// program. A file is parsed and bound again when the compiler reads inside one of its modules.

/** A module with fewer statements is too small to omit, for instance one that only reexports another module. */
const fewStatements = 3;

/**
 * Omits the insides of modules in files that will not change. Call it after all files are bound.
 * @param options the options that the files were bound with
 */
export function leaveOutModules(files: readonly ts.SourceFile[], options: ts.CompilerOptions): void {
  const times = new Map<string, number>();
  for (const { name } of files.flatMap(modulesIn).flatMap((part) => [part, ...namespacesIn(part)]))
    times.set(name, (times.get(name) ?? 0) + 1);
  const canLeave = ({ name, module }: Part): boolean =>
    times.get(name) === 1 &&
    module.body.statements.length >= fewStatements &&
    symbolOf(module).declarations?.length === 1;
  for (const file of files as readonly BoundFile[]) {
    if (ts.isExternalModule(file)) {
      if (hasNoGlobalEffects(file) && file.fileName.includes('/node_modules/')) unloadModuleBody(file, options);
      continue;
    }
    const modules = modulesIn(file);
    // Modules that are declared in several files can't be omitted, because each program merges them. Modules with
    // globals can't be omitted either, because they are part of every program.
    const whole = modules.filter((each) => canLeave(each) && !hasGlobals(each.module));
    const parts = modules.filter((each) => !whole.includes(each)).flatMap(namespacesIn);
    const left = [...whole, ...parts.filter(canLeave)];
    if (left.length > 0) leaveOutParts(file, left, options);
  }
}

type Module = ts.ModuleDeclaration & { body: ts.ModuleBlock };
/** A module with its name and location: the index of a statement, and optionally of a statement inside it. */
type Part = { name: string; path: readonly number[]; module: Module };

const isModule = (node: ts.Node): node is Module =>
  ts.isModuleDeclaration(node) && node.body?.kind === ts.SyntaxKind.ModuleBlock;

const isGlobal = (module: ts.Node): boolean => (module.flags & ts.NodeFlags.GlobalAugmentation) !== 0;
const hasGlobals = ({ body }: Module): boolean => body.statements.some(isGlobal);

function modulesIn(file: ts.SourceFile): Part[] {
  return file.statements.flatMap((module, index) =>
    isModule(module) && ts.isStringLiteral(module.name) ? [{ name: module.name.text, path: [index], module }] : [],
  );
}

function namespacesIn({ name, path, module }: Part): Part[] {
  return module.body.statements.flatMap((each, index) =>
    isModule(each) && !isGlobal(each)
      ? [{ name: `${name}.${each.name.text}`, path: [...path, index], module: each }]
      : [],
  );
}

function leaveOutParts(file: BoundFile, parts: readonly Part[], options: ts.CompilerOptions): void {
  const again = once(() => loadAndBind(file, options));
  const left = new Set<ts.Node>(parts.map(({ module }) => module));
  // Cuts the imports of a file from their parents: the compiler keeps the import nodes, and through the parents it
  // would keep everything around them.
  for (const name of file.imports) {
    const statement = ts.findAncestor(name, ({ parent }) => parent === undefined || left.has(parent.parent));
    if (statement?.parent) adopt(statement, statement.parent.parent);
  }
  for (const { path, module } of parts) {
    const bring = once(() => {
      const other = moduleAt(again(), path);
      transplant(other, module);
      adopt(other.body, module);
      return { body: other.body, exports: exportsOf(other, module) };
    });
    forget(module);
    defineLazy(module, 'body', () => bring().body);
    defineLazy(symbolOf(module), 'exports', () => bring().exports);
  }
}

function moduleAt(file: ts.SourceFile, [first = 0, second]: readonly number[]): Module {
  const outer = file.statements[first] as ts.Statement as ts.Node as Module;
  return second === undefined ? outer : (outer.body.statements[second] as ts.Statement as ts.Node as Module);
}
