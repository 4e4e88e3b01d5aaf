import { createButton, createElement } from '../../parts/elements.ts';
import type { TileSize } from '../galleryHost.ts';

export type GalleryChoice = {
  readonly image: number;
  /** `undefined` for the number of the row. */
  readonly caption: number | undefined;
  readonly size: TileSize;
};

export type GalleryBarDeps = {
  readonly images: readonly number[];
  readonly captions: readonly number[];
  readonly nameOf: (column: number) => string;
  readonly choice: GalleryChoice;
  readonly choose: (choice: GalleryChoice) => void;
};

const sizeNames: Readonly<Record<TileSize, readonly [letter: string, label: string]>> = {
  small: ['S', 'Small Images'],
  medium: ['M', 'Medium Images'],
  large: ['L', 'Large Images'],
};
const sizes: readonly TileSize[] = ['small', 'medium', 'large'];

/** Creates the line above the tiles: the columns of images and captions, and the size. */
export function galleryBar({ images, captions, nameOf, choice, choose }: GalleryBarDeps): HTMLElement {
  let current = choice;
  const set = (change: Partial<GalleryChoice>): void => {
    current = { ...current, ...change };
    choose(current);
  };
  const bar = createElement('div', { className: 'lance-gallery-bar', role: 'toolbar' });
  bar.ariaLabel = 'Gallery';
  if (images.length > 1) {
    const options = images.map((column) => ({ value: column, text: nameOf(column) }));
    bar.append(choiceOf('Images', options, choice.image, (image) => set({ image })));
  }
  const rowNumber = -1;
  const options = [
    { value: rowNumber, text: 'Row number' },
    ...captions.map((column) => ({ value: column, text: nameOf(column) })),
  ];
  const caption = choiceOf('Caption', options, choice.caption ?? rowNumber, (column) =>
    set({ caption: column === rowNumber ? undefined : column }),
  );
  bar.append(
    caption,
    sizeButtons(choice.size, (size) => set({ size })),
  );
  return bar;
}

function choiceOf(
  label: string,
  options: readonly { readonly value: number; readonly text: string }[],
  chosen: number,
  choose: (value: number) => void,
): HTMLElement {
  const line = createElement('label', { text: label });
  const select = createElement('select');
  select.append(
    ...options.map(({ value, text }) => {
      const option = createElement('option', { text });
      option.value = String(value);
      return option;
    }),
  );
  select.value = String(chosen);
  select.addEventListener('change', () => choose(Number(select.value)));
  line.append(select);
  return line;
}

function sizeButtons(chosen: TileSize, choose: (size: TileSize) => void): HTMLElement {
  const group = createElement('div', { className: 'lance-sizes', role: 'group' });
  group.ariaLabel = 'Size of the images';
  const buttons = sizes.map((size) => {
    const [letter, label] = sizeNames[size];
    const button = createButton({
      label: letter,
      run: () => {
        for (const each of buttons) each.ariaPressed = String(each === button);
        choose(size);
      },
    });
    button.ariaLabel = label;
    button.title = label;
    button.ariaPressed = String(size === chosen);
    return button;
  });
  group.append(...buttons);
  return group;
}
