import type { BlobCell } from '#shared/format/blobCells.ts';
import { countText, sizeText } from '#shared/format/numbers.ts';
import { messageOf } from '#shared/errors.ts';
import { createElement } from '../parts/elements.ts';
import { drawWaveform } from './waveform.ts';

/** Loads all bytes of a blob. @param onProgress called with the number of bytes that have arrived */
export type LoadBlob = (signal: AbortSignal, onProgress: (bytes: number) => void) => Promise<Uint8Array>;

/** Maximum bytes of a blob that is loaded to be played or shown. */
export const maxBytes = 64 * 2 ** 20;
/** Maximum bytes of audio that is decoded for its waveform. */
const maxWaveformBytes = 16 * 2 ** 20;

/** Whether a blob can be played or shown in its size. */
export const isPlayable = ({ mime, reason }: BlobCell): boolean =>
  reason === undefined && mime !== undefined && /^(audio|video|image)\//.test(mime);

/**
 * Plays the audio or video in a blob, or shows its image. It is in the top layer, because the cell would clip it. The
 * bytes are loaded when it opens; nothing plays on its own.
 */
export class MediaView {
  readonly #anchor: HTMLElement;
  readonly #element = createElement('div', { className: 'lance-large lance-media' });
  readonly #note = createElement('p', { role: 'status' });
  readonly #closing = new AbortController();
  #url: string | undefined;

  /** @param parent holds the element, so that the styles of its root apply */
  constructor(parent: HTMLElement, anchor: HTMLElement, cell: BlobCell, load: LoadBlob) {
    this.#anchor = anchor;
    this.#element.popover = 'auto';
    this.#element.ariaLabel = cell.text;
    this.#element.append(this.#note);
    this.#element.addEventListener('toggle', (event) => {
      if (event.newState === 'closed') this.hide();
    });
    // Keys of the player are not keys of the grid. Escape closes.
    this.#element.addEventListener('keydown', (event) => event.stopPropagation());
    parent.append(this.#element);
    this.#element.showPopover();
    void this.#open(cell, load);
  }

  hide(): void {
    this.#closing.abort();
    this.#element.remove();
    if (this.#url !== undefined) URL.revokeObjectURL(this.#url);
    this.#url = undefined;
  }

  async #open(cell: BlobCell, load: LoadBlob): Promise<void> {
    const { size, text } = cell;
    if (size > maxBytes) return this.#say(`${text}. Blobs of up to ${sizeText(maxBytes)} are shown here.`);
    const { signal } = this.#closing;
    this.#say(`Loading ${text}…`);
    try {
      const bytes = await load(signal, (arrived) =>
        this.#say(`Loading ${text}… ${countText(Math.floor((100 * arrived) / size))} %`),
      );
      if (!signal.aborted) this.#show(cell, bytes);
    } catch (error) {
      if (!signal.aborted) this.#say(`Can't load the blob: ${messageOf(error)}`);
    }
  }

  #show({ mime = '', text, size }: BlobCell, bytes: Uint8Array): void {
    const file = new Blob([bytes as Uint8Array<ArrayBuffer>], { type: mime });
    this.#url = URL.createObjectURL(file);
    const media = mediaElement(mime);
    media.addEventListener('error', () => {
      media.remove();
      this.#say(`Can't play ${text}: the format is not supported here, or the bytes are damaged.`);
    });
    for (const event of ['load', 'loadedmetadata']) media.addEventListener(event, () => this.#place());
    if (media instanceof HTMLImageElement) media.alt = text;
    else media.controls = true;
    media.src = this.#url;
    this.#element.prepend(media);
    if (media instanceof HTMLAudioElement && size <= maxWaveformBytes) void this.#addWaveform(media, file);
    this.#say(text);
    if (!(media instanceof HTMLImageElement)) media.focus();
  }

  async #addWaveform(audio: HTMLAudioElement, file: Blob): Promise<void> {
    const canvas = await drawWaveform(audio, file, this.#closing.signal);
    if (!canvas || !audio.isConnected) return;
    this.#element.prepend(canvas);
    this.#place();
  }

  #say(note: string): void {
    this.#note.textContent = note;
    this.#place();
  }

  #place(): void {
    const { left, top, bottom } = this.#anchor.getBoundingClientRect();
    const { width, height } = this.#element.getBoundingClientRect();
    const isBelow = bottom + 4 + height <= innerHeight;
    this.#element.style.left = `${Math.max(4, Math.min(left, innerWidth - width - 4))}px`;
    this.#element.style.top = `${isBelow ? bottom + 4 : Math.max(4, top - height - 4)}px`;
  }
}

function mediaElement(mime: string): HTMLAudioElement | HTMLVideoElement | HTMLImageElement {
  if (mime.startsWith('image/')) return document.createElement('img');
  const media = document.createElement(mime.startsWith('audio/') ? 'audio' : 'video');
  // The first frame of a video is its poster.
  media.preload = 'auto';
  return media;
}
