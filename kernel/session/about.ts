import type { NotebookLanguage } from '#shared/notebookLanguage.ts';

/** What Jupyter, its editors and its converters know of the language of cells. */
export function languageInfo(
  language: NotebookLanguage,
  { typescript, node }: { typescript: string; node: string },
): Record<string, unknown> {
  return {
    name: language,
    // JavaScript has no version that a program could have: it is what the Node knows.
    version: language === 'javascript' ? node : typescript,
    mimetype: `text/${language}`,
    file_extension: language === 'javascript' ? '.js' : '.ts',
    pygments_lexer: language,
    // By its name: of a mode with options JupyterLab takes the name alone, which would be that of JavaScript.
    codemirror_mode: language,
    nbconvert_exporter: 'script',
  };
}

/** The versions of the kernel and of the compiler that comes with it, by a bundle's own `require`. */
export function ownVersions(require: NodeJS.Require): { version: string; typescript: string } {
  const versionIn = (file: string) => (require(file) as { version: string }).version;
  return { version: versionIn('../package.json'), typescript: versionIn('typescript-6/package.json') };
}
