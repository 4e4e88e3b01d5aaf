import type { Page } from 'playwright-core';

/**
 * The peer of the grid: a table that draws its rows and columns in the view anew for each frame, with numbers of the
 * same length, and has nothing else: no types, selection, keyboard, accessibility or pages.
 */
export async function openPlainTable(page: Page, rows: number, columns: number): Promise<void> {
  await page.setContent(
    `<div id="scroller" style="height:600px;width:1000px;overflow:auto;position:relative;font:13px sans-serif">
       <div id="content"><div id="layer" style="position:sticky;top:0;left:0;height:600px;width:1000px;overflow:hidden"></div></div>
     </div>`,
  );
  await page.evaluate(
    ([numRows, numColumns]) => {
      const [height, width] = [33, 160];
      const scroller = document.getElementById('scroller')!;
      const content = document.getElementById('content')!;
      const layer = document.getElementById('layer')!;
      content.style.height = `${numRows * height}px`;
      content.style.width = `${numColumns * width}px`;
      const draw = (): void => {
        const [top, left] = [scroller.scrollTop, scroller.scrollLeft];
        const [row, column] = [Math.floor(top / height), Math.floor(left / width)];
        const lines: string[] = [];
        for (let r = row; r < Math.min(numRows, row + 20); r++)
          for (let c = column; c < Math.min(numColumns, column + 8); c++)
            lines.push(
              `<div style="position:absolute;overflow:hidden;top:${r * height - top}px;left:${c * width - left}px;height:${height}px;width:${width}px">${Math.sin(r + c) * 1000}</div>`,
            );
        layer.innerHTML = lines.join('');
      };
      scroller.addEventListener('scroll', () => requestAnimationFrame(draw));
      draw();
    },
    [rows, columns] as const,
  );
}
