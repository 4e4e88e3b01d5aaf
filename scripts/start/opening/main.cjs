// Arranges a new sample window in the browser: the catalog on the left, the tour on the right. A URL that names the
// notebook would open it as JSON, because VS Code has not loaded notebooks at that time.
const vscode = require('vscode');

exports.activate = async () => {
  await vscode.commands.executeCommand('lanceCatalog.catalog.focus');
  const isEmpty = vscode.window.tabGroups.all.every((group) => group.tabs.length === 0);
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  if (!isEmpty || !folder) return;
  const tour = await vscode.workspace.openNotebookDocument(vscode.Uri.joinPath(folder.uri, 'tour.ipynb'));
  await vscode.window.showNotebookDocument(tour);
};
