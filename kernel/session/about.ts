import type { NotebookLanguage } from '#shared/notebookLanguage.ts';

/** Returns Jupyter's `language_info`. */
export function languageInfo(
  language: NotebookLanguage,
  { typescript, node }: { typescript: string; node: string },
): Record<string, unknown> {
  return {
    name: language,
    // JavaScript code can't read a version of its language, so this reports the version of Node.js.
    version: language === 'javascript' ? node : typescript,
    mimetype: `text/${language}`,
    file_extension: language === 'javascript' ? '.js' : '.ts',
    pygments_lexer: language,
    // The mode is a string: of a mode object JupyterLab reads only the name, and the name of the TypeScript mode is
    // that of JavaScript.
    codemirror_mode: language,
    nbconvert_exporter: 'script',
  };
}

/** Reads the versions of the kernel and its TypeScript compiler, resolved from the calling bundle. */
export function ownVersions(require: NodeJS.Require): { version: string; typescript: string } {
  const versionIn = (file: string) => (require(file) as { version: string }).version;
  return { version: versionIn('../package.json'), typescript: versionIn('typescript-6/package.json') };
}
