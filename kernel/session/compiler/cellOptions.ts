import ts from 'typescript-6';

/** Options that the notebook's folder may override. */
const defaults: ts.CompilerOptions = {
  lib: ['lib.esnext.d.ts'],
  types: ['node'],
  strict: false,
  esModuleInterop: true,
  resolveJsonModule: true,
  allowJs: true,
  jsx: ts.JsxEmit.ReactJSX,
};

/** Options that the kernel depends on, whatever a folder sets. */
const fixed: ts.CompilerOptions = {
  // Imports, `import()` and `import.meta` reach the kernel's own transformer unchanged.
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  moduleDetection: ts.ModuleDetectionKind.Force,
  allowImportingTsExtensions: true,
  skipLibCheck: true,
  // Later cells are checked against the declarations of a cell.
  declaration: true,
  inlineSourceMap: true,
  // A `const enum` of one cell is a value for the next.
  preserveConstEnums: true,
  removeComments: false,
  newLine: ts.NewLineKind.LineFeed,
  outDir: '/cell-output',
  ignoreDeprecations: '6.0',
};

/** Options of a tsconfig that apply to cells; the others are about building a project. */
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

/** Every supported Node.js implements this; decorators and `using` are newer and are rewritten. */
const newest = ts.ScriptTarget.ES2024;

/** Returns the options for cells of a folder from those of its tsconfig. */
export function cellOptions(folderSays: ts.CompilerOptions = {}): ts.CompilerOptions {
  const options: ts.CompilerOptions = { ...defaults };
  for (const name of respected)
    if (folderSays[name] !== undefined) Object.assign(options, { [name]: folderSays[name] });
  // Every cell has the globals of Node.js, even if a project for browsers leaves them out.
  options.types = [...new Set(['node', ...(options.types ?? [])])];
  // A project built for old browsers still runs here; below ES2022 top-level await and class fields would be lost.
  const target = folderSays.target ?? newest;
  const isWithin = target >= ts.ScriptTarget.ES2022 && target <= newest;
  const nearest = target > newest ? newest : ts.ScriptTarget.ES2022;
  return { ...options, target: isWithin ? target : nearest, ...fixed };
}
