import assert from 'node:assert/strict';
import { folderOfTable, isInS3, sessionNameOf, tablePolicy } from '#engine/serve/tablePolicy.ts';
import { isCatalogError, messageOf } from '#shared/errors.ts';
import { isAllowed } from '../../../contract/serve/sessionPolicies.ts';

const root = 's3://depot/team';
const policyFor = (location: string, access: 'read-only' | 'read-write' = 'read-write'): string =>
  tablePolicy(folderOfTable(root, location, 't'), access, 'aws', 't');

/** Keys of the same bucket, inside and outside of the folder `team/orders.lance`. */
const insideKeys = [
  'team/orders.lance/_versions/1.manifest',
  'team/orders.lance/data/a.lance',
  'team/orders.lance/tree/try/_versions/1.manifest',
  'team/orders.lance/_refs/tags/first.json',
];
const outsideKeys = [
  'team/orders.lance',
  'team/orders.lance2/data/a.lance',
  'team/orders2.lance/data/a.lance',
  'team/orders',
  'team/ordersXlance/data/a.lance',
  'team/other.lance/team/orders.lance/data/a.lance',
  'orders.lance/data/a.lance',
  'team/__manifest/data/a.lance',
];

suite('the session policy of a table', () => {
  test('covers the folder of the table and no other key', () => {
    const policy = policyFor('s3://depot/team/orders.lance');
    const can = (action: string, key: string, bucket = 'depot') =>
      isAllowed(policy, { action: `s3:${action}`, resource: `arn:aws:s3:::${bucket}/${key}` });
    for (const action of ['GetObject', 'GetObjectVersion', 'PutObject', 'AbortMultipartUpload']) {
      for (const key of insideKeys) {
        assert.ok(can(action, key), `${action} ${key}`);
        assert.ok(!can(action, key, 'depot2'), `${action} ${key} in another bucket`);
      }
      for (const key of outsideKeys) assert.ok(!can(action, key), `${action} ${key}`);
    }
    for (const action of ['DeleteObject', 'PutObjectAcl', 'PutBucketPolicy', 'ListBucket'])
      assert.ok(!can(action, insideKeys[0]!), action);
  });

  test('lists the folder of the table only', () => {
    const policy = policyFor('s3://depot/team/orders.lance', 'read-only');
    const lists = (prefix: string | undefined, bucket = 'depot') =>
      isAllowed(policy, { action: 's3:ListBucket', resource: `arn:aws:s3:::${bucket}`, prefix });
    for (const prefix of ['team/orders.lance/', 'team/orders.lance/_versions/']) assert.ok(lists(prefix), prefix);
    for (const prefix of [undefined, '', 'team/', 'team/orders', 'team/orders.lance', 'team/orders.lance2/'])
      assert.ok(!lists(prefix), prefix);
    assert.ok(!lists('team/orders.lance/', 'depot2'));
    const location = { action: 's3:GetBucketLocation', resource: 'arn:aws:s3:::depot' };
    assert.ok(isAllowed(policy, location));
    assert.ok(!isAllowed(policy, { ...location, resource: 'arn:aws:s3:::other' }));
  });

  test('allows no write for a key that is read-only', () => {
    const policy = policyFor('s3://depot/team/orders.lance', 'read-only');
    for (const key of insideKeys) {
      const resource = `arn:aws:s3:::depot/${key}`;
      assert.ok(isAllowed(policy, { action: 's3:GetObject', resource }));
      for (const action of ['s3:PutObject', 's3:AbortMultipartUpload', 's3:DeleteObject'])
        assert.ok(!isAllowed(policy, { action, resource }), action);
    }
  });

  test('has the names of nested tables and the partition', () => {
    const policy = tablePolicy(
      folderOfTable('s3://depot/', 's3://depot/1a2b_shop$eu$orders/', 't'),
      'read-only',
      'aws-cn',
      't',
    );
    assert.ok(
      isAllowed(policy, { action: 's3:GetObject', resource: 'arn:aws-cn:s3:::depot/1a2b_shop$eu$orders/data/a' }),
    );
    assert.ok(!isAllowed(policy, { action: 's3:GetObject', resource: 'arn:aws-cn:s3:::depot/1a2b_shop$eu$orders2/a' }));
  });

  test('is refused for paths with characters that could cover other tables, or that engines escape', () => {
    const odd = [
      'or*ders',
      'or?ders',
      'or${aws:username}ders',
      '${*}',
      'a b',
      'ümlaut',
      'a%2Ab',
      "it's",
      'a"b',
      'a\\b',
    ];
    for (const name of [...odd, 'a\nb', '\u0000', 'a{b', 'a~b', 'a#b', '[a]'])
      for (const [where, location] of [
        [root, `${root}/${name}.lance`],
        [`s3://depot/${name}`, `s3://depot/${name}/orders.lance`],
      ] as const)
        assert.throws(
          () => folderOfTable(where, location, 't'),
          (error) =>
            isCatalogError(error, 'InvalidInput') && /"t": the path of its files contains "/.test(error.message),
          location,
        );
    assert.throws(() => folderOfTable(root, `${root}/or*ders.lance`, 't'), /contains "\*"/);
  });

  test('is refused for locations that are not below the root', () => {
    for (const location of [
      root,
      `${root}/`,
      `${root}2/orders.lance`,
      's3://depot/orders.lance',
      's3://other/team/orders.lance',
      '/team/orders.lance',
      'gs://depot/team/orders.lance',
    ])
      assert.throws(() => folderOfTable(root, location, 't'), /not in a folder below the root/, location);
    for (const steps of ['../other/orders', 'a/../../orders', './orders', 'a//orders', '/orders'])
      assert.throws(() => folderOfTable(root, `${root}/${steps}`, 't'), /empty step/, steps);
  });

  test('is refused if it is longer than AWS accepts', () => {
    const long = Array.from({ length: 20 }, () => 'x'.repeat(50)).join('/');
    assert.throws(
      () => policyFor(`${root}/${long}`),
      (error) => isCatalogError(error, 'InvalidInput') && messageOf(error).includes('too long'),
    );
  });

  test('needs a root in S3', () => {
    for (const address of ['s3://depot', 's3://depot/', 's3://depot/a/b', 'S3://depot/a']) assert.ok(isInS3(address));
    for (const address of ['/data', 'gs://depot/a', 's3+ddb://depot/a', 's3://', 'https://depot/a'])
      assert.ok(!isInS3(address), address);
  });
});

suite('the name of a session', () => {
  test('has the key and the table, and only characters that AWS accepts', () => {
    const name = sessionNameOf('ana@example.com', ['shop', 'orders'], 's3://depot/orders');
    assert.match(name, /^ana@example\.com=shop\.orders=[0-9a-f]{10}$/);
    for (const [key, table] of [
      ['x'.repeat(64), ['y'.repeat(64), 'z'.repeat(128)]],
      ['a', ['ümlaut *', '日本']],
    ] as const)
      assert.match(sessionNameOf(key, table, 's3://depot/a'), /^[\w+=,.@-]{2,64}$/);
  });

  test('differs for keys and tables whose names start alike', () => {
    const long = 'x'.repeat(40);
    const names = [
      sessionNameOf(`${long}1`, ['t'], 's3://depot/t'),
      sessionNameOf(`${long}2`, ['t'], 's3://depot/t'),
      sessionNameOf(`${long}1`, ['t'], 's3://depot/t2'),
    ];
    assert.equal(new Set(names).size, 3);
  });
});
