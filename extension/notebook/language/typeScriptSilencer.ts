import * as vscode from 'vscode';
import { isRecord } from '#shared/records.ts';
import { logFailure, type Log } from '../../host/log.ts';
import { notebookPath, pluginName, type PluginConfig } from '../../typescriptPlugin/pluginConfig.ts';
import type { LanguageNotebooks } from './notebooks.ts';
import type { LanguageWorker } from './worker.ts';

const builtInId = 'vscode.typescript-language-features';
/** The setting for TypeScript's native server, which has no plugins. Its name differs between versions of VS Code. */
const nativeSettings = ['js/ts.experimental.useTsgo', 'typescript.experimental.useTsgo'];

type PluginApi = { configurePlugin(name: string, config: PluginConfig): void };

export type LanguageMuteDeps = { log: Log; notebooks: LanguageNotebooks; worker: LanguageWorker; types: string };

/** Mutes VS Code's own TypeScript in cells that the language worker handles, and unmutes it when the worker stops. */
export class TypeScriptSilencer implements vscode.Disposable {
  readonly #parts: LanguageMuteDeps;
  readonly #subscriptions: vscode.Disposable[];
  #told = '';
  #isAlone = false;
  #isProven = false;

  constructor(parts: LanguageMuteDeps) {
    this.#parts = parts;
    const tell = () =>
      void this.#tell().catch((error: unknown) => logFailure(parts.log, 'configuring TypeScript', error));
    this.#subscriptions = [
      parts.notebooks.onDidChange(tell),
      parts.worker.onDidChange(tell),
      vscode.extensions.onDidChange(tell),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (nativeSettings.some((name) => event.affectsConfiguration(name))) tell();
      }),
    ];
    tell();
  }

  /** Whether cells get results only from the language worker. */
  get isAlone(): boolean {
    return this.#isAlone;
  }

  /**
   * Whether muting has taken effect, so that only the language worker returns results. While TypeScript starts, muting
   * has no effect yet: a second TypeScript server without plugins returns results, and the first server applies the
   * configuration with a delay.
   */
  get isProven(): boolean {
    return this.#isAlone && this.#isProven;
  }

  /** Records that only the language worker had a result. */
  prove(): void {
    this.#isProven = true;
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  async #tell(): Promise<void> {
    const { notebooks, worker, types } = this.#parts;
    const paths = notebooks.list().map(({ uri }) => notebookPath(uri.path));
    const isMuted = worker.process !== undefined;
    const config: PluginConfig = { notebooks: paths, isMuted, types };
    const written = JSON.stringify(config);
    // Without a Lance notebook there is nothing to configure, and no reason to start TypeScript.
    if (written === this.#told || (this.#told === '' && paths.length === 0)) return;
    this.#told = written;
    // Keep `#isProven` while cells stay muted, because muting one more notebook takes effect within a moment. After
    // cells were unmuted, muting must be proven again, because TypeScript may have to start first.
    if (!isMuted) this.#isProven = false;
    const builtIn = vscode.extensions.getExtension<unknown>(builtInId);
    const api = builtIn && !isNative() ? apiOf(await builtIn.activate()) : undefined;
    // Another call may have had a newer configuration while TypeScript started.
    if (written !== this.#told) return;
    api?.configurePlugin(pluginName, config);
    this.#isAlone = isMuted && (api !== undefined || builtIn === undefined);
  }
}

const isNative = (): boolean => nativeSettings.some((name) => vscode.workspace.getConfiguration().get(name) === true);

/** Returns the API of VS Code's TypeScript extension; `undefined` if the extension has no API or an unknown API. */
function apiOf(exported: unknown): PluginApi | undefined {
  const api: unknown =
    isRecord(exported) && typeof exported['getAPI'] === 'function' ? exported['getAPI'](0) : undefined;
  return isPluginApi(api) ? api : undefined;
}

const isPluginApi = (api: unknown): api is PluginApi => isRecord(api) && typeof api['configurePlugin'] === 'function';
