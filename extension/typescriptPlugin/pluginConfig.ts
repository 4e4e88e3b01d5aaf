/** What the extension tells the plugin, whole, each time that it changes. */
export type PluginConfig = {
  /** Paths of the notebooks of our kernel. */
  notebooks: string[];
  /** Whether the language worker answers for them, so that the editor's TypeScript need not. */
  isMuted: boolean;
  /** The declarations of what every notebook has, `db` for instance; read while the worker does not answer. */
  types: string;
};

export const pluginName = 'lance-catalog-typescript';

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string');

/** The configuration in something that came from the editor; `undefined` when there is none in it. */
export function readPluginConfig(value: unknown): PluginConfig | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { notebooks, isMuted, types } = value as Record<string, unknown>;
  if (!isTexts(notebooks) || typeof isMuted !== 'boolean' || typeof types !== 'string') return undefined;
  return { notebooks, isMuted, types };
}

/**
 * The path of the notebook whose cell a file of the TypeScript server is, `undefined` for every other file. The server
 * calls a cell `^/vscode-notebook-cell/<authority>/<path of the notebook>#<cell>`.
 */
export function notebookOf(file: string): string | undefined {
  return /^\^\/vscode-notebook-cell\/[^/]*(\/[^#]*)#/.exec(file)?.[1];
}

/** A notebook's path as `notebookOf` gives it: that of an untitled one has no slash of its own. */
export const notebookPath = (path: string): string => (path.startsWith('/') ? path : `/${path}`);
