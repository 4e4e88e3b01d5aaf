export type Platform = {
  /** VS Code's name of the platform. */
  readonly target: string;
  readonly engine: string | null;
  readonly sql: string;
  readonly zeromq: string;
  readonly esbuild: string;
  readonly node: string | null;
};
export const platforms: readonly Platform[];
/** Returns the entry of this machine, if there is one. */
export function thisPlatform(): Platform | undefined;
/** Name of the npm package that holds the native engine; null if upstream builds none. */
export function enginePackage(platform: Platform): string | null;
/** Name of the npm package that holds the program of the bundler. */
export function bundlerPackage(platform: Platform): string;
/** Name of the npm package that holds the native SQL engine. */
export function sqlEnginePackage(platform: Platform): string;
