import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';

/**
 * Returns the page of a webview. Its policy allows one script and one stylesheet of this extension and nothing else.
 */
export function webviewHtml(webview: vscode.Webview, dist: vscode.Uri, name: string, title: string): string {
  const nonce = randomBytes(16).toString('base64');
  const file = (extension: string) =>
    webview.asWebviewUri(vscode.Uri.joinPath(dist, `${name}.${extension}`)).toString();
  const policy = [
    `default-src 'none'`,
    `script-src 'nonce-${nonce}'`,
    `style-src ${webview.cspSource} 'nonce-${nonce}'`,
    `img-src blob: data:`,
    `font-src ${webview.cspSource}`,
  ].join('; ');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta property="csp-nonce" nonce="${nonce}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<link rel="stylesheet" href="${file('css')}">
</head>
<body>
<div id="root"></div>
<script type="module" nonce="${nonce}" src="${file('js')}"></script>
</body>
</html>`;
}

const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
