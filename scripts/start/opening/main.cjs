// A sample window in the browser begins as a newcomer expects it: the catalog on the left, the tour on the right. A file
// named in the address would open before the editor knows notebooks, as JSON.
const vscode = require('vscode');

exports.activate = async () => {
  await vscode.commands.executeCommand('lanceCatalog.catalog.focus');
  const isEmpty = vscode.window.tabGroups.all.every((group) => group.tabs.length === 0);
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  if (!isEmpty || !folder) return;
  const tour = await vscode.workspace.openNotebookDocument(vscode.Uri.joinPath(folder.uri, 'tour.ipynb'));
  await vscode.window.showNotebookDocument(tour);
};
