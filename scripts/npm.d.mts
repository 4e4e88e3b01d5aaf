/** Runs npm. Resolves to its stdout if `quiet`; rejects with the end of its stderr if it fails. */
export function npm(args: readonly string[], options?: { cwd?: string; quiet?: boolean }): Promise<string>;
/** Whether an install failed because the registry does not have the package, not because of the network. */
export function isNotServed(error: unknown): boolean;
/** Flags of every install: exact versions, no scripts, no change of package.json. */
export const quietInstall: readonly string[];
