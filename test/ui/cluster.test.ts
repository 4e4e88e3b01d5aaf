import assert from 'node:assert/strict';
import type { Locator } from 'playwright-core';
import { names } from '../cluster/parts/sound/names.ts';
import { tempFolder } from '../harness/temp.ts';
import { openWindow, shoot, type Window } from '../harness/window.ts';
import { frameWith, runCommand } from '../harness/workbench.ts';
import { KubeApiStandIn } from '../host/cluster/kubeApiStandIn.ts';
import { chooseInMenu, openCatalog, openMenu, switchTheme, treeRow } from './parts/catalogWindow.ts';
import { contrast } from './parts/contrast.ts';

const patience = 90_000;
const watching = 'Service account may watch pods';

// All tests use one window, in order. Each test continues where the previous test ended, as a user does.
suite('A window that verifies a cluster', function () {
  this.timeout(180_000);
  let window: Window;
  let kube: KubeApiStandIn;

  suiteSetup(async () => {
    kube = await KubeApiStandIn.start(tempFolder('lance-kube-'));
    const { namespace, serviceAccount, rayCluster } = names;
    const production = { kubeconfig: kube.kubeconfig, namespace, serviceAccount, rayCluster };
    window = await openWindow({ 'lanceCatalog.cluster.profiles': { production } }, { width: 1400, height: 1100 });
  });

  suiteTeardown(async () => {
    await window?.close();
    await kube?.stop();
  });

  teardown(async function () {
    if (this.currentTest?.state === 'failed')
      await shoot(window, `failed-${this.currentTest.title.replaceAll(/\W+/g, '-')}`);
  });

  const pane = (): Locator =>
    window.page.locator('.pane', { has: window.page.locator('.pane-header[aria-label^="Cluster Checks"]') });

  const statusItem = (): Locator =>
    window.page.locator('.statusbar-item[aria-label^="Lance cluster checks of production"]');

  /** Removes a permission of the service account and the GPUs of the GPU node, as after a wrong setup. */
  function plantFaults(): void {
    const { rules } = kube.objects.find('ClusterRole', names.role) as unknown as {
      rules: { resources: string[]; verbs: string[] }[];
    };
    for (const rule of rules) rule.verbs = rule.verbs.filter((verb) => verb !== 'watch');
    Object.assign(kube.objects.find('Node', names.nodes.gpu)['status'].allocatable, { 'nvidia.com/gpu': '0' });
  }

  test('says what the view is for before a cluster was verified', async () => {
    const { page } = window;
    await openCatalog(page);
    await treeRow(page, 'Connection sample').waitFor({ timeout: patience });
    const verify = pane().locator('.monaco-button', { hasText: 'Verify Cluster Identity' });
    const make = pane().locator('.monaco-button', { hasText: 'New Cluster Profile…' });
    await verify.waitFor();
    await shoot(window, 'cluster-welcome');
    const [view, button] = [await pane().boundingBox(), await make.boundingBox()];
    assert.ok(
      view && button && button.y + button.height <= view.y + view.height,
      'all of it is seen without scrolling',
    );
    // Collapse the catalog view to make this view higher. A user would drag the border.
    await page.locator('.pane-header', { hasText: 'Catalogs' }).click();
  });

  test('shows what waits for an answer', async () => {
    const { page } = window;
    kube.hold((asked) => asked.includes('/deployments'));
    await pane().locator('.monaco-button', { hasText: 'Verify Cluster Identity' }).click();
    await treeRow(page, 'KubeRay operator is ready: running').waitFor({ timeout: patience });
    await shoot(window, 'cluster-asking');
    kube.hold();
    await statusItem().waitFor({ timeout: patience });
  });

  test('shows what failed, with counts on the view and in the status bar', async () => {
    const { page } = window;
    plantFaults();
    await pane().locator('.pane-header').hover();
    await pane().locator('a[aria-label="Verify Cluster Identity"]').click();
    await treeRow(page, `${watching}: failed`).waitFor({ timeout: patience });
    await statusItem().waitFor({ timeout: patience });
    const badge = page.locator('.activitybar .action-item.checked .badge-content');
    assert.match(await badge.innerText(), /^\d+$/);
    await shoot(window, 'cluster-report');
  });

  for (const [theme, kind, name] of [
    ['Dark 2026', 'vs-dark', 'dark'],
    ['Dark High Contrast', 'hc-black', 'high-contrast'],
    ['Light 2026', 'vs', 'light'],
  ] as const) {
    test(`can be read in the theme ${theme}`, async () => {
      const { page } = window;
      await switchTheme(page, theme);
      await page.locator(`.monaco-workbench.${kind}`).waitFor();
      const row = treeRow(page, `${watching}: failed`);
      await row.scrollIntoViewIfNeeded();
      await pane().locator('.pane-header').hover();
      await row.hover();
      await page.locator('.workbench-hover', { hasText: 'SubjectAccessReview' }).waitFor();
      const [text, ground] = await row.locator('.label-name').first().evaluate(coloursInView);
      assert.ok(contrast(text, ground) >= 4.5, `${text} on ${ground}`);
      await shoot(window, `cluster-${name}`);
    });
  }

  test('lists problems alone at a click, and all again', async () => {
    const { page } = window;
    await pane().locator('.pane-header').hover();
    await pane().locator('a[aria-label="Show Only Problems"]').click();
    await treeRow(page, 'Namespace exists').waitFor({ state: 'detached' });
    await treeRow(page, `${watching}: failed`).waitFor();
    await shoot(window, 'cluster-problems');
    await pane().locator('.pane-header').hover();
    await pane().locator('a[aria-label="Show All Checks"]').click();
    await treeRow(page, 'Namespace exists').waitFor();
  });

  test('shows its report, and what is written about a check', async () => {
    const { page } = window;
    await runCommand(page, 'Lance Catalog: Show Check Report');
    const frame = await frameWith(page, 'h1:has-text("Cluster production")', patience);
    await frame.locator('h2', { hasText: 'Identity and roles' }).waitFor();
    await shoot(window, 'cluster-markdown');
    await frame.locator('code', { hasText: 'rbac-pods-watch' }).first().waitFor();
    await openMenu(page, treeRow(page, `${watching}: failed`), 'Open Check Documentation');
    await chooseInMenu(page, 'Open Check Documentation');
    const docs = await frameWith(page, 'h1:has-text("Cluster checks")', patience);
    await docs.locator('h2', { hasText: 'rbac-pods-watch' }).waitFor();
    await shoot(window, 'cluster-docs');
  });

  test('shows what a check asked and saw when it is clicked', async () => {
    const { page } = window;
    await treeRow(page, `${watching}: failed`).click();
    const frame = await frameWith(page, `h1:has-text("${watching}")`, patience);
    await frame.getByText('SubjectAccessReview watch pods').first().waitFor();
    await shoot(window, 'cluster-evidence');
  });

  test('shows what the cluster would become, asks, and sees the check pass', async () => {
    const { page } = window;
    const row = treeRow(page, `${watching}: failed`);
    await row.hover();
    await row.locator('a[aria-label="Show Fix"]').click();
    await page.locator('.monaco-diff-editor .view-line', { hasText: 'watch' }).first().waitFor({ timeout: patience });
    await shoot(window, 'cluster-diff');
    await page.locator('.editor-actions a[aria-label^="Apply to Cluster…"]').click();
    const dialog = page.locator('.monaco-dialog-box', { hasText: 'Apply to the cluster "production"?' });
    await dialog.waitFor();
    await shoot(window, 'cluster-apply');
    await dialog.locator('.monaco-button', { hasText: 'Apply' }).click();
    // A category without problems is collapsed.
    await treeRow(page, 'Identity and roles, 20 passed').waitFor({ timeout: patience });
    await shoot(window, 'cluster-mended');
  });

  test('asks before a RayCluster is made past a failed check, and tells how it comes up until the person stops it', async () => {
    const { page } = window;
    kube.objects.remove('ServiceAccount', names.serviceAccount);
    kube.objects.remove('RayCluster', names.rayCluster);
    await runCommand(page, 'Lance Catalog: Create KubeRay Cluster…');
    const dialog = page.locator('.monaco-dialog-box', { hasText: '"production" is not ready: a check failed.' });
    await dialog.waitFor({ timeout: patience });
    await shoot(window, 'cluster-gate');
    await dialog.locator('.monaco-button', { hasText: 'Create Anyway' }).click();
    const progress = page.locator('.notifications-toasts .notification-list-item', {
      hasText: 'Creating a RayCluster',
    });
    await progress.getByText(`${names.rayCluster}: `).waitFor({ timeout: patience });
    await shoot(window, 'cluster-creating');
    assert.ok(kube.asked.some((asked) => asked.startsWith('PATCH') && asked.includes(`/${names.rayCluster}`)));
    await progress.locator('.monaco-button', { hasText: 'Cancel' }).click();
    await progress.waitFor({ state: 'hidden', timeout: patience });
  });
});

/** Runs in the page. Returns the color of an element's text, and that of the side bar behind it. */
function coloursInView(element: Element): [text: string, ground: string] {
  const sideBar = element.closest('.part.sidebar') ?? element;
  return [getComputedStyle(element).color, getComputedStyle(sideBar).backgroundColor];
}
