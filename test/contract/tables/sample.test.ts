import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inflateSync } from 'node:zlib';
import { type DirCatalog, openDir } from '#engine/dir/dirCatalog.ts';
import { imageMime, imageSize } from '#shared/format/images.ts';
import { mediaType } from '#shared/format/mediaTypes.ts';
import { makeSample } from '../../../scripts/sample.ts';
import { tempFolder } from '../../harness/temp.ts';

/** Returns some rows as text, to compare two catalogs. */
const rows = async (catalog: DirCatalog) => {
  const table = await (await catalog.openTable('orders', ['shop', 'eu'])).query().offset(500_000).limit(1000).toArray();
  const products = await (await catalog.openTable('products', ['shop'])).query().limit(500).toArrow();
  return JSON.stringify([table, products.toArray()], (_, value: unknown) =>
    typeof value === 'bigint' ? `${value}n` : value,
  );
};

suite('the sample catalog', function () {
  this.timeout(60_000);
  const root = join(tempFolder(), 'catalog');
  let db: DirCatalog;

  suiteSetup(async () => {
    await makeSample(root);
    db = await openDir({ root });
  });

  test('has its namespaces and tables', async () => {
    assert.deepEqual((await db.listNamespaces()).namespaces.toSorted(), ['lab', 'shop']);
    assert.deepEqual((await db.listNamespaces(['shop'])).namespaces.toSorted(), ['eu', 'us']);
    assert.deepEqual(await db.tableNames(['shop']), ['products']);
    assert.deepEqual((await db.tableNames(['shop', 'eu'])).toSorted(), ['orders', 'returns']);
    assert.deepEqual(await db.tableNames(['shop', 'us']), ['prices']);
    assert.deepEqual(await db.tableNames(['lab']), []);
  });

  test('has products with every kind of column', async () => {
    const { numRows, columns } = await db.describeTable('products', ['shop']);
    assert.equal(numRows, 500);
    assert.deepEqual(
      columns.map(({ name, type }) => `${name}: ${type}`),
      [
        'id: int64',
        'picture: binary',
        'name: utf8',
        'price: decimal128(10, 2)',
        'in_stock: bool',
        'embedding: fixed_size_list<float>[128]',
        'tags: list<utf8>',
        'added: timestamp[us, UTC]',
        'description: utf8',
      ],
    );
  });

  test('has pictures that are whole PNG files, and says so', async () => {
    const table = await db.openTable('products', ['shop']);
    const field = (await table.schema()).fields.find(({ name }) => name === 'picture');
    assert.equal(field?.metadata.get('mime'), 'image/png');
    for (const { picture } of await table.query().select(['picture']).toArray()) {
      const png = Buffer.from(picture as Uint8Array);
      assert.equal(png.toString('latin1', 1, 4), 'PNG');
      assert.deepEqual([png.readUInt32BE(16), png.readUInt32BE(20)], [32, 32]);
      const length = png.readUInt32BE(33);
      assert.equal(inflateSync(png.subarray(41, 41 + length)).length, (32 * 4 + 1) * 32);
    }
  });

  test('has neighbours by kind', async () => {
    const table = await db.openTable('products', ['shop']);
    const [mug] = await table.query().where("name LIKE '%mug'").limit(1).toArray();
    assert.ok(mug);
    const near = await table
      .vectorSearch([...(mug['embedding'] as Iterable<number>)])
      .select(['name'])
      .limit(20)
      .toArray();
    assert.ok(near.every(({ name }) => String(name).endsWith(' mug')));
  });

  test('has a million orders that fit the products, about 3 % without a note', async () => {
    const table = await db.openTable('orders', ['shop', 'eu']);
    assert.equal(await table.countRows(), 1_000_000);
    const share = (await table.countRows('note IS NULL')) / 1_000_000;
    assert.ok(share > 0.025 && share < 0.035, `${share}`);
    assert.equal(await table.countRows('product_id < 1 OR product_id > 500 OR quantity < 1'), 0);
    const last = await table.query().select(['id']).offset(999_999).toArray();
    assert.deepEqual(last, [{ id: 1_000_000 }]);
  });

  test('has an empty table and one of four versions', async () => {
    const returns = await db.describeTable('returns', ['shop', 'eu']);
    assert.equal(returns.numRows, 0);
    assert.equal(returns.columns.length, 4);
    const prices = await db.openTable('prices', ['shop', 'us']);
    assert.equal((await prices.listVersions()).length, 4);
    assert.equal(await (await db.openTable('prices', ['shop', 'us'], { version: 1 })).countRows(), 120);
    assert.equal(await prices.countRows(), 324);
  });

  test('of npm start has photos, a wide table and blobs, and the same ones each time', async () => {
    const contents: string[] = [];
    for (let time = 0; time < 2; time++) {
      const media = join(tempFolder(), 'catalog');
      await makeSample(media, { withMedia: true });
      const catalog = await openDir({ root: media });
      assert.deepEqual((await catalog.listNamespaces()).namespaces.toSorted(), ['lab', 'media', 'shop']);
      const photos = await (await catalog.openTable('photos', ['media'])).query().toArray();
      const images = photos.map(({ image }) => image as Uint8Array);
      const kinds = images.map((image) => `${imageMime(image)} ${image.length >= 50_000 && image.length <= 300_000}`);
      assert.deepEqual([...new Set(kinds)], ['image/jpeg true', 'image/png true']);
      const sizes = photos.map(({ width, height }) => ({ width, height }));
      assert.deepEqual(images.map(imageSize), sizes);
      const features = await catalog.describeTable('features', ['media']);
      assert.deepEqual([features.columns.length, features.numRows], [400, 1_000]);
      const recordings = await catalog.openTable('recordings', ['media']);
      const heads = await recordings.readBlobHeads('recording', { start: 0, end: 9 });
      assert.deepEqual(
        heads.map((blob) => blob && mediaType(blob.head).label),
        ['WAV audio', 'WAV audio', 'WAV audio', 'WAV audio', 'WebM video', 'PNG image', 'text', 'bytes', null],
      );
      const first = createHash('sha256');
      for (const image of images) first.update(image);
      contents.push(first.digest('hex'));
      await catalog.close();
    }
    assert.equal(contents[0], contents[1]);
  });

  test('stays if it exists, and is recreated if it has another version', async () => {
    const marker = join(root, '.lance-catalog-sample.json');
    const before = statSync(marker).mtimeMs;
    await makeSample(root);
    assert.equal(statSync(marker).mtimeMs, before);
    writeFileSync(marker, '{"version":0}');
    writeFileSync(join(root, 'stray'), 'x');
    await makeSample(root);
    assert.ok(!existsSync(join(root, 'stray')));
    assert.deepEqual(readdirSync(join(root, '..')), ['catalog']);
  });

  test('is never made over something else', async () => {
    const folder = tempFolder();
    writeFileSync(join(folder, 'thesis.txt'), 'x');
    await assert.rejects(makeSample(folder), /is not empty and not a sample catalog: choose another directory/);
    assert.deepEqual(readdirSync(folder), ['thesis.txt']);
    rmSync(folder, { recursive: true });
  });

  test('is the same each time', async () => {
    const again = join(tempFolder(), 'catalog');
    await makeSample(again);
    const other = await openDir({ root: again });
    assert.equal(await rows(other), await rows(db));
    await other.close();
  });
});
