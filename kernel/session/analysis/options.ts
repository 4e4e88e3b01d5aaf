import ts from 'typescript-6';
import { getDefaultTypeRoots } from '#session/compile/typescript.ts';

/** The options that cells are checked under, the same as when they run. */
export const cellOptions = (folder: string): ts.CompilerOptions => ({
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  target: ts.ScriptTarget.ESNext,
  lib: ['lib.esnext.d.ts'],
  types: ['node'],
  typeRoots: getDefaultTypeRoots(folder),
  strict: false,
  esModuleInterop: true,
  resolveJsonModule: true,
  allowImportingTsExtensions: true,
  experimentalDecorators: true,
  allowJs: true,
  checkJs: true,
  skipLibCheck: true,
  noEmit: true,
  jsx: ts.JsxEmit.React,
  // A cell without an import has names of its own as well.
  moduleDetection: ts.ModuleDetectionKind.Force,
});
