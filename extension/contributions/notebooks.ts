import { arrowStreamMime } from '#shared/mime.ts';
import { notebookLanguages } from '#shared/notebookLanguage.ts';
import { jobOutputMime } from '#shared/jobs/jobOutput.ts';
import { debuggerType, notebookIds } from '../manifest.ts';

/** Only "Debug Cell" starts a session, so VS Code does not offer the debugger when a user adds a configuration. */
export const debuggers = [
  {
    type: debuggerType,
    label: 'Lance TypeScript Notebook',
    hiddenWhen: 'true',
    configurationAttributes: {
      attach: {
        properties: {
          cell: {
            type: 'string',
            description: 'URI of the cell to debug (default: the selected cell).',
          },
        },
      },
    },
  },
];

export const breakpoints = notebookLanguages.map((language) => ({ language }));

type Renderer = {
  readonly id: string;
  readonly displayName: string;
  readonly entrypoint: string;
  readonly mimeTypes: readonly string[];
  /**
   * Whether the renderer exchanges messages with the extension. With either value, the renderer also works without
   * messages.
   */
  readonly requiresMessaging: 'never' | 'optional';
};

export const notebookRenderer: readonly Renderer[] = [
  {
    id: notebookIds.renderer,
    displayName: 'Lance Table',
    entrypoint: './dist/renderer.js',
    mimeTypes: [arrowStreamMime],
    requiresMessaging: 'optional',
  },
  {
    id: notebookIds.jobRenderer,
    displayName: 'Lance Backfill',
    entrypoint: './dist/jobRenderer.js',
    mimeTypes: [jobOutputMime],
    requiresMessaging: 'optional',
  },
  {
    id: notebookIds.vegaRenderer,
    displayName: 'Lance Chart (Vega)',
    entrypoint: './dist/vegaRenderer.js',
    mimeTypes: [
      'application/vnd.vegalite.v4+json',
      'application/vnd.vegalite.v5+json',
      'application/vnd.vegalite.v6+json',
      'application/vnd.vega.v5+json',
      'application/vnd.vega.v6+json',
    ],
    requiresMessaging: 'never',
  },
  {
    id: notebookIds.plotlyRenderer,
    displayName: 'Lance Chart (Plotly)',
    entrypoint: './dist/plotlyRenderer.js',
    mimeTypes: ['application/vnd.plotly.v1+json'],
    requiresMessaging: 'never',
  },
];

export const typescriptServerPlugins = [
  { name: 'lance-catalog-typescript', enableForWorkspaceTypeScriptVersions: true },
];

/** Grammars for the parts of cells that are not TypeScript: SQL and shell magics, and SQL in template literals. */
export const grammars = [
  {
    scopeName: 'lance-catalog.cells.injection',
    path: './snippets/cells.tmLanguage.json',
    injectTo: ['source.ts'],
    embeddedLanguages: {
      'meta.embedded.block.sql': 'sql',
      'meta.embedded.block.shell': 'shellscript',
      'meta.embedded.line.shell': 'shellscript',
      'meta.template.expression': 'typescript',
    },
  },
  {
    scopeName: 'lance-catalog.sql.injection',
    path: './snippets/sqlTemplates.tmLanguage.json',
    injectTo: ['source.ts'],
    embeddedLanguages: { 'meta.embedded.block.sql': 'sql', 'meta.template.expression': 'typescript' },
  },
];

export const snippets = [{ path: './snippets/lance-catalog.code-snippets' }];
