// Arranges a new sample window in the browser: the catalog on the left, the tour on the right. A file in the URL
// would open as JSON, before the editor has loaded notebooks.
const vscode = require('vscode');

exports.activate = async () => {
  await vscode.commands.executeCommand('lanceCatalog.catalog.focus');
  const isEmpty = vscode.window.tabGroups.all.every((group) => group.tabs.length === 0);
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  if (!isEmpty || !folder) return;
  const tour = await vscode.workspace.openNotebookDocument(vscode.Uri.joinPath(folder.uri, 'tour.ipynb'));
  await vscode.window.showNotebookDocument(tour);
};
