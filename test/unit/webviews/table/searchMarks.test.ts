import assert from 'node:assert/strict';
import { searchPattern } from '../../../../webviews/table/searchMarks.ts';

const found = (text: string, isIndex: boolean, value: string): string[] =>
  [...value.matchAll(searchPattern(text, isIndex))].map(([match]) => match);

suite('The marks of a search', () => {
  test('are the string, or whole words of an index, in upper and lower case', () => {
    assert.deepEqual(found('mug', false, 'Mug smuggler MUG'), ['Mug', 'mug', 'MUG']);
    assert.deepEqual(found('mug RED', true, 'Mug smuggler, red mug-cup reddish'), ['Mug', 'red', 'mug']);
    assert.deepEqual(found('a.b*(', false, 'xa.b*(y aXb'), ['a.b*(']);
    assert.deepEqual(found('äpfel', true, 'Äpfel äpfelwein'), ['Äpfel']);
  });
});
