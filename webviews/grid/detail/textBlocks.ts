/** Characters of a block. */
const blockChars = 8192;

/**
 * Splits a string into blocks, after a line break where there is one. What is left for a further block is the rest. No
 * block ends within a character.
 */
export function splitText(text: string): { blocks: string[]; rest: string } {
  const blocks: string[] = [];
  let at = 0;
  while (text.length - at > blockChars) {
    const lineEnd = text.lastIndexOf('\n', at + blockChars - 1) + 1;
    let end = lineEnd > at + blockChars / 2 ? lineEnd : at + blockChars;
    if (/[\uD800-\uDBFF]/.test(text[end - 1]!)) end++;
    blocks.push(text.slice(at, end));
    at = end;
  }
  return { blocks, rest: text.slice(at) };
}
