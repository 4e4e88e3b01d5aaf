import type { Context } from 'mocha';

/** Parts that tests can't run on Linux. In CI a skip for any other reason is a failure. README has the same list. */
export const notOnLinux = {
  'desktop-vscode':
    'the host tests in desktop VS Code (its download is not on a package registry; the browser build runs them)',
  'windows-pipes': 'named pipes between editor, engine and kernel on Windows (Unix sockets run instead)',
  'other-engines': 'VSIX packages for platforms whose native engine npm does not install on Linux',
} as const satisfies Record<string, string>;

export type Part = keyof typeof notOnLinux;

/** Reasons of skipped tests, by the test's full title. */
export const skipReasons = new Map<string, Part>();

/** Skips the running test and records the part that can't run here. */
export function skipPart(context: Context, part: Part): never {
  if (context.test) skipReasons.set(context.test.fullTitle(), part);
  return context.skip();
}
