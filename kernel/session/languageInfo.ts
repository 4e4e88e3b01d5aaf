/** What Jupyter, its editors and its converters know of the language of cells. `version` is TypeScript's own. */
export const languageInfo = (version: string): Record<string, unknown> => ({
  name: 'typescript',
  version,
  mimetype: 'text/typescript',
  file_extension: '.ts',
  pygments_lexer: 'typescript',
  // By its name: of a mode with options JupyterLab takes the name alone, which would be that of JavaScript.
  codemirror_mode: 'typescript',
  nbconvert_exporter: 'script',
});
