import { type KeyboardEvent, memo, type ReactNode, useEffect, useRef, useState } from 'react';
import type { CellContentProps } from 'hightable';
import { spark, sparkPath } from '#shared/format/sparkPath.ts';
import type { GridCell } from './frame.ts';

/** A string of at most this many characters fits any column. */
const shortText = 12;

/** Renders the content of a cell by the kind of its value. */
export function renderCell({ cell }: CellContentProps): ReactNode {
  const value = cell?.value as GridCell | undefined;
  if (value === undefined) return null;
  switch (value.kind) {
    case 'image':
      return <ImageCell bytes={value.bytes} mime={value.mime} text={value.text} />;
    case 'vector':
      return <VectorCell values={value.values} text={value.text} />;
    case 'failed':
      return (
        <span className="lance-failed" title={value.reason}>
          {value.text}
        </span>
      );
    case 'null':
    case 'binary':
    case 'nested':
    case 'boolean':
    case 'time':
    case 'number':
    case 'text':
      // Give a null its own style, so that it differs from the string "null".
      return (
        <span className={`lance-${value.kind}`} title={value.text.length > shortText ? value.text : undefined}>
          {value.text}
        </span>
      );
  }
}

/** An image from the bytes of the cell, enlarged on click. The object URL lives as long as the cell is mounted. */
const ImageCell = memo(function ImageCell({ bytes, mime, text }: { bytes: Uint8Array; mime: string; text: string }) {
  const [url, setUrl] = useState<string>();
  const [broken, setBroken] = useState(false);
  const large = useRef<HTMLImageElement>(null);
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([bytes as Uint8Array<ArrayBuffer>], { type: mime }));
    setUrl(made);
    setBroken(false);
    return () => URL.revokeObjectURL(made);
  }, [bytes, mime]);
  if (broken) return <span className="lance-binary">{text}, damaged</span>;
  const open = (thumbnail: HTMLElement) => {
    const picture = large.current;
    if (!picture) return;
    picture.showPopover();
    const { left, top, bottom } = thumbnail.getBoundingClientRect();
    const { width, height } = picture.getBoundingClientRect();
    const below = bottom + 4 + height <= innerHeight;
    picture.style.left = `${Math.max(4, Math.min(left, innerWidth - width - 4))}px`;
    picture.style.top = `${below ? bottom + 4 : Math.max(4, top - height - 4)}px`;
  };
  return (
    <>
      <img
        className="lance-image"
        src={url}
        alt={text}
        title={text}
        onError={() => setBroken(true)}
        onClick={(event) => open(event.currentTarget)}
      />
      {/*
       * In the top layer and beside the cell: the cell would clip it, and the center of a notebook's page may be out of
       * sight.
       */}
      <img className="lance-large" ref={large} popover="auto" src={url} alt={text} />
    </>
  );
});

/** Enlarges the image of a cell on Enter, like a click. */
export function openCell(event: KeyboardEvent): void {
  if (event.key === 'Enter') event.currentTarget.querySelector<HTMLElement>('.lance-image')?.click();
}

const VectorCell = memo(function VectorCell({ values, text }: { values: Float64Array; text: string }) {
  return (
    <span className="lance-vector" title={text}>
      {values.length >= spark.minPoints && (
        <svg
          viewBox={`0 0 ${spark.width} ${spark.height}`}
          width={spark.width}
          height={spark.height}
          aria-hidden="true"
        >
          <path d={sparkPath(values)} />
        </svg>
      )}
      <span>{text}</span>
    </span>
  );
});
