import type ts from 'typescript-6';
import { notebookOf, readPluginConfig, type PluginConfig } from './pluginConfig.ts';

type Project = ts.server.Project;
type Service = ts.LanguageService;
type Classified = [span: ts.TextSpan, format?: ts.SemanticClassificationFormat];

/** What is answered for the cells that the language worker answers for: nothing. Everything else stays the server's. */
const nothing = {
  getCompletionsAtPosition: () => undefined,
  getQuickInfoAtPosition: () => undefined,
  getSignatureHelpItems: () => undefined,
  getDefinitionAtPosition: () => undefined,
  getDefinitionAndBoundSpan: () => undefined,
  getTypeDefinitionAtPosition: () => undefined,
  getSyntacticDiagnostics: () => [],
  getSemanticDiagnostics: () => [],
  getSuggestionDiagnostics: () => [],
} satisfies Partial<Record<keyof Service, () => unknown>>;

/**
 * A plugin of the editor's TypeScript server, which sees every cell of a notebook as a file of its own: names of a cell
 * with an import are unknown in the others. Touches the cells of our notebooks and no other file.
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
    create({ project, languageService: service, languageServiceHost: host }) {
      // A project ends without a word to its plugins; the ones that have are left behind when the next comes.
      for (const known of projects) if (known.isClosed()) projects.delete(known);
      projects.add(project);
      declareTypes(host, isOurs, () => (config.isMuted ? '' : config.types));
      return mutedService(service, isMuted, isOurs);
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

/** Has a project read which files it has, and the editor ask for what is wrong in them. */
function renew(project: Project): void {
  // Not declared by TypeScript. A project whose files did not change keeps the program that it has.
  (project as Project & { markAsDirty(): void }).markAsDirty();
  project.updateGraph();
  project.refreshDiagnostics();
}

/**
 * Adds the declarations of what a notebook has to a project in which there is nothing but our cells: what they declare
 * is known to every file of a project.
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

/** A cell that is SQL or commands of a shell from its second line on. */
const otherLanguage = /^\s*%%(?:sql|sh)(?:\s|$)/;

function mutedService(
  service: Service,
  isMuted: (file: string) => boolean,
  isOurs: (file: string) => boolean,
): Service {
  // Own copies of the methods: the server calls them on this object.
  const proxy: Record<string, unknown> = { ...service };
  for (const [name, answer] of Object.entries(nothing)) {
    const method = service[name as keyof typeof nothing] as (file: string, ...rest: unknown[]) => unknown;
    proxy[name] = (file: string, ...rest: unknown[]) =>
      isMuted(file) ? answer() : method.call(service, file, ...rest);
  }
  // A column with the name of a global would have the colour of that.
  proxy['getEncodedSemanticClassifications'] = (file: string, ...rest: Classified) =>
    isOurs(file) && otherLanguage.test(service.getProgram()?.getSourceFile(file)?.text ?? '')
      ? { spans: [], endOfLineState: 0 }
      : service.getEncodedSemanticClassifications(file, ...rest);
  return proxy as unknown as Service;
}
