import assert from 'node:assert/strict';
import { appendFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { History, HistoryFolder } from '#session/history/history.ts';
import { tempFolder } from '../../../harness/temp.ts';

suite('The history of a kernel', () => {
  const history = new History();
  for (const [index, code] of ['6*7', 'let a = 1', '6*8', 'let a = 1'].entries()) history.add(index + 1, code);

  test('gives the last entries', () => {
    assert.deepEqual(history.tail(1), [[1, 4, 'let a = 1']]);
    assert.deepEqual(history.tail(0), []);
  });

  test('gives a range without its end, and nothing of another session', () => {
    assert.deepEqual(history.range(0, 2, 4), [
      [0, 2, 'let a = 1'],
      [0, 3, '6*8'],
    ]);
    assert.deepEqual(history.range(2, 0, null), []);
    assert.deepEqual(history.range(-1, 0, null), []);
  });

  test('finds what a glob matches as a whole', () => {
    assert.deepEqual(
      history.search('6*').map(([, line]) => line),
      [1, 3],
    );
    assert.deepEqual(history.search('6?'), []);
    assert.deepEqual(history.search('let ? = *', { unique: true }), [[1, 4, 'let a = 1']]);
    assert.deepEqual(history.search('*', { n: 1 }), [[1, 4, 'let a = 1']]);
  });

  test('takes a star of a pattern for any text where the text has a star itself', () => {
    assert.equal(history.search('6*8')[0]?.[1], 3);
    assert.equal(history.search('*').length, 4);
  });

  test('knows the result of a cell of this session', () => {
    history.addResult(1, '42');
    assert.equal(history.resultOf([1, 1, '6*7']), '42');
    assert.equal(history.resultOf([0, 1, '6*7']), '42');
    assert.equal(history.resultOf([5, 1, '6*7']), null);
  });

  test('answers a glob of many stars at once', () => {
    const long = new History();
    long.add(1, 'a'.repeat(5000));
    const before = process.cpuUsage();
    assert.deepEqual(long.search(`${'*a'.repeat(30)}*b`), []);
    // Compare processor time, because elapsed time depends on other processes.
    assert.ok(process.cpuUsage(before).user < 1_000_000);
  });
});

const open = (folder: string): History => new History(new HistoryFolder(folder));

suite('The history in a folder', () => {
  test('is there for a later kernel, with sessions numbered from 1', () => {
    const folder = join(tempFolder(), 'history');
    const first = open(folder);
    first.add(1, 'first');
    first.add(2, 'line 1\nline 2');
    first.close();
    const second = open(folder);
    second.add(1, 'second');
    assert.deepEqual(second.tail(2), [
      [1, 2, 'line 1\nline 2'],
      [2, 1, 'second'],
    ]);
    assert.deepEqual(second.range(-1, 1, 2), [[1, 1, 'first']]);
    assert.deepEqual(second.range(2, 0, null), [[2, 1, 'second']]);
    assert.deepEqual(second.range(-2, 0, null), []);
    assert.deepEqual(second.search('*i*', { unique: true, n: 2 }).length, 2);
    second.close();
  });

  test('loses nothing of kernels that run at once', () => {
    const folder = tempFolder();
    const kernels = [open(folder), open(folder), open(folder)];
    for (let line = 1; line <= 3; line++) for (const [name, kernel] of kernels.entries()) kernel.add(line, `${name}`);
    for (const kernel of kernels) kernel.close();
    const later = open(folder);
    assert.deepEqual(
      [1, 2, 3].map((session) => later.range(session, 0, null).map(([, line, code]) => `${code}${line}`)),
      [
        ['01', '02', '03'],
        ['11', '12', '13'],
        ['21', '22', '23'],
      ],
    );
  });

  test('is for its owner alone, and a kernel that ran nothing leaves nothing', () => {
    const folder = join(tempFolder(), 'history');
    const history = open(folder);
    assert.deepEqual(history.tail(5), []);
    history.add(1, 'private');
    open(folder).close();
    history.close();
    const files = readdirSync(folder);
    assert.equal(files.length, 1);
    assert.equal(statSync(folder).mode & 0o777, 0o700);
    assert.equal(statSync(join(folder, files[0] ?? '')).mode & 0o777, 0o600);
  });

  test('gives what is whole of a file that is cut off or damaged', () => {
    const folder = tempFolder();
    const history = open(folder);
    history.add(1, 'whole');
    history.close();
    const [file = ''] = readdirSync(folder);
    appendFileSync(join(folder, file), '[2,"cut');
    writeFileSync(join(folder, 'session-000007.jsonl'), '{"not":"ours"}\n[3,"ours"]\n');
    assert.deepEqual(open(folder).tail(10), [
      [1, 1, 'whole'],
      [7, 3, 'ours'],
    ]);
  });

  test('keeps a thousand sessions, the newest', () => {
    const folder = tempFolder();
    for (let session = 1; session <= 1005; session++)
      writeFileSync(join(folder, `session-${String(session).padStart(6, '0')}.jsonl`), '');
    const history = open(folder);
    history.add(1, 'newest');
    history.close();
    const sessions = new HistoryFolder(folder).sessions();
    assert.deepEqual([sessions.length, sessions[0], sessions.at(-1)], [1000, 7, 1006]);
  });

  test('that can not be written is reported once, and the session has its cells', () => {
    const file = join(tempFolder(), 'file');
    writeFileSync(file, '');
    const reports: unknown[] = [];
    const history = new History(new HistoryFolder(join(file, 'below')), (error) => reports.push(error));
    history.add(1, 'a');
    history.add(2, 'b');
    assert.equal(reports.length, 1);
    assert.equal(history.tail(5).length, 2);
  });
});
