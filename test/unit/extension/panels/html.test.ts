import assert from 'node:assert/strict';
import type * as vscode from 'vscode';
import { webviewHtml } from '../../../../extension/panels/html.ts';

/** Stands in for a URI of VS Code, which exists only in an editor. */
const uriStandIn = (path: string): vscode.Uri =>
  ({
    path,
    with: (change: { path: string }) => uriStandIn(change.path),
    toString: () => `vscode:${path}`,
  }) as vscode.Uri;

const html = (name: string, title = 'Job'): string =>
  webviewHtml(
    { asWebviewUri: (file) => file, cspSource: 'vscode:' },
    uriStandIn('/ext/dist'),
    name,
    title,
    name === 'table' ? 'table' : 'page',
  );

suite('The page of a webview', () => {
  test('has a skeleton in its first HTML, which needs neither a script nor a request', () => {
    for (const name of ['table', 'jobPage']) {
      const page = html(name);
      assert.match(page, /<div class="skeleton skeleton-(page|table)" role="status" aria-label="Loading"><i><\/i>/);
      const style = /<style nonce="[^"]+">([^<]*)<\/style>/.exec(page)?.[1] ?? '';
      assert.match(style, /\.skeleton i \{[^}]*background: color-mix\(in srgb, var\(--vscode-foreground/);
      assert.doesNotMatch(style, /url\(|@import/);
      assert.ok(page.indexOf('<i>') < page.indexOf('<link'), 'a stylesheet before it would block the first paint');
    }
    assert.match(html('table'), /skeleton-table/);
  });

  test('allows its own script and styles and nothing else', () => {
    const page = html('table');
    const nonces = [...page.matchAll(/nonce="([^"]+)"/g)].map(([, nonce]) => nonce);
    assert.equal(new Set(nonces).size, 1);
    const policy = /content="(default-src[^"]*)"/.exec(page)?.[1];
    assert.equal(
      policy,
      `default-src 'none'; script-src 'nonce-${nonces[0]}'; style-src vscode: 'nonce-${nonces[0]}'; img-src blob: data:; font-src vscode:; media-src blob:`,
    );
    assert.doesNotMatch(html('jobPage'), /media-src/);
    // The policy refuses attributes with styles.
    assert.doesNotMatch(page, / style="/);
    assert.notEqual(/nonce="([^"]+)"/.exec(html('table'))?.[1], nonces[0], 'each page has its own nonce');
  });

  test('names its files by the folder of the extension, and its title as text', () => {
    const page = html('jobPage', '<img src=x>');
    assert.match(page, /href="vscode:\/ext\/dist\/jobPage\.css"/);
    assert.match(page, /src="vscode:\/ext\/dist\/jobPage\.js"/);
    assert.doesNotMatch(page, /<img/);
  });
});
