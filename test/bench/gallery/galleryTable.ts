import type { Table } from '#arrow';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { seeded } from '../../../scripts/sample/random.ts';
import { encodePng } from '../../../scripts/sample/pictures.ts';
import { benchFolder } from '../data.ts';
import { imageTable } from '../grid/gridTables.ts';

/** Increase this when the generated data changes. */
const dataVersion = 2;
/** 100,000 images of 120 KB would take 12 GB. */
const rows = 6_000;
const rowsPerAdd = 500;
/** A square image of noise with this side has 120 KB. */
const side = 173;

/** Returns the root of a catalog with a table of images of noise, generated once. */
export const galleryCatalog = (say: (line: string) => void): Promise<string> =>
  benchFolder(
    `gallery-v${dataVersion}`,
    async (root) => {
      const catalog = await openDir({ root });
      const random = seeded(7);
      const made = Array.from({ length: 16 }, () => {
        const rgba = Uint8Array.from({ length: side * side * 4 }, () => Math.floor(random() * 256));
        return encodePng({ width: side, height: side, rgba });
      });
      const table = await catalog.createTable('photos', images(0, made));
      for (let start = rowsPerAdd; start < rows; start += rowsPerAdd) await table.add(images(start, made));
      await catalog.close();
    },
    say,
  );

const images = (start: number, made: readonly Uint8Array[]): Table =>
  imageTable(
    Array.from({ length: rowsPerAdd }, (_, row) => start + row),
    made,
  );
