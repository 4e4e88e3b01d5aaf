import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { SubscriberWait } from '#session/jupyter/jupyterWire.ts';

suite('The audience of a kernel', () => {
  test('is waited for, and what comes as it arrives is answered behind what has waited', () => {
    const audience = new SubscriberWait(false);
    const answered: string[] = [];
    const ask = (name: string) => audience.before(() => answered.push(name));
    ask('first');
    ask('second');
    assert.deepEqual(answered, []);
    audience.arrive();
    ask('third');
    assert.deepEqual(answered, ['first', 'second', 'third']);
    audience.arrive();
    assert.equal(answered.length, 3);
  });

  test('that is there is not waited for', () => {
    let answered = 0;
    new SubscriberWait(true).before(() => answered++);
    assert.equal(answered, 1);
  });

  test('that does not come is waited for once', async () => {
    const audience = new SubscriberWait(false);
    const answered: string[] = [];
    const came = new Promise<void>((resolve) => audience.before(() => resolve(void answered.push('first'))));
    audience.before(() => answered.push('second'));
    await came;
    audience.before(() => answered.push('third'));
    await sleep(0);
    assert.deepEqual(answered, ['first', 'second', 'third']);
  });
});
