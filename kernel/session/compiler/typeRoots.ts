import ts from 'typescript-6';

/** Returns the `@types` folders of the notebook's folder, then of the folders above it, then the kernel's own. */
export function getDefaultTypeRoots(folder: string): string[] {
  return [...ancestors(folder), ...ancestors(import.meta.dirname)]
    .map((each) => `${each.replaceAll('\\', '/')}/node_modules/@types`)
    .filter((each) => ts.sys.directoryExists(each));
}

function ancestors(folder: string): string[] {
  const found = [folder];
  for (let at = folder; ;) {
    const above = ts.sys.resolvePath(`${at}/..`);
    if (above === at) return found;
    found.push(above);
    at = above;
  }
}
