import type ts from 'typescript-6';
import { notebookOf, readPluginConfig, type PluginConfig } from './pluginConfig.ts';

type Project = ts.server.Project;
type Service = ts.LanguageService;
type Classified = [span: ts.TextSpan, format?: ts.SemanticClassificationFormat];

/** Empty results for cells that the language worker handles. All other requests go to the server. */
const nothing = {
  getCompletionsAtPosition: () => undefined,
  getQuickInfoAtPosition: () => undefined,
  getSignatureHelpItems: () => undefined,
  getDefinitionAtPosition: () => undefined,
  getDefinitionAndBoundSpan: () => undefined,
  getTypeDefinitionAtPosition: () => undefined,
} satisfies Partial<Record<keyof Service, () => unknown>>;

const noErrors = {
  getSyntacticDiagnostics: () => [],
  getSemanticDiagnostics: () => [],
  getSuggestionDiagnostics: () => [],
} satisfies Partial<Record<keyof Service, () => unknown>>;

/**
 * Creates the plugin for VS Code's TypeScript server. That server treats each cell as a separate file: if a cell has an
 * import, other cells don't see the names of that cell. The plugin affects only cells of Lance notebooks.
 */
export function init(): ts.server.PluginModule {
  let config: PluginConfig = { notebooks: [], isMuted: false, types: '' };
  const projects = new Set<Project>();

  const isOurs = (file: string): boolean => {
    const notebook = notebookOf(file);
    return notebook !== undefined && config.notebooks.includes(notebook);
  };
  const isMuted = (file: string): boolean => config.isMuted && isOurs(file);

  return {
    create({ project, languageService: service, languageServiceHost: host, config: sent }) {
      // The server calls `init` for each project, and each cell of an untitled notebook is a project. A project that is
      // created after the last change of the configuration gets the configuration here, and no event.
      config = readPluginConfig(sent) ?? config;
      // Remove closed projects here, because plugins get no event when a project closes.
      for (const known of projects) if (known.isClosed()) projects.delete(known);
      projects.add(project);
      declareTypes(host, isOurs, () => (config.isMuted ? '' : config.types));
      return mutedService(service, host, isMuted, isOurs);
    },
    onConfigurationChanged(value: unknown) {
      const changed = readPluginConfig(value);
      if (!changed) return;
      config = changed;
      for (const project of projects) {
        if (project.isClosed()) projects.delete(project);
        else if (project.getFileNames().some((file) => notebookOf(file) !== undefined)) renew(project);
      }
    },
  };
}

/** Makes a project read its list of files again, so that VS Code requests diagnostics again. */
function renew(project: Project): void {
  // TypeScript's types lack `markAsDirty`. Without this call, a project whose files did not change keeps its program.
  (project as Project & { markAsDirty(): void }).markAsDirty();
  project.updateGraph();
  project.refreshDiagnostics();
}

/**
 * Adds the declarations of notebook globals to a project that contains only Lance cells. Skips other projects, because
 * all their files would see the globals.
 */
function declareTypes(host: ts.LanguageServiceHost, isOurs: (file: string) => boolean, types: () => string): void {
  const before = host.getScriptFileNames.bind(host);
  host.getScriptFileNames = () => {
    const files = before();
    const file = types();
    const own = files.filter((one) => !/\/node_modules\/|\/lib\.[\w.]+\.d\.ts$/.test(one));
    return file !== '' && own.length > 0 && own.every(isOurs) ? [...files, file] : files;
  };
}

/** Matches a cell whose code below the first line is SQL or shell commands. */
const otherLanguage = /^\s*%%(?:sql|sh)(?:\s|$)/;

/** Matches a cell whose first line is a magic or a question. No TypeScript code has such a first line. */
const magic = /^\s*(?:%%?|\?\??)[a-z]/i;
/** Number of characters of a cell that are searched for a magic. */
const headLength = 200;

function mutedService(
  service: Service,
  host: ts.LanguageServiceHost,
  isMuted: (file: string) => boolean,
  isOurs: (file: string) => boolean,
): Service {
  // Copy the methods, because the server calls them on this object.
  const proxy: Record<string, unknown> = { ...service };
  const silence = (answers: Partial<Record<keyof Service, () => unknown>>, isSilent: (file: string) => boolean) => {
    for (const [name, answer] of Object.entries(answers)) {
      const method = service[name as keyof Service] as (file: string, ...rest: unknown[]) => unknown;
      proxy[name] = (file: string, ...rest: unknown[]) =>
        isSilent(file) ? answer() : method.call(service, file, ...rest);
    }
  };
  // The server asks for errors before the extension has told it which notebooks use the Lance kernel.
  const isMagic = (file: string): boolean => {
    if (notebookOf(file) === undefined) return false;
    const text = host.getScriptSnapshot(file);
    return text !== undefined && magic.test(text.getText(0, Math.min(headLength, text.getLength())));
  };
  silence(nothing, isMuted);
  silence(noErrors, (file) => isMuted(file) || isMagic(file));
  // Color no names in cells with SQL or shell commands. Otherwise a column with the name of a global would get the
  // color of that global.
  proxy['getEncodedSemanticClassifications'] = (file: string, ...rest: Classified) =>
    isOurs(file) && otherLanguage.test(service.getProgram()?.getSourceFile(file)?.text ?? '')
      ? { spans: [], endOfLineState: 0 }
      : service.getEncodedSemanticClassifications(file, ...rest);
  return proxy as unknown as Service;
}
