export type Platform = {
  /** VS Code's name of the platform. */
  readonly target: string;
  readonly engine: string | null;
  readonly zeromq: string;
  readonly esbuild: string;
  readonly node: string | null;
};
export const platforms: readonly Platform[];
/** The entry of this machine, or undefined. */
export function thisPlatform(): Platform | undefined;
/** Name of the npm package that holds the native engine; null where upstream builds none. */
export function enginePackage(platform: Platform): string | null;
/** Name of the npm package that holds the program of the bundler. */
export function bundlerPackage(platform: Platform): string;
