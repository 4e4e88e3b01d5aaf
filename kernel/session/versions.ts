/** The versions of the kernel and of the compiler that comes with it, by a bundle's own `require`. */
export function ownVersions(require: NodeJS.Require): { version: string; typescript: string } {
  const versionIn = (file: string) => (require(file) as { version: string }).version;
  return { version: versionIn('../package.json'), typescript: versionIn('typescript-6/package.json') };
}
