import { backfillTaskType, panelTypes, notebookIds, viewContainerId, viewIds } from '../manifest.ts';
import { commands } from './commands.ts';
import { keybindings, menus } from './menus.ts';
import { breakpoints, debuggers, grammars, notebookRenderer, snippets, typescriptServerPlugins } from './notebooks.ts';
import { settings } from './settings.ts';
import { jsonValidation, taskDefinitions } from './tasks.ts';
import { customEditors, viewFileValidation } from './viewFiles.ts';
import { views, viewsContainers, viewsWelcome } from './views.ts';
import { walkthroughs } from './walkthroughs.ts';

/** Returns the part of package.json that VS Code reads. `npm run generate` writes it; `npm run check` compares it. */
export function packageContributions() {
  return {
    activationEvents: [
      `onNotebook:${notebookIds.notebookType}`,
      ...Object.values(panelTypes).map((type) => `onWebviewPanel:${type}`),
      `onTaskType:${backfillTaskType}`,
      // The status bar shows the connection of a SQL file.
      'onLanguage:sql',
      ...jsonValidation.map(({ fileMatch }) => `workspaceContains:**/${fileMatch}`),
    ],
    // Settings that VS Code ignores in an untrusted workspace, because each one starts a program, names a path or
    // changes how cells run.
    restrictedConfigurations: Object.keys(settings).toSorted(),
    contributes: {
      commands: Object.entries(commands).map(([command, { title, shortTitle, icon, enablement }]) => ({
        command,
        title,
        shortTitle,
        category: 'Lance Catalog',
        icon: icon && `$(${icon})`,
        enablement,
      })),
      viewsContainers,
      views: {
        [viewContainerId]: Object.entries(views).map(([name, view]) => ({
          id: viewIds[name as keyof typeof viewIds],
          ...view,
        })),
      },
      viewsWelcome: viewsWelcome.map(({ view, when, contents }) => ({
        view: viewIds[view],
        when,
        contents: contents.join('\n'),
      })),
      menus: { ...menus, commandPalette: paletteItems() },
      keybindings,
      configuration: { title: 'Lance Catalog', properties: settings },
      debuggers,
      breakpoints,
      notebookRenderer,
      typescriptServerPlugins,
      grammars,
      snippets,
      jsonValidation: [...jsonValidation, viewFileValidation],
      customEditors,
      taskDefinitions,
      walkthroughs,
    },
  };
}

function paletteItems(): { command: string; when: string }[] {
  return Object.entries(commands).flatMap(([command, { palette }]) =>
    palette === undefined ? [] : [{ command, when: palette }],
  );
}
