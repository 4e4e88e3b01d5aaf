import assert from 'node:assert/strict';
import { lexer, walkTokens, type Token } from 'marked';
import {
  codeBlock,
  codeSpan,
  documentationMarkdown,
  type InertMarkdown,
  markdown,
  paragraphs,
  plainText,
} from '../../../../extension/host/inertMarkdown.ts';
import { Random } from '../../../contract/model/random.ts';

/** Returns the images and the addresses of links in Markdown, with VS Code's parser. */
function linksOf(text: string): string[] {
  const found: string[] = [];
  const look = (token: Token): void => {
    if (token.type === 'image') found.push('image');
    if (token.type === 'link') found.push(String(token['href']));
  };
  void walkTokens(lexer(text), look);
  return found;
}

/** Returns whether a link leads somewhere other than to https. A name without a scheme leads nowhere. */
const isElsewhere = (href: string): boolean => !/^https:\/\//i.test(href) && (/^\/|:/.test(href) || href === 'image');

const pieces = [
  '![',
  '[',
  ']',
  '](',
  '(',
  ')',
  ']:',
  '[r]',
  '[r]: ',
  'a',
  'x y',
  ' ',
  '\n',
  '\n\n',
  '\r',
  '\t',
  '    ',
  '- ',
  '> ',
  '```',
  '`',
  '~~~',
  '<',
  '>',
  '<!--',
  '-->',
  '\\',
  '!',
  '"',
  "'",
  '*',
  '_',
  '#',
  '1. ',
  '|',
  '\n|-|\n',
  ' "t"',
  'https://a.example',
  'http://b.example',
  'www.c.example',
  'HTTP://D.example',
  'm@e.example',
  '//f.example',
  'command:x',
  'file:///etc',
  'data:x',
  'https:',
  'javascript:x',
  '&#99;ommand:x',
  '&colon;',
  '&Tab;',
  '<img src="https://g.example/x">',
  '<a href="command:x">',
];

suite('Markdown of text from outside', () => {
  test('is text alone, also where it is an address or a mail address', () => {
    const text =
      '![p](https://a.example/p.png) [x](command:y) <https://b.example> www.c.example m@d.example <b>*c*</b>';
    assert.ok(linksOf(text).length >= 5, 'the same text has links elsewhere');
    const shown = paragraphs([markdown`**${plainText(text)}**`, codeSpan(text), codeBlock(text), plainText('')]);
    assert.deepEqual(linksOf(shown), []);
  });

  test('keeps code that has the marks of code', () => {
    assert.equal(codeSpan('a`b'), '`` a`b ``');
    assert.equal(codeBlock('```\n[a](command:x)', 'sh'), '````sh\n```\n[a](command:x)\n````');
  });

  test('keeps links to https in documentation, and no image and no other link', () => {
    const kept = 'See [page](https://a.example/b_c?d=e@f.g) and https://www.b.example/ and `[c](command:x)`.';
    assert.equal(
      documentationMarkdown(kept.replace(' and `[c](command:x)`', '')),
      kept.replace(' and `[c](command:x)`', ''),
    );
    const others = [
      '![a](https://a.example/a.png)',
      '![a][r]\n\n[r]: https://a.example/a.png',
      '[a](command:x)',
      '[a]( <command:x y>)',
      '[a](&#99;ommand:x)',
      '[a]\n\n[a]: command:x',
      '<file:///etc/passwd>',
      'http://a.example www.a.example a@b.example',
    ];
    for (const text of others) {
      assert.notDeepEqual(linksOf(text), [], text);
      assert.deepEqual(linksOf(documentationMarkdown(text)).filter(isElsewhere), [], text);
    }
    const code = 'Calls `handlers[name](event)` of `{ [key]: value }`.';
    assert.equal(documentationMarkdown(code), code);
  });

  test('stays inert for random markup', () => {
    const random = new Random(7);
    let links = 0;
    for (let round = 0; round < 5000; round++) {
      const text = Array.from({ length: 1 + random.below(14) }, () => random.pick(pieces)).join('');
      links += linksOf(text).length;
      const plain: InertMarkdown[] = [plainText(text), markdown`**${plainText(text)}** x`, codeSpan(text)];
      for (const one of plain) assert.deepEqual(linksOf(one), [], JSON.stringify(text));
      const others = linksOf(documentationMarkdown(text)).filter(isElsewhere);
      assert.deepEqual(others, [], JSON.stringify(text));
    }
    assert.ok(links > 500, `${links} links in the same texts as they came`);
  });
});
