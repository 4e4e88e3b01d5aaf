import assert from 'node:assert/strict';
import { inert, withIcon } from '../../../../extension/host/inertText.ts';

/** VS Code's rules, from its `parseLinkedText` and `renderLabelWithIcons`. */
const link = /\[([^\]]+)\]\(((?:https?:\/\/|command:|file:)[^)\s]+)(?: (["'])(.+?)(\3))?\)/i;
const icon = /\$\([a-z][\w-]*(?:~[a-z]+)?\)/i;

suite('inert', () => {
  test('leaves no link, whatever its address, and no icon', () => {
    for (const text of [
      '[run](command:workbench.action.terminal.new)',
      '[page](https://a.example "title")',
      '[[a](file:///etc/passwd)](command:x)',
      'a $(sync~spin) b $(error)',
    ]) {
      assert.ok(link.test(text) || icon.test(text), text);
      assert.ok(!link.test(inert(text)) && !icon.test(inert(text)), text);
    }
  });

  test('leaves no link that two parts make together', () => {
    const [label, rest] = ['[a]', '(command:x)'];
    assert.doesNotMatch(inert(`${label}${rest}`), link);
  });

  test('reads the same, and leaves text without markup as it is', () => {
    assert.equal(inert('[a](command:x) $(b)').replaceAll('\u2060', ''), '[a](command:x) $(b)');
    const plain = `Can't open table "a/b[0]": the server replied (404).`;
    assert.equal(inert(plain), plain);
    assert.equal(inert(inert('[a](command:x)')), inert('[a](command:x)'));
  });

  test('keeps the icon that the extension puts before a label', () => {
    assert.equal(withIcon('check', 'Saved $(x)'), '$(check) Saved $\u2060(x)');
  });
});
