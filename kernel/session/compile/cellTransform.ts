import ts from 'typescript-6';
import { nameFactories } from './cellJsx.ts';
import {
  boundNames,
  importedNames,
  isAmbient,
  isBlockScoped,
  isDefaultExport,
  isDisposed,
  isExportModifier,
  namesOf,
  opensVarScope,
} from './cellNames.ts';
import {
  call,
  constant,
  withoutThis,
  evaluated,
  keepFunctionName,
  load,
  resumed,
  resumedEach,
  runtime,
  statementOf,
  variable,
  variablesOf,
} from './cellNodes.ts';
import { SharedNames } from './cellScope.ts';
import { namelessDefault } from './generatedNames.ts';

// Converts a cell to the body of a function. Each top-level name of a cell is a notebook variable: a small object that
// all cells share. Every use of the name reads a property of this object. So a closure sees what later cells assign,
// later cells see what a closure assigned, and the declarations of a cell that threw remain. (With one large object for
// all variables a loop would be twenty times slower, because V8 turns a large object into a hash table.)

const factory = ts.factory;

/**
 * Runs after TypeScript's own steps. Converts imports that these steps added (for instance for JSX) to loads, and
 * removes exports.
 * @param used names of the notebook variables that the cell uses; the body declares them at its start
 */
function finish(file: ts.SourceFile, used: ReadonlySet<string>): ts.SourceFile {
  const statements = file.statements.flatMap((statement) => {
    if (ts.isExportDeclaration(statement)) return [];
    return ts.isImportDeclaration(statement) ? [loadAdded(statement)] : [statement];
  });
  const variables = used.size > 0 ? [variablesOf([...used])] : [];
  return factory.updateSourceFile(file, [...variables, ...statements]);
}

function loadAdded({ importClause, moduleSpecifier }: ts.ImportDeclaration): ts.Statement {
  const names = importClause?.namedBindings;
  const elements = names && ts.isNamedImports(names) ? names.elements : [];
  const pattern = factory.createObjectBindingPattern(
    elements.map((each) => factory.createBindingElement(undefined, each.propertyName, each.name)),
  );
  return constant(pattern, load(moduleSpecifier, []));
}

// With `emitDecoratorMetadata` TypeScript emits the types of decorated members as values, after this converter has
// decided which names are notebook variables.

/** Replaces the names of notebook variables in the metadata, and adds the names to `used`. */
function nameMetadata(
  file: ts.SourceFile,
  cell: ts.SourceFile,
  names: SharedNames,
  used: Set<string>,
  context: ts.TransformationContext,
): ts.SourceFile {
  if (!context.getCompilerOptions().emitDecoratorMetadata) return file;
  // If the metadata of a class names the class itself, the notebook variable is not set yet, so the local name is kept.
  const local = new Set(cell.statements.filter(isKept).flatMap(namesOf));
  const inMetadata = (node: ts.Node): ts.Node => {
    if (ts.isPropertyAccessExpression(node))
      return ts.factory.updatePropertyAccessExpression(node, inMetadata(node.expression) as ts.Expression, node.name);
    if (!ts.isIdentifier(node)) return ts.visitEachChild(node, inMetadata, context);
    if (local.has(node.text) || !names.hasAt(node.text, cell)) return node;
    used.add(node.text);
    return variable(node.text);
  };
  const visit = (node: ts.Node): ts.Node => {
    if (!ts.isCallExpression(node) || !isMetadataHelper(node.expression))
      return ts.visitEachChild(node, visit, context);
    const args = node.arguments.map((each) => inMetadata(each) as ts.Expression);
    return ts.factory.updateCallExpression(node, node.expression, node.typeArguments, args);
  };
  return ts.factory.updateSourceFile(
    file,
    file.statements.map((each) => visit(each) as ts.Statement),
  );
}

const isMetadataHelper = (node: ts.Node): boolean => ts.isIdentifier(node) && node.text === '__metadata';

const isKept = (node: ts.Statement): boolean =>
  ts.isClassDeclaration(node) ||
  ts.isEnumDeclaration(node) ||
  ts.isFunctionDeclaration(node) ||
  ts.isModuleDeclaration(node);

// Helpers for the statements of a cell.

/** Whether a node is an assignment such as `f = () => 1`, which names the function. */
const isNaming = (node: ts.Node): node is ts.BinaryExpression & { left: ts.Identifier } =>
  ts.isBinaryExpression(node) && namingOperators.has(node.operatorToken.kind) && ts.isIdentifier(node.left);

const namingOperators: ReadonlySet<ts.SyntaxKind> = new Set([
  ts.SyntaxKind.EqualsToken,
  ts.SyntaxKind.QuestionQuestionEqualsToken,
  ts.SyntaxKind.BarBarEqualsToken,
  ts.SyntaxKind.AmpersandAmpersandEqualsToken,
]);

/**
 * Removes the export modifiers of a declaration, and gives a nameless default export a name.
 * @param written the statement as it is in the cell
 */
function keptDeclaration(
  visited: ts.FunctionDeclaration | ts.ClassDeclaration | ts.EnumDeclaration,
  written: ts.Statement,
): ts.Statement {
  const modifiers = visited.modifiers?.filter((each) => !isExportModifier(each));
  if (ts.isEnumDeclaration(visited))
    return factory.updateEnumDeclaration(visited, modifiers, visited.name, visited.members);
  const nameless = isDefaultExport(written) ? factory.createIdentifier(namelessDefault) : undefined;
  const name = visited.name ?? nameless;
  const { typeParameters } = visited;
  if (ts.isClassDeclaration(visited)) {
    const { heritageClauses, members } = visited;
    return factory.updateClassDeclaration(visited, modifiers, name, typeParameters, heritageClauses, members);
  }
  const { asteriskToken, parameters, type, body } = visited;
  return factory.updateFunctionDeclaration(
    visited,
    modifiers,
    asteriskToken,
    name,
    typeParameters,
    parameters,
    type,
    body,
  );
}

/** Returns the variables that `export … from` creates, each with the name of its export. */
function exportedPairs({ exportClause }: ts.ExportDeclaration): [string, string][] {
  if (!exportClause) return [];
  if (ts.isNamespaceExport(exportClause)) return [[exportClause.name.text, '*']];
  return exportClause.elements
    .filter((each) => !each.isTypeOnly)
    .map(({ name, propertyName }) => [name.text, (propertyName ?? name).text]);
}

const isFunctionWithBody = (statement: ts.Statement): statement is ts.FunctionDeclaration =>
  ts.isFunctionDeclaration(statement) && statement.body !== undefined && !isAmbient(statement);

/** Whether a statement is empty, so that an expression before it is still the last value of the cell. */
const isEmptyResult = (statement: ts.Statement): boolean =>
  ts.isEmptyStatement(statement) || (ts.isExportDeclaration(statement) && !statement.moduleSpecifier);

/** Returns the transformers with which a program emits one cell as the body of a function. */
export function cellTransformers(
  checker: ts.TypeChecker,
  cell: ts.SourceFile,
  earlier: readonly ts.SourceFile[],
): ts.CustomTransformers {
  const names = new SharedNames(checker, [cell, ...earlier]);
  const used = new Set<string>();
  return {
    before: [(context) => (file) => (file === cell ? new CellTransform(cell, names, used, context).transform() : file)],
    after: [
      (context) => (file) =>
        finish(nameMetadata(nameFactories(file, names, used, context), cell, names, used, context), used),
    ],
  };
}

class CellTransform {
  readonly #cell: ts.SourceFile;
  readonly #names: SharedNames;
  readonly #context: ts.TransformationContext;
  /** Names of the notebook variables that the cell uses. */
  readonly #used: Set<string>;
  /** Whether a `var` at this point belongs to the cell. */
  #isVarScope = true;

  constructor(cell: ts.SourceFile, names: SharedNames, used: Set<string>, context: ts.TransformationContext) {
    this.#cell = cell;
    this.#names = names;
    this.#used = used;
    this.#context = context;
  }

  transform(): ts.SourceFile {
    const { statements } = this.#cell;
    const last = statements.findLastIndex((each) => !isEmptyResult(each));
    const body = statements.flatMap((statement, index) =>
      index === last && ts.isExpressionStatement(statement) ? [this.#lastValue(statement)] : this.#topLevel(statement),
    );
    // As in any module, imports are loaded first and functions are created next, regardless of their position.
    const loads = statements.flatMap((statement) => this.#loads(statement));
    const functions = statements.filter(isFunctionWithBody).map(({ name }) => this.#set(name));
    return factory.updateSourceFile(this.#cell, [...loads, ...functions, ...body]);
  }

  /** Returns a notebook variable, to be read or assigned. */
  #member(name: string): ts.PropertyAccessExpression {
    this.#used.add(name);
    return variable(name);
  }

  #assign(name: string, value: ts.Expression): ts.Expression {
    return factory.createAssignment(this.#member(name), value);
  }

  /** Assigns a kept declaration to its variable. A declaration without a name is the default export. */
  #set(local: ts.Identifier | undefined): ts.Statement {
    const value = factory.createIdentifier(local?.text ?? namelessDefault);
    return factory.createExpressionStatement(this.#assign(local?.text ?? 'default', value));
  }

  #lastValue(statement: ts.ExpressionStatement): ts.Statement {
    return statementOf(factory.createAssignment(runtime('value'), this.#expression(statement.expression)), statement);
  }

  #topLevel(statement: ts.Statement): ts.Statement[] {
    if (isAmbient(statement)) return [statement];
    if (ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement)) return [];
    if (ts.isImportEqualsDeclaration(statement)) return this.#importEquals(statement);
    if (ts.isExportAssignment(statement))
      return [statementOf(this.#assign('default', this.#expression(statement.expression)), statement)];
    if (ts.isVariableStatement(statement)) return this.#variables(statement);
    if (ts.isFunctionDeclaration(statement))
      return [keptDeclaration(this.#visit(statement) as ts.FunctionDeclaration, statement)];
    if (ts.isClassDeclaration(statement))
      return [keptDeclaration(this.#visit(statement) as ts.ClassDeclaration, statement), this.#set(statement.name)];
    if (ts.isEnumDeclaration(statement))
      return [keptDeclaration(this.#visit(statement) as ts.EnumDeclaration, statement), this.#set(statement.name)];
    if (ts.isModuleDeclaration(statement)) return this.#namespace(statement);
    return [this.#visit(statement) as ts.Statement];
  }

  #namespace(statement: ts.ModuleDeclaration): ts.Statement[] {
    const visited = this.#visit(statement) as ts.ModuleDeclaration;
    const modifiers = visited.modifiers?.filter((each) => !isExportModifier(each));
    const declared = factory.updateModuleDeclaration(visited, modifiers, visited.name, visited.body);
    const isValue = ts.isIdentifier(statement.name) && this.#names.isValue(statement.name);
    return isValue ? [declared, this.#set(statement.name)] : [declared];
  }

  /**
   * Converts an import or an `export … from` to a statement that loads the module. The imported names become notebook
   * variables.
   */
  #loads(statement: ts.Statement): ts.Statement[] {
    if (ts.isImportDeclaration(statement)) {
      const isTypes = statement.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword;
      const all = importedNames(statement);
      const names = all.filter(({ local, isTypeOnly }) => !isTypeOnly && this.#names.isValue(local));
      // An import of only types is removed. An import without names is kept, because it runs the module.
      if (isTypes || (all.length > 0 && names.length === 0)) return [];
      const pairs = names.map(({ local, imported }) => [local.text, imported] as const);
      return [statementOf(load(statement.moduleSpecifier, pairs), statement)];
    }
    if (!ts.isExportDeclaration(statement) || !statement.moduleSpecifier || statement.isTypeOnly) return [];
    return [statementOf(load(statement.moduleSpecifier, exportedPairs(statement)), statement)];
  }

  #importEquals(statement: ts.ImportEqualsDeclaration): ts.Statement[] {
    const { moduleReference, name } = statement;
    if (statement.isTypeOnly || !this.#names.isValue(name)) return [];
    const value = ts.isExternalModuleReference(moduleReference)
      ? call(factory.createIdentifier('require'), [moduleReference.expression])
      : this.#entity(moduleReference);
    return [statementOf(this.#assign(name.text, value), statement)];
  }

  #entity(name: ts.EntityName): ts.Expression {
    if (ts.isIdentifier(name)) return this.#expression(name);
    return factory.createPropertyAccessExpression(this.#entity(name.left), name.right.text);
  }

  #variables(statement: ts.VariableStatement): ts.Statement[] {
    const list = statement.declarationList;
    if (!isDisposed(list))
      return list.declarations.map((each) => statementOf(this.#assignment(each, isBlockScoped(list)), each));
    // The `using` statement is kept, because the value must be disposed when the body ends. Only the names become
    // notebook variables.
    const declarations = list.declarations.map((each) =>
      factory.updateVariableDeclaration(
        each,
        each.name,
        undefined,
        undefined,
        each.initializer && this.#expression(each.initializer),
      ),
    );
    const kept = factory.updateVariableDeclarationList(list, declarations);
    const names = list.declarations.flatMap(({ name }) => boundNames(name));
    return [
      factory.updateVariableStatement(statement, undefined, kept),
      ...names.map((name) => this.#set(factory.createIdentifier(name))),
    ];
  }

  /** Converts `let a = 1` to `$cell_a.v = 1`, and `const { b } = f()` to `({ b: $cell_b.v } = f())`. */
  #assignment(declaration: ts.VariableDeclaration, isFresh: boolean): ts.Expression {
    const { name, initializer } = declaration;
    const target = this.#target(name);
    // `var a` without a value redeclares `a`, so an existing value is kept.
    if (!initializer) return factory.createAssignment(target, isFresh ? factory.createVoidZero() : target);
    const value = this.#expression(initializer);
    if (!ts.isIdentifier(name)) return factory.createParenthesizedExpression(factory.createAssignment(target, value));
    return ts.setTextRange(factory.createAssignment(target, keepFunctionName(name.text, value)), declaration);
  }

  /** Converts a binding to the left side of an assignment. */
  #target(name: ts.BindingName): ts.Expression {
    if (ts.isIdentifier(name)) return ts.setTextRange(this.#member(name.text), name);
    if (ts.isArrayBindingPattern(name))
      return factory.createArrayLiteralExpression(
        name.elements.map((element) => {
          if (ts.isOmittedExpression(element)) return element;
          const target = this.#withDefault(element);
          return element.dotDotDotToken ? factory.createSpreadElement(target) : target;
        }),
      );
    return factory.createObjectLiteralExpression(
      name.elements.map((element) => {
        if (element.dotDotDotToken) return factory.createSpreadAssignment(this.#target(element.name));
        const key = element.propertyName ?? (element.name as ts.Identifier);
        const property = ts.isIdentifier(key) ? factory.createIdentifier(key.text) : this.#visit(key);
        return factory.createPropertyAssignment(property as ts.PropertyName, this.#withDefault(element));
      }),
    );
  }

  #withDefault({ name, initializer }: ts.BindingElement): ts.Expression {
    const target = this.#target(name);
    if (!initializer) return target;
    const value = this.#expression(initializer);
    return factory.createAssignment(target, ts.isIdentifier(name) ? keepFunctionName(name.text, value) : value);
  }

  #expression(node: ts.Expression): ts.Expression {
    return this.#visit(node) as ts.Expression;
  }

  readonly #visit = (node: ts.Node): ts.Node => {
    if (ts.isTypeNode(node) && !ts.isExpressionWithTypeArguments(node)) return node;
    if (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return node;
    if (ts.isIdentifier(node)) return this.#names.has(node) ? ts.setTextRange(this.#member(node.text), node) : node;
    if (ts.isShorthandPropertyAssignment(node)) return this.#shorthand(node);
    if (ts.isCallExpression(node)) return this.#call(node);
    if (isNaming(node) && this.#names.has(node.left)) {
      const value = keepFunctionName(node.left.text, this.#expression(node.right));
      return factory.updateBinaryExpression(node, this.#expression(node.left), node.operatorToken, value);
    }
    if (ts.isTaggedTemplateExpression(node) && this.#isSharedCallee(node.tag)) {
      const template = this.#visit(node.template) as ts.TemplateLiteral;
      return factory.updateTaggedTemplateExpression(node, withoutThis(this.#expression(node.tag)), undefined, template);
    }
    if (ts.isDecorator(node) && this.#isSharedCallee(node.expression))
      return factory.updateDecorator(node, withoutThis(this.#expression(node.expression)));
    // Awaits inside of functions are not changed, because the text of some functions is sent elsewhere to run.
    if (this.#isVarScope && ts.isAwaitExpression(node)) return resumed(node, this.#expression(node.expression));
    if (ts.isMetaProperty(node) && node.keywordToken === ts.SyntaxKind.ImportKeyword)
      return ts.setTextRange(runtime('meta'), node);
    if (this.#isVarScope && ts.isVariableDeclarationList(node) && !isBlockScoped(node)) return this.#vars(node);
    if (this.#isVarScope && ts.isVariableStatement(node) && !isBlockScoped(node.declarationList))
      return statementOf(this.#vars(node.declarationList), node);
    return this.#scoped(node, () => ts.visitEachChild(node, this.#visit, this.#context));
  };

  #scoped(node: ts.Node, body: () => ts.Node): ts.Node {
    const outer = this.#isVarScope;
    if (opensVarScope(node)) this.#isVarScope = false;
    const hasOwnName = ts.isClassLike(node) || ts.isEnumDeclaration(node) || ts.isModuleDeclaration(node);
    const result = hasOwnName ? this.#names.within(node, body) : body();
    this.#isVarScope = outer;
    return outer && ts.isForOfStatement(result) && result.awaitModifier ? resumedEach(result) : result;
  }

  /** Converts `var` in a block or in the head of a loop. */
  #vars(list: ts.VariableDeclarationList): ts.Expression {
    const [first] = list.declarations;
    if (first && (ts.isForInStatement(list.parent) || ts.isForOfStatement(list.parent)))
      return this.#target(first.name);
    return list.declarations
      .map((each) => this.#assignment(each, false))
      .reduce((left, right) => factory.createComma(left, right));
  }

  #shorthand(node: ts.ShorthandPropertyAssignment): ts.Node {
    const fallback = node.objectAssignmentInitializer && this.#expression(node.objectAssignmentInitializer);
    if (!this.#names.hasShorthand(node)) return factory.updateShorthandPropertyAssignment(node, node.name, fallback);
    const value = ts.setTextRange(this.#member(node.name.text), node.name);
    return factory.createPropertyAssignment(
      factory.createIdentifier(node.name.text),
      fallback ? factory.createAssignment(value, fallback) : value,
    );
  }

  #call(node: ts.CallExpression): ts.Node {
    const args = node.arguments.map((each) => this.#expression(each));
    if (node.expression.kind === ts.SyntaxKind.ImportKeyword)
      return ts.setTextRange(call(runtime('import'), args), node);
    if (ts.isIdentifier(node.expression) && node.expression.text === 'eval' && !this.#names.has(node.expression))
      return factory.updateCallExpression(
        node,
        node.expression,
        undefined,
        evaluated(args, this.#names.localsAt(node)),
      );
    const callee = this.#expression(node.expression);
    const detached = this.#isSharedCallee(node.expression) ? withoutThis(callee) : callee;
    if (ts.isCallChain(node)) return factory.updateCallChain(node, detached, node.questionDotToken, undefined, args);
    return factory.updateCallExpression(node, detached, undefined, args);
  }

  #isSharedCallee(node: ts.Expression): boolean {
    return ts.isIdentifier(node) && this.#names.has(node);
  }
}
