import ts from 'typescript-6';
import { inRoot } from '../../../../scripts/paths.ts';

const entry = inRoot('node_modules/@lancedb/lancedb/dist/index.d.ts');
const modules = ['index', 'openai', 'transformers'].map((name) =>
  inRoot(`node_modules/@lancedb/lancedb/dist/embedding/${name}.d.ts`),
);
const ownEntry = inRoot('kernel/session/preload.ts');
const ownEmbedding = inRoot('kernel/catalog/lancedb/embeddingModule.ts');
const program = ts.createProgram([entry, ...modules, ownEntry, ownEmbedding], {
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  target: ts.ScriptTarget.ES2022,
  noLib: true,
  allowImportingTsExtensions: true,
  noEmit: true,
  skipLibCheck: true,
  types: [],
});
const checker = program.getTypeChecker();

/**
 * Returns the public values that LanceDB's package exports, and the public methods of its classes, as `Table.add`,
 * from the types of the installed package.
 */
export function packageMembers(): string[] {
  const found = exportsOf(entry).flatMap(({ name, symbol }) => {
    if ((symbol.flags & ts.SymbolFlags.Value) === 0) return [];
    const isClass = (symbol.flags & ts.SymbolFlags.Class) !== 0;
    return [name, ...(isClass ? classMembers(symbol).map((member) => `${name}.${member}`) : [])];
  });
  return found.toSorted();
}

type Kind = 'type' | 'value';

/** Returns the names that LanceDB's package exports as a type or as a value. */
export const packageExports = (kind: Kind): string[] => namesOf([entry], kind);

/** Returns the names that the package's modules of embedding functions export. */
export const embeddingExports = (kind: Kind): string[] => namesOf(modules, kind);

/** Returns the names that 'lance-catalog' exports. */
export const ownExports = (kind: Kind): string[] => namesOf([ownEntry], kind);

/** Returns the names that this client exports for the package's modules of embedding functions. */
export const ownEmbeddingExports = (kind: Kind): string[] => namesOf([ownEmbedding], kind);

function namesOf(files: readonly string[], kind: Kind): string[] {
  const flag = kind === 'type' ? ts.SymbolFlags.Type : ts.SymbolFlags.Value;
  return files.flatMap((file) =>
    exportsOf(file).flatMap(({ name, symbol }) => ((symbol.flags & flag) === 0 ? [] : [name])),
  );
}

function exportsOf(file: string): { name: string; symbol: ts.Symbol }[] {
  const source = program.getSourceFile(file);
  const module = source && checker.getSymbolAtLocation(source);
  if (!module) throw new Error(`The types of "${file}" were not found.`);
  return checker.getExportsOfModule(module).map((exported) => ({
    name: exported.name,
    symbol: exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported,
  }));
}

/** Public methods and accessors of a class, inherited and static ones too. */
function classMembers(symbol: ts.Symbol): string[] {
  const own = checker.getPropertiesOfType(checker.getDeclaredTypeOfSymbol(symbol));
  const statics = [...(symbol.exports?.values() ?? [])];
  return [...own, ...statics].filter((member) => isPublic(member)).map(({ name }) => name);
}

function isPublic(member: ts.Symbol): boolean {
  const kinds = ts.SymbolFlags.Method | ts.SymbolFlags.Accessor;
  if ((member.flags & kinds) === 0 || /^(?:__|#)/.test(member.name)) return false;
  const hidden = ts.ModifierFlags.Private | ts.ModifierFlags.Protected;
  return (member.declarations ?? []).every((declaration) => (ts.getCombinedModifierFlags(declaration) & hidden) === 0);
}
