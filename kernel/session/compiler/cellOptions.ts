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
  // A `const enum` of one cell must exist at run time, because later cells use it as a value.
  preserveConstEnums: true,
  removeComments: false,
  newLine: ts.NewLineKind.LineFeed,
  outDir: '/cell-output',
  ignoreDeprecations: '6.0',
};

/** Options of a tsconfig that apply to cells; the other options are about building a project. */
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

/** Every supported Node.js implements this version. Decorators and `using` are newer, so TypeScript rewrites them. */
const newest = ts.ScriptTarget.ES2024;

/** Returns the options for the cells of a folder, from the options of the folder's tsconfig. */
export function cellOptions(folderSays: ts.CompilerOptions = {}): ts.CompilerOptions {
  const options: ts.CompilerOptions = { ...defaults };
  for (const name of respected)
    if (folderSays[name] !== undefined) Object.assign(options, { [name]: folderSays[name] });
  // Every cell has the globals of Node.js, even if the tsconfig, for instance of a project for browsers, leaves them
  // out.
  options.types = [...new Set(['node', ...(options.types ?? [])])];
  // A project for old browsers may set an older target. Then the target is ES2022, because older targets lack top-level
  // await and class fields.
  const target = folderSays.target ?? newest;
  const isWithin = target >= ts.ScriptTarget.ES2022 && target <= newest;
  const nearest = target > newest ? newest : ts.ScriptTarget.ES2022;
  return { ...options, target: isWithin ? target : nearest, ...fixed };
}
