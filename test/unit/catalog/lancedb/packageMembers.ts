import ts from 'typescript-6';
import { inRoot } from '../../../../scripts/paths.ts';

const program = ts.createProgram([inRoot('node_modules/@lancedb/lancedb/dist/index.d.ts')], {
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  target: ts.ScriptTarget.ES2022,
  noLib: true,
  skipLibCheck: true,
  types: [],
});
const checker = program.getTypeChecker();

/**
 * Returns the public values that LanceDB's package exports, and the public methods of its classes, as `Table.add`,
 * from the types of the installed package.
 */
export function packageMembers(): string[] {
  const source = program.getSourceFile(inRoot('node_modules/@lancedb/lancedb/dist/index.d.ts'));
  const module = source && checker.getSymbolAtLocation(source);
  if (!module) throw new Error("The types of LanceDB's package were not found.");
  const found = checker.getExportsOfModule(module).flatMap((exported) => {
    const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
    if ((symbol.flags & ts.SymbolFlags.Value) === 0) return [];
    const isClass = (symbol.flags & ts.SymbolFlags.Class) !== 0;
    return [exported.name, ...(isClass ? classMembers(symbol).map((name) => `${exported.name}.${name}`) : [])];
  });
  return found.toSorted();
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
