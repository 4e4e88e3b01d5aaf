import assert from 'node:assert/strict';
import { loadAllYaml } from '@kubernetes/client-node';
import type { CheckId } from '#cluster/checkIds.ts';
import { manifestsYaml } from '#cluster/report/manifestYaml.ts';
import { reportHtml, runningHtml } from '#cluster/report/reportHtml.ts';
import { reportJson } from '#cluster/report/reportJson.ts';
import { reportMarkdown } from '#cluster/report/reportMarkdown.ts';
import { reportTable } from '#cluster/report/reportTable.ts';
import { exitCodeOf, summaryOf } from '#cluster/report/summary.ts';
import type { CheckResult } from '#cluster/result.ts';
import { onlyOf, reportOf, someResults } from '../someReport.ts';

const report = reportOf(someResults);

const skip = (id: CheckId, sentence: string): CheckResult => ({
  ...(someResults[5] as CheckResult),
  id,
  sentence,
  status: 'skipped',
});

const blocked = (id: CheckId, by: CheckId): CheckResult =>
  ({ ...(someResults[3] as CheckResult), id, by: [by] }) as CheckResult;

suite('The exit code of a report', () => {
  test('is 0 when nothing failed, though something warned or was skipped', () => {
    assert.equal(exitCodeOf(onlyOf('k8s-reach', 'k8s-clock', 'gcp-adc')), 0);
  });

  test('is 1 when a check failed, --strict or not', () => {
    assert.equal(exitCodeOf(report), 1);
    assert.equal(exitCodeOf(report, { strict: true }), 1);
  });

  test('is 2 when the run was stopped, whatever it had found', () => {
    assert.equal(exitCodeOf(reportOf(someResults, { stopped: true })), 2);
    assert.equal(exitCodeOf(reportOf([], {})), 2);
  });

  test('is 3 when only warnings are there and --strict was said', () => {
    assert.equal(exitCodeOf(onlyOf('k8s-reach', 'k8s-clock'), { strict: true }), 3);
    assert.equal(exitCodeOf(onlyOf('k8s-reach'), { strict: true }), 0);
  });
});

suite('A report as JSON', () => {
  test('has its version, its success and every result with all that it has and its place in the documentation', () => {
    const stored = JSON.parse(reportJson(report)) as Record<string, unknown> & { results: Record<string, unknown>[] };
    assert.deepEqual(Object.keys(stored), [
      'version',
      'success',
      'profile',
      'startedAt',
      'milliseconds',
      'stopped',
      'counts',
      'results',
    ]);
    assert.equal(stored['success'], false);
    assert.deepEqual(
      stored.results.map(({ docs, ...rest }) => [docs, rest]),
      someResults.map((result) => [`docs/cluster-checks.md#${result.id}`, { ...result }]),
    );
  });

  test('says success when a whole run failed nothing, and not when it was stopped', () => {
    assert.match(reportJson(onlyOf('k8s-reach', 'k8s-clock')), /"success": true/);
    assert.match(reportJson(reportOf(someResults.slice(0, 1), { stopped: true })), /"success": false/);
  });
});

suite('A report as a table', () => {
  const table = reportTable(report);
  const lines = table.split('\n');

  test('has a line a check with mark, word, id and title, by categories', () => {
    assert.ok(lines.includes('√ passed   k8s-reach             The API server answers'), table);
    assert.ok(lines.includes('⊘ blocked  rbac-binding-cluster  A binding for the whole cluster is there'), table);
    assert.deepEqual(
      lines.filter((_, index) => /^-+$/.test(lines[index + 1] ?? '')),
      ['Connection', 'Identity and roles', 'AWS', 'Google Cloud'],
    );
  });

  test('has below a failure its sentence, what mends it and where to read on', () => {
    const at = lines.findIndex((line) => line.includes('irsa-trust'));
    assert.deepEqual(lines.slice(at + 1, at + 5), [
      '    The trust policy of geneva-role names another subject.',
      '    fix     aws iam update-assume-role-policy --role-name geneva-role --policy-document file://trust.json',
      '    review  lance-catalog check --mend irsa-trust',
      '    read    docs/cluster-checks.md#irsa-trust',
    ]);
  });

  test('leads to --mend where a command has several lines, since moved in they would not run', () => {
    assert.doesNotMatch(table, /kubectl apply/);
    assert.match(table, /^ {4}review {2}lance-catalog check --mend rbac-pods-get$/m);
  });

  test('says --mend with what else names the cluster', () => {
    const own = reportTable(report, { fixCommand: (id) => `lance-catalog check --profile prod --mend ${id}` });
    assert.match(own, /^ {4}review {2}lance-catalog check --profile prod --mend rbac-pods-get$/m);
  });

  test('ends with the summary', () => {
    assert.equal(lines.at(-2), 'prod: 1 check passed, 1 warning, 2 failed, 1 blocked, 1 skipped, in 0.8 s.');
    assert.match(summaryOf(reportOf([], { stopped: true })), /stopped before it finished/);
  });

  test('lets no text of a cluster command a terminal', () => {
    assert.ok(!table.includes('\u001b'), table);
    assert.match(table, /8 minutes late\.\\x1b\[31m/);
  });

  test('has colours only where they are asked for', () => {
    const coloured = reportTable(report, { colours: true });
    assert.ok(coloured.includes('\u001b[31m× failed'), coloured);
    // oxlint-disable-next-line no-control-regex -- these are the escape sequences
    assert.equal(coloured.replaceAll(/\u001b\[\d+m/g, ''), table);
  });

  test('leaves out in short what passed and what does not apply', () => {
    const short = reportTable(report, { short: true });
    assert.deepEqual(
      someResults.map(({ id }) => new RegExp(String.raw`^. \w+ +${id} `, 'm').test(short)),
      [false, true, true, true, true, false],
    );
    assert.match(short, /1 check passed/);
  });

  test('counts unknown results separately from checks that do not apply, and strict treats them as a problem', () => {
    const unknown: CheckResult = { ...skip('gcp-wi-user', 'You may not ask.'), status: 'skipped', cause: 'unknown' };
    const doubtful = reportOf([{ ...skip('gcp-adc', 'Not on Google Cloud.'), attempts: 1 }, unknown]);
    const short = reportTable(doubtful, { short: true });
    assert.deepEqual([short.includes('gcp-wi-user'), short.includes('gcp-adc')], [true, false]);
    assert.match(reportTable(doubtful), /: 0 checks passed, 1 not known, 1 skipped, in /);
    assert.deepEqual([exitCodeOf(doubtful), exitCodeOf(doubtful, { strict: true })], [0, 3]);
    assert.match(reportJson(doubtful), /"cause": "unknown"/);
    assert.equal(exitCodeOf(reportOf([skip('gcp-adc', 'Not on Google Cloud.')]), { strict: true }), 0);
  });

  test('tells checks that were skipped for one reason in one line, and others each with its own', () => {
    const all = ['gcp-adc', 'gcp-wi-cluster', 'gcp-wi-nodepool'] as const;
    const skipped = [...all.map((id) => skip(id, 'Not on Google Cloud.')), skip('gcp-wi-user', 'You may not ask.')];
    const said = reportTable(reportOf(skipped));
    assert.match(said, /^– skipped {2}3 checks {9}Not on Google Cloud\.$/m);
    assert.match(said, /^– skipped {2}gcp-wi-user .*\n {4}You may not ask\.$/m);
    assert.match(reportHtml(reportOf(skipped)), /skipped: Not on Google Cloud\.<details><summary>3 checks</);
  });

  test('tells what hangs on one failure in one line, through all that hangs on it', () => {
    const failed = someResults[2] as CheckResult;
    const more = [blocked('rbac-pods-list', 'rbac-pods-get'), blocked('rbac-pods-watch', 'rbac-pods-list')];
    const hanging = reportOf([failed, ...more]);
    assert.match(
      reportTable(hanging),
      /^⊘ blocked {2}2 checks {9}They need rbac-pods-get\.\n {4}rbac-pods-list, rbac-pods-watch$/m,
    );
    assert.match(reportHtml(hanging), /blocked: They need rbac-pods-get\.<details><summary>2 checks</);
    assert.match(
      reportMarkdown(hanging),
      /^\| ⊘ blocked \| 2 checks \| They need rbac-pods-get\. \| \[rbac-pods-list\].*\[rbac-pods-watch\]/m,
    );
  });

  test('has with --verbose what was found by checks that passed, and all evidence', () => {
    const said = reportTable(report, { verbose: true });
    assert.match(
      said,
      /^ {4}https:\/\/127\.0\.0\.1:6443 answers\.\n {4}request GET \/version\n {4}result {2}v1\.30\.14$/m,
    );
    assert.doesNotMatch(table, /6443/);
  });

  test('says what a probe could not remove, in every form', () => {
    const left = reportOf(someResults, { left: ['The object s3://b/<probe> is still there.'] });
    assert.match(reportTable(left, { short: true }), /^‼ left {2}The object s3:\/\/b\/<probe> is still there\.$/m);
    assert.match(reportHtml(left), /left behind: The object s3:\/\/b\/&lt;probe&gt;/);
    assert.match(reportMarkdown(left), /Left behind:.*still there/);
    assert.match(reportJson(left), /"left": \[/);
  });

  test('wraps sentences at the width and no command', () => {
    const narrow = reportTable(report, { width: 50 }).split('\n');
    assert.ok(narrow.includes('    system:serviceaccount:geneva:geneva-sa may not'), narrow.join('\n'));
    assert.ok(narrow.some((line) => line.length > 80 && line.includes('aws iam')));
  });
});

suite('A report as Markdown', () => {
  const text = reportMarkdown(report, { docs: (id) => `command:docs?${id}` });

  test('tells first what is to be looked at, with commands to copy and documents folded', () => {
    const [todo = ''] = text.split('\n## Connection');
    assert.match(todo, /### × failed: The trust policy names the service account/);
    assert.match(todo, /```sh\naws iam update-assume-role-policy .*\n```/);
    assert.match(todo, /<summary>ClusterRole geneva-role<\/summary>\n\n```yaml\napiVersion: rbac/);
    assert.match(todo, /\[irsa-trust\]\(command:docs\?irsa-trust\)/);
  });

  test('has every check in the table of its category', () => {
    for (const { id } of someResults) assert.match(text, new RegExp(String.raw`^\| .*\[${id}\].* \|$`, 'm'));
  });

  test('names checks without a link where none can be followed', () => {
    const plain = reportMarkdown(report, { docs: () => undefined });
    assert.match(plain, /^`irsa-trust`$/m);
    assert.doesNotMatch(plain, /\[irsa-trust\]/);
  });

  test('takes nothing of a cluster for a mark of Markdown, a tag or the end of a fence', () => {
    assert.ok(text.includes(String.raw`may not get pods \| of the cluster.`), text);
    assert.ok(text.includes(String.raw`\<b\>this machine\</b\>`), text);
    assert.match(text, /````\n> SubjectAccessReview get pods\nallowed: false ``` <script>.*\n````/);
  });
});

suite('A report as HTML', () => {
  const html = reportHtml(report);

  test('opens the categories with problems and folds the others', () => {
    assert.match(html, /<details open><summary><strong>AWS<\/strong>/);
    assert.match(html, /<details><summary><strong>Google Cloud<\/strong>/);
  });

  test('makes a line that unfolds of what passed, and folds a manifest of many lines', () => {
    assert.match(html, /<details class="one"><summary>.* passed: The API server answers .*<\/summary>/);
    assert.match(html, /<details><summary>Fix: ClusterRole geneva-role<\/summary><pre>kubectl apply/);
    assert.match(html, /<div><pre>aws iam update-assume-role-policy/);
  });

  test('says every status in words, for who sees no colours', () => {
    for (const word of ['passed', 'warning', 'failed', 'blocked', 'skipped'])
      assert.match(html, new RegExp(`</i> ${word}: `));
  });

  test('runs nothing and escapes all texts of a cluster', () => {
    assert.ok(html.includes('&lt;script&gt;alert(1)&lt;/script&gt;') && !html.includes('<script'), html);
    assert.ok(html.includes('&lt;b&gt;this machine'), html);
  });

  test('of a run that goes on shows how far it is and the problems so far', () => {
    const running = runningHtml({
      profile: 'prod',
      results: someResults.slice(0, 2),
      total: 45,
      asking: ['ns-exists'],
    });
    assert.match(running, /<progress value="2" max="45"><\/progress> 2 of 45 checks · ns-exists/);
    assert.match(running, /k8s-clock/);
    assert.doesNotMatch(running, /k8s-reach/);
  });
});

suite('Manifests as YAML', () => {
  test('are read back as they were, whatever is in them', () => {
    const objects = [
      {
        apiVersion: 'example.com/v1',
        kind: 'Odd',
        metadata: { name: 'odd', labels: { 'geneva.lancedb.com/ray-head': 'true' }, annotations: {}, finalizers: [] },
        data: {
          yes: 'no',
          empty: '',
          number: '1.30',
          date: '2026-01-02',
          colon: 'a: b',
          end: 'a:',
          dash: '- a',
          lines: 'one\n  two\n',
          hash: 'a #b',
          tab: '\t',
          quote: `'"\\`,
          star: '*x',
          word: 'null',
          arn: 'arn:aws:iam::123456789012:role/geneva',
          unicode: 'Ärger \u2028 ✓',
        },
        nested: [[1, [2]], [], {}, [{ a: [{ b: null }] }], { c: { d: [true, -1.5, 1e21] } }],
      },
      { kind: 'Second' },
    ];
    assert.deepEqual(JSON.parse(JSON.stringify(loadAllYaml(manifestsYaml(objects)))), objects);
  });

  test('look as people write them', () => {
    const role = { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }], left: undefined };
    assert.equal(manifestsYaml([role]), 'rules:\n- apiGroups:\n  - ""\n  resources:\n  - pods\n  verbs:\n  - get\n');
  });
});
