import type ts from 'typescript-6';

declare global {
  /** Passes the compiler from a snapshot to the kernel's bundle, a separate script that shares no modules with it. */
  var lanceCatalogCompiler: { ts: typeof ts; typescript: string } | undefined;
}
