import ts from 'typescript-6';

/** Options of a cell where the notebook's folder says nothing else. */
const defaults: ts.CompilerOptions = {
  lib: ['lib.esnext.d.ts'],
  types: ['node'],
  strict: false,
  esModuleInterop: true,
  resolveJsonModule: true,
  allowJs: true,
  jsx: ts.JsxEmit.ReactJSX,
};

/** Options that the kernel depends on, whatever a folder says. */
const fixed: ts.CompilerOptions = {
  // Imports, `import()` and `import.meta` reach the kernel's own transformer as they were written.
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  moduleDetection: ts.ModuleDetectionKind.Force,
  allowImportingTsExtensions: true,
  skipLibCheck: true,
  // The declarations of a cell are what later cells are checked against.
  declaration: true,
  inlineSourceMap: true,
  // A `const enum` of one cell is a value for the next.
  preserveConstEnums: true,
  removeComments: false,
  newLine: ts.NewLineKind.LineFeed,
  outDir: '/cell-output',
  ignoreDeprecations: '6.0',
};

/** What a folder may say of a cell; anything else of a tsconfig is about building a project and says nothing here. */
const respected = [
  'strict',
  'strictNullChecks',
  'strictFunctionTypes',
  'strictBindCallApply',
  'strictPropertyInitialization',
  'strictBuiltinIteratorReturn',
  'noImplicitAny',
  'noImplicitThis',
  'noImplicitReturns',
  'noImplicitOverride',
  'noFallthroughCasesInSwitch',
  'noUncheckedIndexedAccess',
  'noPropertyAccessFromIndexSignature',
  'useUnknownInCatchVariables',
  'exactOptionalPropertyTypes',
  'useDefineForClassFields',
  'experimentalDecorators',
  'emitDecoratorMetadata',
  'esModuleInterop',
  'allowSyntheticDefaultImports',
  'allowJs',
  'checkJs',
  'resolveJsonModule',
  'jsx',
  'jsxFactory',
  'jsxFragmentFactory',
  'jsxImportSource',
  'lib',
  'types',
  'typeRoots',
  'paths',
  'pathsBasePath',
  'baseUrl',
  'rootDirs',
  'customConditions',
] as const;

/** Every Node that the kernel runs on knows all of this; decorators and `using` are newer and are rewritten. */
const newest = ts.ScriptTarget.ES2024;

/** The options for cells of a folder, from what its tsconfig says. */
export function cellOptions(folderSays: ts.CompilerOptions = {}): ts.CompilerOptions {
  const options: ts.CompilerOptions = { ...defaults };
  for (const name of respected)
    if (folderSays[name] !== undefined) Object.assign(options, { [name]: folderSays[name] });
  // Every cell has Node's own globals, whatever a project for browsers leaves out.
  options.types = [...new Set(['node', ...(options.types ?? [])])];
  // A project built for old browsers still runs here; below ES2022 top-level await and class fields would be lost.
  const target = folderSays.target ?? newest;
  const isWithin = target >= ts.ScriptTarget.ES2022 && target <= newest;
  const nearest = target > newest ? newest : ts.ScriptTarget.ES2022;
  return { ...options, target: isWithin ? target : nearest, ...fixed };
}
