import assert from 'node:assert/strict';
import { parseQuantity, shortOf, showMemory, showResources, writeCpu, writeMemory } from '#cluster/kube/quantities.ts';

suite('Amounts as Kubernetes writes them', () => {
  const amounts: readonly (readonly [unknown, number])[] = [
    ['4', 4],
    ['500m', 0.5],
    ['15890m', 15.89],
    ['100u', 1e-4],
    ['1n', 1e-9],
    ['0.5', 0.5],
    ['.5', 0.5],
    ['1.', 1],
    ['-2', -2],
    ['+2', 2],
    ['8Gi', 8 * 2 ** 30],
    ['1.5Gi', 1.5 * 2 ** 30],
    ['512Mi', 512 * 2 ** 20],
    ['64Ki', 65_536],
    ['1Ti', 2 ** 40],
    ['1Pi', 2 ** 50],
    ['1Ei', 2 ** 60],
    ['2k', 2000],
    ['3M', 3e6],
    ['1G', 1e9],
    ['1T', 1e12],
    ['1P', 1e15],
    ['1E', 1e18],
    ['1E3', 1000],
    ['1e3', 1000],
    ['12e-1', 1.2],
    [7, 7],
  ];
  for (const [text, amount] of amounts)
    test(`${String(text)} is ${amount}`, () => assert.equal(parseQuantity(text), amount));

  for (const text of ['', ' ', '4 GB', 'Gi', '1.2.3', '0x10', '1K', '1mi', '1e', 'NaN', 'Infinity', null, {}, true])
    test(`${JSON.stringify(text)} is none`, () => assert.equal(parseQuantity(text), undefined));

  test('are shown as people read them', () => {
    assert.equal(showResources({ cpu: 0.5, memory: 16 * 2 ** 30, gpu: 1 }), '0.5 CPU, 16 GiB and 1 GPU');
    assert.equal(showMemory(7_400_000 * 1024), '7.06 GiB');
    assert.equal(showMemory(100), '100 B');
  });

  test('are written so that nothing is lost, rounded up where something must be', () => {
    assert.deepEqual([writeCpu(4), writeCpu(0.5), writeCpu(0.1 + 0.2)], ['4', '500m', '300m']);
    assert.deepEqual([writeMemory(8 * 2 ** 30), writeMemory(1000.5)], ['8192Mi', '1001']);
    for (const cores of [4, 0.25, 15.89]) assert.equal(parseQuantity(writeCpu(cores)), cores);
  });

  test('fit where they are just as large, and are named with both figures where they do not', () => {
    const node = { cpu: 0.1 + 0.2, memory: 2 ** 30, gpu: 0 };
    assert.deepEqual(shortOf({ cpu: 0.3, memory: 2 ** 30, gpu: 0 }, node), []);
    assert.deepEqual(shortOf({ cpu: 4, memory: 2 ** 31, gpu: 1 }, node), [
      'CPU (needs 4, has 0.3)',
      'memory (needs 2 GiB, has 1 GiB)',
      'GPUs (needs 1, has 0)',
    ]);
  });
});
