import type { Table } from '#arrow';
import { binaries, bool, int64, money, tableOf, textLists, texts, timestamp, vectors } from './columns.ts';
import { type Kind, kinds } from './kinds.ts';
import { productPicture } from './pictures.ts';
import { bell, below, between, pick, type Random, seeded } from './random.ts';

const productCount = 500;
const embeddingWidth = 128;

const kindNames = Object.keys(kinds) as Kind[];
const materials = ['Oak', 'Linen', 'Steel', 'Clay', 'Walnut', 'Cork', 'Glass', 'Wool', 'Bamboo', 'Copper'] as const;
const series = ['Aalto', 'Brisa', 'Colline', 'Dune', 'Fjord', 'Galet', 'Hygge', 'Lumen', 'Meridian', 'Norte'] as const;
const day = 86_400_000_000n;
const firstDay = BigInt(Date.UTC(2024, 0, 1)) * 1000n;

type Products = { table: Table; /** Price of each product in cents. */ cents: Int32Array };

/** Creates the products: 500 rows with strings, prices, times, vectors and images. */
export function makeProducts(): Products {
  const random = seeded(2024);
  const rows = Array.from({ length: productCount }, (_, row) => makeProduct(random, row));
  const centres = new Map(
    kindNames.map((kind) => [kind, unit(Array.from({ length: embeddingWidth }, () => bell(random)))]),
  );
  const embeddings = new Float32Array(productCount * embeddingWidth);
  rows.forEach(({ kind }, row) => embeddings.set(near(random, centres.get(kind)!), row * embeddingWidth));
  const cents = Int32Array.from(rows, (row) => row.cents);
  const table = tableOf({
    id: int64(BigInt64Array.from(rows, (_, row) => BigInt(row + 1))),
    picture: binaries(
      rows.map((row) => row.picture),
      { mime: 'image/png' },
    ),
    name: texts(rows.map((row) => row.name)),
    price: money(cents),
    in_stock: bool(rows.map((row) => row.inStock)),
    embedding: vectors(embeddings, embeddingWidth),
    tags: textLists(rows.map((row) => row.tags)),
    added: timestamp(BigInt64Array.from(rows, (row) => row.added)),
    description: texts(rows.map((row) => row.description)),
  });
  return { table, cents };
}

function makeProduct(random: Random, row: number) {
  const kind = kindNames[row % kindNames.length]!;
  const { low, high, hue, tags, use } = kinds[kind];
  const material = pick(random, materials);
  const name = `${pick(random, series)} ${material.toLowerCase()} ${kind}`;
  // Prices end in 90 or 50 cents, as in a shop.
  const cents = Math.round(between(random, low, high)) * 100 + (random() < 0.7 ? 90 : 50);
  const isNew = random() < 0.15;
  return {
    kind,
    name,
    description: `${use}. Made of ${material.toLowerCase()}, number ${below(random, 900) + 100} of the series.`,
    cents,
    inStock: random() < 0.86,
    tags: [...tags, material.toLowerCase(), ...(isNew ? ['new'] : [])],
    added: firstDay + BigInt(below(random, 700)) * day + BigInt(below(random, 86_400)) * 1_000_000n,
    picture: productPicture(kind, hue + between(random, -18, 18)),
  };
}

/** Returns a random vector near the given one, so that products of one kind are nearest neighbors. */
const near = (random: Random, centre: Float32Array): Float32Array =>
  unit(Array.from(centre, (value) => value + (0.45 / Math.sqrt(embeddingWidth)) * bell(random)));

function unit(values: readonly number[]): Float32Array {
  const length = Math.hypot(...values);
  return Float32Array.from(values, (value) => value / length);
}
