import assert from 'node:assert/strict';
import ts from 'typescript-6';
import type { CellService } from '#session/compile/cellConverter.ts';

/**
 * Returns everything known about the modules that a cell imports: names with their types, the types of members, and
 * documentation.
 */
export function told({ program, file }: CellService): Map<string, string> {
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(file);
  assert.ok(source);
  const found = new Map<string, string>();
  const tell = (symbol: ts.Symbol, path: string, depth: number): void => {
    const aliased = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
    const isType = !(aliased.flags & ts.SymbolFlags.Value);
    const type = isType ? checker.getDeclaredTypeOfSymbol(aliased) : checker.getTypeOfSymbol(aliased);
    const docs = ts.displayPartsToString(aliased.getDocumentationComment(checker));
    const tags = aliased.getJsDocTags(checker).map((tag) => `@${tag.name} ${ts.displayPartsToString(tag.text)}`);
    // The name of a unique symbol contains a number that differs between checkers.
    found.set(path.replaceAll(/@\d+/g, ''), [checker.typeToString(type), docs, ...tags].join('\n'));
    if (depth > 0) for (const each of type.getProperties()) tell(each, `${path}.${each.name}`, depth - 1);
    if (aliased.flags & ts.SymbolFlags.Module)
      for (const each of checker.getExportsOfModule(aliased))
        if (depth > 0) tell(each, `${path}/${each.name}`, depth - 1);
  };
  for (const statement of source.statements) {
    if (!ts.isImportDeclaration(statement)) continue;
    const name = (statement.moduleSpecifier as ts.StringLiteral).text;
    const module = checker.getSymbolAtLocation(statement.moduleSpecifier);
    assert.ok(module, name);
    for (const each of checker.getExportsOfModule(module)) tell(each, `${name}/${each.name}`, 1);
  }
  return found;
}
