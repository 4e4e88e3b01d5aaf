import type { NotebookLanguage } from '#shared/notebookLanguage.ts';

/** Returns Jupyter's `language_info`. */
export function languageInfo(
  language: NotebookLanguage,
  { typescript, node }: { typescript: string; node: string },
): Record<string, unknown> {
  return {
    name: language,
    // JavaScript code can't read a version of its language, so the kernel reports the version of Node.js.
    version: language === 'javascript' ? node : typescript,
    mimetype: `text/${language}`,
    file_extension: language === 'javascript' ? '.js' : '.ts',
    pygments_lexer: language,
    // The mode is a string, because JupyterLab reads only the name of a mode object. The mode object for TypeScript has
    // the same name as the mode for JavaScript.
    codemirror_mode: language,
    nbconvert_exporter: 'script',
  };
}

/** Reads the versions of the kernel and its TypeScript compiler, resolved from the calling bundle. */
export function ownVersions(require: NodeJS.Require): { version: string; typescript: string } {
  const versionIn = (file: string) => (require(file) as { version: string }).version;
  return { version: versionIn('../package.json'), typescript: versionIn('typescript-6/package.json') };
}
