import assert from 'node:assert/strict';
import { createSigner, decodeMessage, encodeMessage } from '#session/jupyter/jupyterFrames.ts';

const signer = createSigner('a key');
const header = { msg_id: 'm', msg_type: 'kernel_info_request', session: 's' };

const frames = (type = 'status', content: unknown = { execution_state: 'idle' }): Buffer[] =>
  encodeMessage({ identities: ['to'], type, content, parent: header }, 'session', signer).map((each) =>
    Buffer.from(each),
  );

suite('Frames of Jupyter messages', () => {
  test('read back as what was written', () => {
    const message = decodeMessage(frames(), signer);
    assert.equal(message?.header.msg_type, 'status');
    assert.deepEqual(message?.content, { execution_state: 'idle' });
    assert.deepEqual(message?.identities.map(String), ['to']);
  });

  test('carry parent, metadata and buffers', () => {
    const written = encodeMessage(
      {
        identities: [],
        type: 'comm_msg',
        content: {},
        parent: header,
        metadata: { a: 1 },
        buffers: [new Uint8Array([1, 2]), new Uint8Array(0)],
      },
      'session',
      signer,
    ).map((each) => Buffer.from(each));
    const message = decodeMessage(written, signer);
    assert.deepEqual([message?.parent, message?.metadata], [header, { a: 1 }]);
    assert.deepEqual(
      message?.buffers.map((each) => [...each]),
      [[1, 2], []],
    );
  });

  test('are dropped when they come a second time', () => {
    const sent = frames();
    assert.ok(decodeMessage(sent, signer));
    assert.equal(decodeMessage(sent, signer), undefined);
  });

  test('are dropped with the signature of another key', () => {
    assert.equal(decodeMessage(frames(), createSigner('another')), undefined);
  });

  test('are dropped with a signature of another length', () => {
    const short = frames();
    short[2] = Buffer.from('abc');
    assert.equal(decodeMessage(short, signer), undefined);
  });

  test('are dropped when a part was changed', () => {
    const changed = frames();
    changed[6] = Buffer.from('{"execution_state":"busy"}');
    assert.equal(decodeMessage(changed, signer), undefined);
  });

  test('are dropped without a delimiter, with parts missing, and with a part that is no JSON', () => {
    const unsigned = createSigner('');
    assert.equal(decodeMessage([], unsigned), undefined);
    assert.equal(decodeMessage(frames().slice(0, 5), unsigned), undefined);
    const broken = frames();
    broken[3] = Buffer.from('{');
    assert.equal(decodeMessage(broken, unsigned), undefined);
  });

  test('are not checked when the connection file has no key', () => {
    assert.ok(decodeMessage(frames(), createSigner('')));
  });
});
