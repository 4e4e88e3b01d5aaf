/** Runs npm; resolves to its stdout when `quiet`, rejects with the end of its stderr when it fails. */
export function npm(args: readonly string[], options?: { cwd?: string; quiet?: boolean }): Promise<string>;
/** Whether an install failed because the registry does not have the package, and not for want of a network. */
export function isNotServed(error: unknown): boolean;
/** The flags of every install of ours: exact, no scripts, nothing written to a package.json. */
export const quietInstall: readonly string[];
