import type ts from 'typescript-6';

declare global {
  /**
   * The compiler passes from a snapshot to the kernel's bundle through this global, because the bundle is a separate
   * script and shares no modules with the snapshot. `Console` is passed too, because Node.js does not restore
   * `console.Console` from a snapshot.
   */
  var lanceCatalogCompiler: { ts: typeof ts; typescript: string; Console: typeof console.Console } | undefined;
}
