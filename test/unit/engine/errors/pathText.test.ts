import assert from 'node:assert/strict';
import { withoutPath } from '#engine/errors/pathText.ts';

suite('a text without a path of the server', () => {
  const cases: readonly (readonly [path: string, text: string, expected: string])[] = [
    ['/srv/lance', 'Not found: srv/lance/t.lance/_versions', 'Not found: t.lance/_versions'],
    ['/srv/lance', "EACCES: permission denied, open '/srv/lance/t.lance'", "EACCES: permission denied, open 't.lance'"],
    ['/srv/lance', 'There is no directory "/srv/lance".', 'There is no directory "…".'],
    ['/srv/lance', 'file:///srv/lance/t.lance is broken', 't.lance is broken'],
    ['/srv/lance/', 'uri=srv/lance/f1586a7f_shop$t/data', 'uri=f1586a7f_shop$t/data'],
    ['C:\\lance\\a', 'open C:\\lance\\a\\t.lance and C:/lance/a/t.lance', 'open t.lance and t.lance'],
    ['/data', 'uri=data/orders.lance/data, /data/x, data/__manifest/1', 'uri=orders.lance/data, x, __manifest/1'],
    // Text that only looks like a path.
    ['/data', 'Table "data/orders" does not exist.', 'Table "data/orders" does not exist.'],
    ['/srv/lance', 'Table "my/srv/lance/t" and /srv/lance2/t', 'Table "my/srv/lance/t" and /srv/lance2/t'],
    ['/', 'No such file: /x', 'No such file: /x'],
  ];
  for (const [path, text, expected] of cases) {
    test(`${path} in: ${text}`, () => assert.equal(withoutPath(text, path), expected));
  }
});
