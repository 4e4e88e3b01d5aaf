import assert from 'node:assert/strict';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { RequestSlots } from '#engine/serve/requestSlots.ts';
import { isCatalogError } from '#shared/errors.ts';

const request = (): IncomingMessage => new IncomingMessage(new Socket());
const refused = (kind: string) => (error: unknown) => isCatalogError(error) && error.kind === kind;

suite('the slots of requests', () => {
  const limits = { requests: 3, requestsPerKey: 2, jsonBytes: 100, jsonBytesPerKey: 60 };

  test('are shared between keys, and free again when requests leave', () => {
    const slots = new RequestSlots(limits);
    const [first, second, other] = [request(), request(), request()];
    slots.enter(first, 'a');
    slots.enter(second, 'a');
    assert.throws(() => slots.enter(request(), 'a'), refused('Throttling'));
    slots.enter(other, 'b');
    assert.throws(() => slots.enter(request(), 'c'), refused('ServiceUnavailable'));
    slots.leave(first);
    slots.leave(first);
    slots.enter(request(), 'a');
    assert.throws(() => slots.enter(request(), 'c'), refused('ServiceUnavailable'));
  });

  test('of requests whose bodies arrive are not those of running requests', () => {
    const slots = new RequestSlots(limits);
    const [slow, alsoSlow] = [request(), request()];
    for (const each of [slow, alsoSlow]) {
      slots.enter(each, 'a');
      slots.startReading(each);
    }
    const [first, second] = [request(), request()];
    slots.enter(first, 'a');
    slots.enter(second, 'a');
    assert.throws(() => slots.endReading(slow), refused('Throttling'));
    slots.leave(first);
    slots.endReading(alsoSlow);
  });

  test('bound the bytes of all bodies and of the bodies of one key', () => {
    const slots = new RequestSlots(limits);
    const [first, second, unknown] = [request(), request(), request()];
    slots.enter(first, 'a');
    slots.enter(second, 'b');
    slots.receive(first, 50);
    assert.throws(() => slots.receive(first, 11), refused('Throttling'));
    slots.receive(second, 50);
    assert.throws(() => slots.receive(second, 1), refused('ServiceUnavailable'));
    slots.leave(first);
    slots.receive(second, 1);
    slots.receive(unknown, 1_000);
  });
});
