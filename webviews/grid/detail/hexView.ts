import { bytesText } from '#shared/format/numbers.ts';
import { LineList } from './lineList.ts';
import type { ValueView } from './valueView.ts';

/** Shows bytes as lines with their position, as hexadecimal numbers and as characters. */
export function hexView(bytes: Uint8Array, width: number): ValueView {
  // A line of 16 bytes has 76 characters.
  const perLine = width >= 600 ? 16 : 8;
  const list = new LineList({
    count: Math.ceil(bytes.length / perLine),
    line: (index) => hexLine(bytes, index * perLine, perLine),
    label: 'Bytes in hexadecimal',
  });
  return {
    element: list.element,
    facts: [bytesText(bytes.length)],
    focusTarget: list.element,
    close: () => list.close(),
  };
}

/** `00000010  89 50 4e 47 0d 0a 1a 0a  .PNG....` */
export function hexLine(bytes: Uint8Array, start: number, perLine: number): string {
  const part = bytes.subarray(start, start + perLine);
  const hex = Array.from(part, (byte) => byte.toString(16).padStart(2, '0')).join(' ');
  const chars = Array.from(part, (byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.')).join('');
  return `${start.toString(16).padStart(8, '0')}  ${hex.padEnd(perLine * 3 - 1)}  ${chars}`;
}
