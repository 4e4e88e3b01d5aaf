// tslab is written against its own fork of TypeScript 5.0. The bundler puts tslabTypescript.cjs in the fork's place: mainline
// TypeScript 6.0, with the handful of internals that the fork adds, and a newer view of modules and libraries.
import ts from 'typescript-6';
import { moduleResolver } from './moduleTypes.ts';

/** What mainline TypeScript has but does not declare. */
type Internals = {
  nullTransformationContext: unknown;
  getTouchingPropertyName(file: ts.SourceFile, position: number): ts.Node;
  getContainerNode(node: ts.Node): ts.Node | undefined;
  createTextSpanFromNode(node: ts.Node, file: ts.SourceFile): ts.TextSpan;
  SymbolDisplay: {
    getSymbolDisplayPartsDocumentationAndSymbolKind(
      checker: ts.TypeChecker,
      symbol: ts.Symbol,
      file: ts.SourceFile,
      enclosing: ts.Node | undefined,
      location: ts.Node,
    ): {
      symbolKind: ts.ScriptElementKind;
      displayParts: ts.SymbolDisplayPart[];
      documentation: ts.SymbolDisplayPart[];
      tags: ts.JSDocTagInfo[] | undefined;
    };
  };
  Completions: { getCompletionsAtPosition(host: object, program: ts.Program, ...rest: unknown[]): unknown };
};
const internals = ts as unknown as Internals;

/** Options that differ from the ones tslab writes down: it was made before Bundler resolution and `using`. */
function cellOptions(options: ts.CompilerOptions): ts.CompilerOptions {
  const { noImplicitUseStrict: _, disableTopLevelAwait: __, ...rest } = options;
  return {
    ...rest,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    lib: ['lib.esnext.d.ts'],
    types: ['node'],
    strict: false,
    // Carried into the generated code, where error positions are mapped back to the cell.
    inlineSourceMap: true,
  };
}

/** Everything below is called by tslab only; the signatures are the fork's. */
export function createWatchCompilerHost(
  files: string[],
  options: ts.CompilerOptions,
  system: ts.System,
  ...rest: [create: undefined, ts.DiagnosticReporter?, ts.WatchStatusReporter?]
): ts.WatchCompilerHostOfFilesAndCompilerOptions<ts.BuilderProgram> {
  const watchFile = system.watchFile?.bind(system);
  // Packages and libraries do not change under a running notebook; polling hundreds of their files would cost for ever.
  system.watchFile = (path, ...watch) =>
    /[\\/](?:node_modules|typescript-6)[\\/]|[\\/]lib\.[\w.]+\.d\.ts$|[\\/]dist[\\/]types[\\/]/.test(path) || !watchFile
      ? { close() {} }
      : watchFile(path, ...watch);
  const host: ts.WatchCompilerHostOfFilesAndCompilerOptions<ts.BuilderProgram> = ts.createWatchCompilerHost(
    files,
    cellOptions(options),
    system,
    ...rest,
  );
  host.resolveModuleNameLiterals = moduleResolver(system);
  // Without this every file of the program is resolved anew for every cell.
  host.hasInvalidatedResolutions = () => false;
  return host;
}

export function transpileModule(code: string, options: ts.TranspileOptions): ts.TranspileOutput {
  const { noImplicitUseStrict: _, ...compilerOptions } = options.compilerOptions ?? {};
  return ts.transpileModule(code, {
    ...options,
    compilerOptions: { ...compilerOptions, alwaysStrict: false, inlineSourceMap: true },
  });
}

export const getNullTransformationContext = (): unknown => internals.nullTransformationContext;

export function getPreEmitDiagnosticsOfFiles(program: ts.Program, files: readonly ts.SourceFile[]): ts.Diagnostic[] {
  return files.flatMap((file) => [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)]);
}

export const Completions = {
  ...internals.Completions,
  getCompletionsAtPositionForTslab: (host: object, program: ts.Program, ...rest: unknown[]): unknown =>
    internals.Completions.getCompletionsAtPosition(
      { getCompilationSettings: () => program.getCompilerOptions(), ...host },
      program,
      ...rest,
    ),
};

export function getQuickInfoAtPosition(
  file: ts.SourceFile,
  checker: ts.TypeChecker,
  cancellation: ts.CancellationToken,
  position: number,
): ts.QuickInfo | undefined {
  const node = internals.getTouchingPropertyName(file, position);
  const symbol = node === file ? undefined : checker.getSymbolAtLocation(node);
  if (!symbol) return undefined;
  const shown = checker.runWithCancellationToken(cancellation, (inner) =>
    internals.SymbolDisplay.getSymbolDisplayPartsDocumentationAndSymbolKind(
      inner,
      symbol,
      file,
      internals.getContainerNode(node),
      node,
    ),
  );
  return {
    kind: shown.symbolKind,
    kindModifiers: '',
    textSpan: internals.createTextSpanFromNode(node, file),
    displayParts: shown.displayParts,
    documentation: shown.documentation,
    ...(shown.tags && { tags: shown.tags }),
  };
}

/** The `@types` folders of the notebook's folder and those above it, then the kernel's own. */
export function getDefaultTypeRoots(folder: string): string[] {
  return [...ancestors(folder), ...ancestors(import.meta.dirname)]
    .map((each) => `${each.replaceAll('\\', '/')}/node_modules/@types`)
    .filter((each) => ts.sys.directoryExists(each));
}

function ancestors(folder: string): string[] {
  const found = [folder];
  for (let at = folder; ;) {
    const above = ts.sys.resolvePath(`${at}/..`);
    if (above === at) return found;
    found.push(above);
    at = above;
  }
}
