import { inspect } from 'node:util';
import ts from 'typescript-6';
import { isAmbient } from '#session/compile/cellNames.ts';
import { asExpression, parseCell } from '#session/compile/parseCell.ts';
import { type DebugHook, debugHookKey } from './debugTypes.ts';

/**
 * Returns the lines of a cell, from 1, where code may run, for breakpoints in cells that have not run yet. This is an
 * estimate, because V8 decides where a cell pauses.
 */
export function linesOf(code: string): number[] {
  const file = parseCell(code);
  const lines = new Set<number>();
  const add = (position: number) => lines.add(file.getLineAndCharacterOfPosition(position).line + 1);
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return;
    if (ts.isStatement(node) && isAmbient(node)) return;
    if (ts.isStatement(node) && runs(node)) add(node.getStart(file));
    // A breakpoint is also possible at the end of a function, because V8 can pause there before the function returns.
    if (ts.isBlock(node) && ts.isFunctionLike(node.parent)) add(node.end - 1);
    if (ts.isArrowFunction(node) && !ts.isBlock(node.body)) add(node.body.getStart(file));
    if (ts.isPropertyDeclaration(node) && node.initializer) add(node.getStart(file));
    ts.forEachChild(node, visit);
  };
  setParents(file);
  visit(file);
  return [...lines].toSorted((one, other) => one - other);
}

/** Whether a statement itself runs code, unlike a block or the declaration of a function or class. */
function runs(node: ts.Statement): boolean {
  if (ts.isImportDeclaration(node)) return node.importClause?.phaseModifier !== ts.SyntaxKind.TypeKeyword;
  return !(
    ts.isBlock(node) ||
    ts.isEmptyStatement(node) ||
    ts.isFunctionDeclaration(node) ||
    ts.isClassDeclaration(node) ||
    ts.isModuleBlock(node)
  );
}

function setParents(node: ts.Node): void {
  ts.forEachChild(node, (child) => {
    (child as { parent: ts.Node }).parent = node;
    setParents(child);
  });
}

/** Converts code typed at a pause to JavaScript: without types, and `{ a: 1 }` as an object. */
export function javascriptOf(code: string): { code: string } | { problem: string } {
  const { outputText, diagnostics = [] } = ts.transpileModule(asExpression(code) ?? code, {
    reportDiagnostics: true,
    compilerOptions: {
      target: ts.ScriptTarget.ESNext,
      module: ts.ModuleKind.ESNext,
      newLine: ts.NewLineKind.LineFeed,
      // Not strict, because users may assign to undeclared names at a prompt.
      alwaysStrict: false,
      ignoreDeprecations: '6.0',
    },
  });
  const [problem] = diagnostics;
  if (problem) return { problem: ts.flattenDiagnosticMessageText(problem.messageText, ' ') };
  return { code: outputText };
}

type DebugHookDeps = {
  /** The notebook's variables by name. */
  locals: Record<string, unknown>;
  /** The names of the variables that cells created. */
  names: () => readonly string[];
  maps: { isDebugged: boolean; mapOf(script: string): string | undefined };
  show: (value: unknown) => unknown;
};

/** Exposes the debugger's functions on the main thread to the inspector. */
export function exposeToDebugger({ locals, names, maps, show }: DebugHookDeps): void {
  const scopes = new Map<string, object>();
  const hook: DebugHook = {
    attach(isDebugged) {
      scopes.clear();
      maps.isDebugged = isDebugged;
    },
    mapOf: (script) => maps.mapOf(script),
    linesOf: (code) => (isCompiling() ? undefined : linesOf(code)),
    javascriptOf: (code) => (isCompiling() ? undefined : javascriptOf(code)),
    look(hidden) {
      hook.scope = scopeOf(locals, new Set(hidden));
    },
    scope: {},
    scopeOf(hidden) {
      const known = scopes.get(hidden) ?? scopeOf(locals, new Set(hidden.split(' ')));
      scopes.set(hidden, known);
      return known;
    },
    variables: () => valuesOf(locals, names()),
    set(name, value) {
      locals[name] = value;
    },
    formsOf(value) {
      const shown = show(value);
      if (isForms(shown)) return shown;
      // A value that must be read asynchronously, such as a query, can't be shown while the thread is paused. Its
      // promise is dropped, and its failure must not count as unhandled.
      if (shown instanceof Promise) shown.catch(() => {});
      return { data: { 'text/plain': inspect(value) }, metadata: {} };
    },
  };
  // The hook is a plain property and no getter, because reading it must not run code.
  Object.defineProperty(globalThis, debugHookKey, { value: hook });
}

const compilerScript = /[\\/](?:typescript-6[\\/]|kernelSnapshot\.cjs$)/;

/**
 * Whether the inspector has interrupted the compiler for this call. TypeScript keeps the file that it parses in
 * module variables, so a second use within the first would break the first.
 */
function isCompiling(): boolean {
  const { stackTraceLimit } = Error;
  const prepareStackTrace: unknown = Reflect.get(Error, 'prepareStackTrace');
  try {
    Error.stackTraceLimit = Infinity;
    Error.prepareStackTrace = (_, sites) => sites.map((site) => site.getFileName() ?? '');
    const files: unknown = new Error('Where are we?').stack;
    return !Array.isArray(files) || files.some((file) => compilerScript.test(String(file)));
  } finally {
    Object.assign(Error, { prepareStackTrace, stackTraceLimit });
  }
}

/**
 * Returns an object with the notebook's variables, for `with`. Leaves out the hidden names, because a function's own
 * names take precedence.
 */
function scopeOf(locals: Record<string, unknown>, hidden: ReadonlySet<string>): object {
  const scope: object = Object.create(null);
  for (const name of Object.keys(locals))
    if (!hidden.has(name))
      Object.defineProperty(scope, name, {
        get: () => locals[name],
        set: (value: unknown) => {
          locals[name] = value;
        },
      });
  return scope;
}

function valuesOf(locals: Record<string, unknown>, names: readonly string[]): object {
  const values: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const name of names) {
    try {
      values[name] = locals[name];
    } catch (error) {
      // Reading an import throws if the module no longer exports the name. Then the error is shown as the value.
      values[name] = error;
    }
  }
  return values;
}

const isForms = (shown: unknown): shown is ReturnType<DebugHook['formsOf']> =>
  typeof shown === 'object' && shown !== null && 'data' in shown && 'metadata' in shown;
