import { isAbort, messageOf } from '#shared/errors.ts';
import { sizeText } from '#shared/format/numbers.ts';
import { type Action, createButton, createElement } from '../../parts/elements.ts';
import { NoticeLine } from '../../parts/noticeLine.ts';
import type { CellValue } from '../cellValue.ts';
import type { SaveFile } from '../saveFile.ts';
import { fileName } from './fileName.ts';
import { hexText, jsonParts, valueFile } from './valueFile.ts';

/** Strings of more characters are copied only after a question, and those of more than the maximum not at all. */
const askChars = 10_000_000;
const maxChars = 250_000_000;

type Shown = {
  readonly value: CellValue;
  /** The name of a saved file, without its extension. */ readonly baseName: string;
};

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

/** The buttons that copy and save the shown value, and the line that says how it went. */
export class ValueActions {
  readonly buttons: readonly HTMLButtonElement[];
  readonly status = createElement('div', { className: 'lance-detail-status', role: 'status' });
  readonly #notice = new NoticeLine();
  readonly #copy = createButton({ label: 'Copy', run: () => void this.#copyValue() });
  readonly #saveAs = createButton({ label: 'Save As…', run: () => void this.#saveValue() });
  readonly #save: SaveFile | undefined;
  #shown: Shown | undefined;
  #saving: AbortController | undefined;

  constructor(save: SaveFile | undefined) {
    this.#save = save;
    this.status.append(this.#notice.element);
    this.buttons = save ? [this.#copy, this.#saveAs] : [this.#copy];
    this.show(undefined);
  }

  show(shown: Shown | undefined): void {
    this.#shown = shown;
    const hasContent = shown !== undefined && shown.value.kind !== 'null' && shown.value.kind !== 'omitted';
    this.#copy.disabled = !hasContent;
    this.#saveAs.disabled = !hasContent;
    // A file that is being written continues while the user looks at other cells.
    if (!this.#saving) this.#tell('');
  }

  close(): void {
    this.#saving?.abort();
  }

  async #copyValue(): Promise<void> {
    const value = this.#shown?.value;
    if (!value) return;
    try {
      if (value.kind === 'binary' && value.mime !== undefined) {
        await copyImage(value.bytes, value.mime);
        return this.#tell('Copied the image.');
      }
      const chars = value.kind === 'binary' ? 2 * value.bytes.length : value.kind === 'text' ? value.bytes.length : 0;
      if (chars > maxChars) return this.#tooLarge();
      if (chars > askChars && !(await this.#ask(chars))) return this.#tell('');
      const text = await this.#textOf(value, chars > askChars);
      if (text === undefined) return;
      await navigator.clipboard.writeText(text);
      this.#tell(`Copied ${sizeText(text.length)}.`);
    } catch (error) {
      this.#tell(`Can't copy the value: ${messageOf(error)}`);
    }
  }

  /** Returns the text of a value; `undefined` if it is too large, or the user doesn't want that much. */
  async #textOf(value: CellValue, isConfirmed: boolean): Promise<string | undefined> {
    if (value.kind === 'text') return utf8.decode(value.bytes);
    if (value.kind === 'binary') return hexText(value.bytes);
    if (value.kind === 'number' || value.kind === 'boolean' || value.kind === 'time') return value.text;
    const parts: string[] = [];
    let chars = 0;
    let mayAsk = !isConfirmed;
    for (const part of jsonParts(value)) {
      parts.push(part);
      chars += part.length;
      if (chars > maxChars) {
        this.#tooLarge();
        return undefined;
      }
      if (!mayAsk || chars <= askChars) continue;
      mayAsk = false;
      if (!(await this.#ask(chars))) {
        this.#tell('');
        return undefined;
      }
    }
    return parts.join('');
  }

  #tooLarge(): void {
    this.#tell(`Can't copy more than ${sizeText(maxChars)}. Save the value as a file.`);
  }

  #ask(chars: number): Promise<boolean> {
    return new Promise((resolve) =>
      this.#tell(`Copy more than ${sizeText(Math.min(chars, askChars))}?`, [
        { label: 'Copy', run: () => resolve(true) },
        { label: 'Cancel', run: () => resolve(false) },
      ]),
    );
  }

  async #saveValue(): Promise<void> {
    const shown = this.#shown;
    const file = shown && valueFile(shown.value);
    if (!file || !this.#save || this.#saving) return;
    const controller = new AbortController();
    const { signal } = controller;
    this.#saving = controller;
    const total = file.size === undefined ? '' : ` of ${sizeText(file.size)}`;
    const cancel = { label: 'Cancel', run: () => controller.abort() };
    try {
      const name = fileName(shown.baseName, file.extension);
      const saved = await this.#save(
        { name, parts: file.parts },
        { signal, onProgress: (bytes) => this.#tell(`Saving ${sizeText(bytes)}${total}…`, [cancel]) },
      );
      this.#tell(saved === undefined ? '' : `Saved "${saved}".`);
    } catch (error) {
      this.#tell(signal.aborted || isAbort(error) ? 'Canceled. No file was written.' : messageOf(error));
    } finally {
      this.#saving = undefined;
    }
  }

  #tell(text: string, actions: readonly Action[] = []): void {
    this.#notice.show(text === '' ? undefined : { text, actions });
  }
}

/** Copies an image as PNG, the one format that the clipboard of a browser takes. */
async function copyImage(bytes: Uint8Array, mime: string): Promise<void> {
  const blob = new Blob([bytes as Uint8Array<ArrayBuffer>], { type: mime });
  const png = mime === 'image/png' ? Promise.resolve(blob) : pngOf(blob);
  await navigator.clipboard.write([new ClipboardItem({ 'image/png': png })]);
}

async function pngOf(blob: Blob): Promise<Blob> {
  const bitmap = await createImageBitmap(blob);
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
  canvas.getContext('2d')?.drawImage(bitmap, 0, 0);
  bitmap.close();
  return canvas.convertToBlob({ type: 'image/png' });
}
