import assert from 'node:assert/strict';
import { vectorFacts } from '../../../../webviews/grid/vectorFacts.ts';
import { peaksOf } from '../../../../webviews/grid/waveform.ts';

suite('What the grid says about vectors and audio', () => {
  test('a vector has its dimension and norm, or what is wrong with it', () => {
    assert.deepEqual(vectorFacts(Float64Array.of(3, 4)), { text: '2 · norm 5', problem: undefined });
    assert.deepEqual(vectorFacts(new Float64Array(1_536)), { text: '1,536', problem: 'zero' });
    assert.deepEqual(vectorFacts(Float64Array.of(NaN, 0, NaN)), { text: '3', problem: '2 NaN' });
    assert.deepEqual(vectorFacts(Float64Array.of(Infinity)), { text: '1 · norm Infinity', problem: undefined });
    assert.deepEqual(vectorFacts(new Float64Array(0)), { text: '0 · norm 0', problem: undefined });
  });

  test('a waveform has the peaks of its parts, also of few samples', () => {
    assert.deepEqual([...peaksOf(Float32Array.of(0, 0.5, -1, 0.25), 2)], [0.5, 1]);
    assert.deepEqual([...peaksOf(Float32Array.of(-0.5), 3)], [0, 0, 0.5]);
    assert.deepEqual([...peaksOf(new Float32Array(0), 2)], [0, 0]);
  });
});
