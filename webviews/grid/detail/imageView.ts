import { countText, sizeText } from '#shared/format/numbers.ts';
import { createButton, createElement } from '../../parts/elements.ts';
import type { ValueView } from './valueView.ts';

/** Sizes that the buttons go through, in parts of the image's size. */
const zooms = [0.1, 0.25, 0.5, 1, 2, 4, 8, 16];

/** Shows an image, fitted into the view or in another size. If it can't be drawn, a sentence says so. */
export function imageView(bytes: Uint8Array, mime: string): ValueView {
  const element = createElement('div', { className: 'lance-image-view' });
  const area = createElement('div', { className: 'lance-image-area', role: 'group' });
  area.tabIndex = 0;
  area.ariaLabel = 'Image';
  const image = document.createElement('img');
  const url = URL.createObjectURL(new Blob([bytes as Uint8Array<ArrayBuffer>], { type: mime }));
  image.alt = `${mime}, ${sizeText(bytes.length)}`;
  image.decoding = 'async';
  let zoom: number | undefined;
  let listener: ((facts: readonly string[]) => void) | undefined;
  const label = createElement('span', { className: 'lance-zoom', role: 'status' });
  const draw = (): void => {
    const scale = zoom ?? fittedScale(image, area);
    image.style.width = zoom === undefined ? '' : `${image.naturalWidth * zoom}px`;
    image.classList.toggle('lance-fitted', zoom === undefined);
    image.classList.toggle('lance-pixels', scale > 2);
    label.textContent = `${Math.round(scale * 100)} %`;
  };
  const zoomTo = (next: number | undefined): void => {
    zoom = next;
    draw();
  };
  const zoomBy = (direction: 1 | -1): void => {
    const now = zoom ?? fittedScale(image, area);
    const next = direction > 0 ? zooms.find((one) => one > now * 1.01) : zooms.findLast((one) => one < now * 0.99);
    if (next !== undefined) zoomTo(next);
  };
  const bar = createElement('div', { className: 'lance-image-bar', role: 'toolbar' });
  bar.ariaLabel = 'Zoom';
  const smaller = createButton({ label: '−', run: () => zoomBy(-1) });
  smaller.ariaLabel = 'Zoom Out';
  const larger = createButton({ label: '+', run: () => zoomBy(1) });
  larger.ariaLabel = 'Zoom In';
  bar.append(
    smaller,
    label,
    larger,
    createButton({ label: 'Fit', run: () => zoomTo(undefined) }),
    createButton({ label: 'Actual Size', run: () => zoomTo(1) }),
  );
  image.addEventListener('load', () => {
    draw();
    listener?.([
      mime,
      `${countText(image.naturalWidth)} × ${countText(image.naturalHeight)} px`,
      sizeText(bytes.length),
    ]);
  });
  image.addEventListener('error', () => {
    bar.remove();
    const text = 'The image is damaged or has a format that the editor can’t draw. Choose "Hex" to see its bytes.';
    area.replaceChildren(createElement('p', { className: 'lance-note', text }));
  });
  area.addEventListener('keydown', (event) => {
    const run = { '+': () => zoomBy(1), '-': () => zoomBy(-1), '0': () => zoomTo(undefined), '1': () => zoomTo(1) }[
      event.key
    ];
    if (!run || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    run();
  });
  const resizing = new ResizeObserver(() => {
    if (zoom === undefined && image.naturalWidth > 0) draw();
  });
  resizing.observe(area);
  image.src = url;
  area.append(image);
  element.append(area, bar);
  return {
    element,
    facts: [mime, sizeText(bytes.length)],
    onFacts: (next) => (listener = next),
    focusTarget: area,
    close: () => {
      resizing.disconnect();
      image.removeAttribute('src');
      URL.revokeObjectURL(url);
    },
  };
}

/** Returns the scale at which an image fits; a small image keeps its size. */
function fittedScale({ naturalWidth, naturalHeight }: HTMLImageElement, area: HTMLElement): number {
  if (naturalWidth === 0 || naturalHeight === 0) return 1;
  return Math.min(1, (area.clientWidth - 16) / naturalWidth, (area.clientHeight - 16) / naturalHeight);
}
