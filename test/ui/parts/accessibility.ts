import axe from 'axe-core';
import type { Page } from 'playwright-core';

/**
 * Returns what axe-core finds in a page that is serious or critical, a line each: the rule, the element, and why.
 * The rest is advice for whole web pages, such as landmarks, which a webview is not.
 */
export async function seriousProblems(page: Page): Promise<string[]> {
  // Evaluated by the protocol of the browser, which the policy of the page does not concern.
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() => (window as unknown as { axe: typeof axe }).axe.run(document));
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary, html }) =>
        [id, target.join(' '), html.slice(0, 120), failureSummary?.replaceAll(/\s+/g, ' ')].join(' | '),
      ),
    );
}
