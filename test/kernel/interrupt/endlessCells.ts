/** Endless code; each is hard to end for a different reason. */
export const endless = {
  'a loop': 'while (true) {}',
  'a loop after an await': 'await 0; while (true) {}',
  'a loop in a timer': 'await new Promise(() => setTimeout(() => { while (true) {} }, 20))',
  'an await of nothing': 'await new Promise(() => {})',
  'a loop that catches everything': 'while (true) { try { while (true) {} } catch {} }',
  'a flood of microtasks': 'while (true) await 0',
  'a regular expression that backtracks': '/^(a+)+$/.test("a".repeat(34) + "b")',
  'a block with an async finally': 'try { await 0; while (true) {} } finally { await new Promise(() => {}) }',
  'Atomics.wait': 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)',
};
