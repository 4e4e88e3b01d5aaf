import assert from 'node:assert/strict';
import { createRing, type RingPosition, RingReader, RingWriter } from '#session/threads/textRing.ts';

function makeRing() {
  const memory = createRing();
  const read: [string, string][] = [];
  let wakes = 0;
  const reader = new RingReader(memory, (label, text) => read.push([label, text]));
  const writer = new RingWriter(memory, () => wakes++);
  return { reader, writer, read, wakes: () => wakes };
}

suite('The ring of printed text', () => {
  test('gives each text with its label, in order', () => {
    const { reader, writer, read } = makeRing();
    writer.write('a', 'one');
    writer.write('ü', 'zwölf 😀');
    writer.write('a', '');
    reader.drain();
    assert.deepEqual(read, [
      ['a', 'one'],
      ['ü', 'zwölf 😀'],
    ]);
  });

  test('wakes the reader once until it has read', () => {
    const { reader, writer, wakes } = makeRing();
    writer.write('a', '1');
    writer.write('a', '2');
    assert.equal(wakes(), 1);
    reader.drain();
    writer.write('a', '3');
    assert.equal(wakes(), 1, 'It looks again by itself until it rests.');
    reader.rest();
    writer.write('a', '4');
    assert.equal(wakes(), 2);
  });

  test('says whether there was anything to read', () => {
    const { reader, writer } = makeRing();
    writer.write('a', '1');
    assert.equal(reader.drain(), true);
    assert.equal(reader.drain(), false);
  });

  test('hands many lines in a row on as one text', () => {
    const { reader, writer, read } = makeRing();
    for (let i = 0; i < 1000; i++) writer.write('a', `${i}\n`);
    reader.drain();
    assert.equal(read.length, 1);
    assert.equal(read[0]?.[1], Array.from({ length: 1000 }, (_, i) => `${i}\n`).join(''));
  });

  test('gives only what was printed before a position', () => {
    const { reader, writer, read } = makeRing();
    const places: RingPosition[] = [];
    writer.write('a', 'before');
    writer.post((place) => places.push(place));
    writer.write('a', 'after');
    reader.pass(places[0]!, () => read.push(['', 'message']));
    assert.deepEqual(read, [
      ['a', 'before'],
      ['', 'message'],
    ]);
    reader.drain();
    assert.deepEqual(read.at(-1), ['a', 'after']);
  });

  test('holds text back until the messages before it have come', () => {
    const { reader, writer, read } = makeRing();
    const places: RingPosition[] = [];
    for (const name of ['1', '2', '3']) {
      writer.write('a', `before ${name}`);
      writer.post((place) => places.push(place));
    }
    writer.write('a', 'end');
    reader.drain();
    for (const [i, place] of places.entries()) reader.pass(place, () => read.push(['', `message ${i + 1}`]));
    reader.drain();
    assert.deepEqual(
      read.map(([, text]) => text),
      ['before 1', 'message 1', 'before 2', 'message 2', 'before 3', 'message 3', 'end'],
    );
  });

  test('does not wait for a message whose mark was never written', () => {
    const { reader, writer, read } = makeRing();
    const stopped = () =>
      writer.post(() => {
        throw new Error('stopped while it was sent');
      });
    assert.throws(stopped, /stopped/);
    writer.write('a', 'after');
    reader.drain();
    assert.deepEqual(read, [['a', 'after']]);
  });

  test('goes round its end many times without a loss', () => {
    const { reader, writer, read } = makeRing();
    const sent = { a: '', b: '' };
    for (let i = 0; i < 400; i++) {
      const label = i % 3 === 0 ? 'a' : 'b';
      const text = `${i}:${'xé😀'.repeat((i * 977) % 17_500)}`;
      sent[label] += text;
      writer.write(label, text);
      if (i % 7 === 0) writer.post(({ mark, position }) => reader.pass({ mark, position }, () => {}));
      if (i % 5 === 0) reader.drain();
    }
    reader.drain();
    for (const label of ['a', 'b'] as const) {
      const got = read.filter(([name]) => name === label).map(([, text]) => text);
      assert.ok(got.join('') === sent[label], `What was printed as "${label}" is not what was read.`);
    }
  });

  test('never cuts a character in two', () => {
    const { reader, writer, read } = makeRing();
    const text = `x${'😀'.repeat(300_000)}`;
    writer.write('a', text);
    reader.drain();
    assert.ok(read.length > 1);
    assert.ok(read.map(([, part]) => part).join('') === text);
  });
});
