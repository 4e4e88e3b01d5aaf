import type ts from 'typescript-6';

declare global {
  /** What a start-up snapshot hands to the kernel's bundle, which is a script of its own and shares no modules with it. */
  var lanceCatalogCompiler: { ts: typeof ts; typescript: string } | undefined;
}
