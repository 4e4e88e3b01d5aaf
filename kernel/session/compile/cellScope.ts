import ts from 'typescript-6';
import { isBlockScoped, namesIn, opensVarScope } from './cellNames.ts';

/**
 * Finds the names in a cell that are notebook variables: names that the top level of the cell or an earlier cell
 * declares.
 */
export class SharedNames {
  readonly #checker: ts.TypeChecker;
  readonly #files: readonly ts.SourceFile[];
  /**
   * The classes, enums and namespaces whose bodies are being visited. Within its body, the name of a class, enum or
   * namespace is local.
   */
  readonly #inside: ts.Node[] = [];

  /** @param files the cell, then the declarations of earlier cells */
  constructor(checker: ts.TypeChecker, files: readonly ts.SourceFile[]) {
    this.#checker = checker;
    this.#files = files;
  }

  /** Runs `body`, which visits a declaration. Meanwhile the name of the declaration is local. */
  within<T>(node: ts.Node, body: () => T): T {
    this.#inside.push(node);
    const result = body();
    this.#inside.pop();
    return result;
  }

  has(node: ts.Identifier): boolean {
    if (!this.#isName(node.text) || isFixed(node)) return false;
    return this.#isShared(this.#checker.getSymbolAtLocation(node));
  }

  /**
   * Whether the variable in `{ name }` is a notebook variable. The same identifier is also the name of the property.
   */
  hasShorthand(node: ts.ShorthandPropertyAssignment): boolean {
    return this.#isName(node.name.text) && this.#isShared(this.#checker.getShorthandAssignmentValueSymbol(node));
  }

  /** Whether a name that is missing from the text would be a notebook variable at a node of the cell. */
  hasAt(name: string, place: ts.Node): boolean {
    if (!this.#isName(name)) return false;
    const visible = this.#checker.getSymbolsInScope(place, ts.SymbolFlags.Value | ts.SymbolFlags.Alias);
    return this.#isShared(visible.find((symbol) => symbol.name === name));
  }

  /** Whether a name exists at run time; true if the checker can't resolve the name. */
  isValue(name: ts.Node): boolean {
    let symbol = this.#checker.getSymbolAtLocation(name);
    if (symbol && symbol.flags & ts.SymbolFlags.Alias) symbol = this.#checker.getAliasedSymbol(symbol);
    if (!symbol || symbol.flags === ts.SymbolFlags.None || this.#checker.isUnknownSymbol(symbol)) return true;
    return (symbol.flags & ts.SymbolFlags.Value) !== 0;
  }

  /** Returns the names at a node that the cell declares and that are not notebook variables. */
  localsAt(place: ts.Node): string[] {
    const [cell] = this.#files;
    return this.#checker
      .getSymbolsInScope(place, ts.SymbolFlags.Value)
      .filter((symbol) => symbol.declarations?.some((each) => each.getSourceFile() === cell) && !this.#isShared(symbol))
      .map(({ name }) => name);
  }

  #isName(name: string): boolean {
    return this.#files.some((file) => namesIn(file).has(name));
  }

  #isShared(symbol: ts.Symbol | undefined): boolean {
    return (symbol?.declarations ?? []).some(
      (declaration) => this.#isTopLevel(declaration) && !this.#inside.includes(declaration),
    );
  }

  #isTopLevel(declaration: ts.Declaration): boolean {
    let node: ts.Node = declaration;
    while (ts.isBindingElement(node) || ts.isObjectBindingPattern(node) || ts.isArrayBindingPattern(node))
      node = node.parent;
    if (ts.isVariableDeclaration(node)) return this.#isTopLevelVariable(node);
    if (ts.isImportSpecifier(node)) node = node.parent;
    if (ts.isNamedImports(node) || ts.isNamespaceImport(node)) node = node.parent;
    if (ts.isImportClause(node)) node = node.parent;
    return this.#isFile(node.parent);
  }

  #isTopLevelVariable({ parent: list }: ts.VariableDeclaration): boolean {
    if (!ts.isVariableDeclarationList(list)) return false;
    if (isBlockScoped(list)) return ts.isVariableStatement(list.parent) && this.#isFile(list.parent.parent);
    let node: ts.Node = list.parent;
    while (!opensVarScope(node) && !ts.isSourceFile(node)) node = node.parent;
    return this.#isFile(node);
  }

  #isFile(node: ts.Node): boolean {
    return this.#files.some((file) => file === node);
  }
}

/** Whether a name declares something or names a property, so that it is not a use of a variable. */
function isFixed(node: ts.Identifier): boolean {
  const { parent } = node;
  return ('name' in parent && parent.name === node) || ('propertyName' in parent && parent.propertyName === node);
}
