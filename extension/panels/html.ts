import { randomBytes } from 'node:crypto';
import type * as vscode from 'vscode';

/** The shape of a page while it loads: the lines of a page of text, the rows of a table, or its toolbar and its rows. */
type Skeleton = 'page' | 'rows' | 'table';

/**
 * Returns the page of a webview. Its policy allows one script and one stylesheet of this extension, and the styles of
 * the skeleton, and nothing else. The skeleton is visible until the script has something to show.
 */
export function webviewHtml(
  webview: Pick<vscode.Webview, 'asWebviewUri' | 'cspSource'>,
  dist: vscode.Uri,
  name: string,
  title: string,
  skeleton: Skeleton,
): string {
  const nonce = randomBytes(16).toString('base64');
  const file = (extension: string) =>
    webview.asWebviewUri(dist.with({ path: `${dist.path.replace(/\/$/, '')}/${name}.${extension}` })).toString();
  const policy = [
    `default-src 'none'`,
    `script-src 'nonce-${nonce}'`,
    `style-src ${webview.cspSource} 'nonce-${nonce}'`,
    `img-src blob: data:`,
    `font-src ${webview.cspSource}`,
    // The table panel plays audio and video of cells.
    ...(name === 'table' ? ['media-src blob:'] : []),
  ].join('; ');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta property="csp-nonce" nonce="${nonce}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style nonce="${nonce}">${skeletonCss}</style>
</head>
<body>
<div id="root"></div>
${skeletonHtml(skeleton)}
<link rel="stylesheet" href="${file('css')}">
<script type="module" nonce="${nonce}" src="${file('js')}"></script>
</body>
</html>`;
}

const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);

/** Number of lines in the skeleton of a page, including its heading, and of rows in the skeleton of a table. */
const skeletonLines: Readonly<Record<Skeleton, number>> = { page: 8, rows: 12, table: 13 };

const skeletonHtml = (kind: Skeleton): string =>
  `<div class="skeleton skeleton-${kind}" role="status" aria-label="Loading">${'<i></i>'.repeat(skeletonLines[kind])}</div>`;

/** Height of the toolbar of a table in pixels, as in `panel.css`; in a narrow panel it has two lines. */
const [toolbarHeight, narrowToolbarHeight] = [34, 64];

// The script and the stylesheet of a page can take seconds to load, and an empty page would be blank meanwhile. These
// styles are in the page itself, so that they need no request. The stylesheet is linked after the skeleton, because a
// link in the head would block the first paint. A page draws an empty busy element until it has data.
const skeletonCss = `
body { margin: 0; background: var(--vscode-editor-background); }
.skeleton { position: absolute; inset: 0; padding: 24px; overflow: hidden; pointer-events: none; }
.skeleton i {
  display: block; width: 46%; height: 12px; margin: 0 0 16px; border-radius: 2px;
  background: color-mix(in srgb, var(--vscode-foreground, gray) 14%, transparent);
}
.skeleton-page i:first-child { width: 32%; height: 24px; margin-bottom: 28px; }
.skeleton-page i:nth-child(3n) { width: 60%; }
.skeleton-page i:nth-child(4n) { width: 38%; }
.skeleton:is(.skeleton-rows, .skeleton-table) { padding: 0; }
:is(.skeleton-rows, .skeleton-table) i { width: 100%; height: 31px; margin: 0 0 2px; border-radius: 0; opacity: 0.5; }
.skeleton-rows i:first-child, .skeleton-table i:nth-child(2) { height: 40px; opacity: 1; }
.skeleton-table i:first-child { height: ${toolbarHeight - 2}px; opacity: 0.25; }
@media (max-width: 820px) { .skeleton-table i:first-child { height: ${narrowToolbarHeight - 2}px; } }
#root:not(:empty):not(:has(> [aria-busy='true']:empty)) + .skeleton { display: none; }
@media (forced-colors: active) { .skeleton i { box-sizing: border-box; border: 1px solid CanvasText; } }
`;
