/** The complete configuration, which the extension sends to the plugin after each change. */
export type PluginConfig = {
  /** Paths of the notebooks for the Lance kernel. */
  notebooks: string[];
  /** Whether the language worker handles the cells, so that VS Code's TypeScript must not. */
  isMuted: boolean;
  /** Path of the declarations of notebook globals such as `db`; used while the worker is not available. */
  types: string;
};

export const pluginName = 'lance-catalog-typescript';

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string');

/** Validates a configuration received from VS Code; `undefined` if it is not valid. */
export function readPluginConfig(value: unknown): PluginConfig | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { notebooks, isMuted, types } = value as Record<string, unknown>;
  if (!isTexts(notebooks) || typeof isMuted !== 'boolean' || typeof types !== 'string') return undefined;
  return { notebooks, isMuted, types };
}

/**
 * Returns the path of the notebook whose cell the file is; `undefined` for other files. The TypeScript server names a
 * cell `^/vscode-notebook-cell/<authority>/<path of the notebook>#<cell>`.
 */
export function notebookOf(file: string): string | undefined {
  return /^\^\/vscode-notebook-cell\/[^/]*(\/[^#]*)#/.exec(file)?.[1];
}

/**
 * Converts a notebook's path to the form that `notebookOf` returns: the path of an untitled notebook has no leading
 * slash.
 */
export const notebookPath = (path: string): string => (path.startsWith('/') ? path : `/${path}`);
