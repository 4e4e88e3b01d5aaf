import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

/** Runs a call and returns the paths of the folders, or of the files, that this process read meanwhile. */
export async function pathsRead(kind: 'readdir' | 'readFile', call: () => Promise<unknown>): Promise<string[]> {
  const original = fs.promises[kind] as (path: string, ...rest: readonly unknown[]) => Promise<unknown>;
  const paths: string[] = [];
  const noting = (path: string, ...rest: readonly unknown[]): Promise<unknown> => {
    paths.push(path);
    return original(path, ...rest);
  };
  await withFileCalls({ [kind]: noting }, call);
  return paths;
}

/** Runs a call while functions of `node:fs/promises` are replaced, also for modules that have imported them. */
export async function withFileCalls<T>(calls: Readonly<Record<string, unknown>>, call: () => Promise<T>): Promise<T> {
  const originals = Object.fromEntries(
    Object.keys(calls).map((name) => [name, fs.promises[name as keyof typeof fs.promises]]),
  );
  Object.assign(fs.promises, calls);
  syncBuiltinESMExports();
  try {
    return await call();
  } finally {
    Object.assign(fs.promises, originals);
    syncBuiltinESMExports();
  }
}
