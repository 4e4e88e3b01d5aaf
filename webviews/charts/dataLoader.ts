import type { Loader } from 'vega';

/** `data:[type][;parameters][;base64],content` */
const dataAddress = /^data:([^,]*),([\s\S]*)$/i;

/** Returns whether a value is a `data:` address of an image. */
export const isImageData = (value: unknown): value is string =>
  typeof value === 'string' && /^data:image\//i.test(value);

/**
 * Creates a loader with which Vega reads data, images and links. The loader accepts `data:` addresses and refuses all
 * other addresses, so that a chart sends no request.
 */
export function dataLoader(onRefused: (address: string) => void): Loader {
  const refuse = (uri: unknown): never => {
    const address = String(uri);
    onRefused(address);
    throw new Error(`Can't load "${address}": charts can show only data that they contain.`);
  };
  const read = (uri: unknown, response: unknown): unknown => {
    const [, type, content] = (typeof uri === 'string' && dataAddress.exec(uri)) || [];
    if (type === undefined || content === undefined) return refuse(uri);
    const bytes = /;\s*base64$/i.test(type)
      ? Uint8Array.from(atob(decodeURIComponent(content)), (char) => char.charCodeAt(0))
      : new TextEncoder().encode(decodeURIComponent(content));
    if (response === 'arrayBuffer') return bytes.buffer;
    const text = new TextDecoder().decode(bytes);
    return response === 'json' ? JSON.parse(text) : text;
  };
  const loader = {
    load: async (uri: unknown, options?: { response?: unknown }) => read(uri, options?.response),
    // `ChartHandler` opens links after a click; this loader opens no links.
    sanitize: async (uri: unknown, options?: { context?: unknown }) =>
      options?.context === 'image' && isImageData(uri) ? { href: uri } : refuse(uri),
    http: async (uri: unknown) => refuse(uri),
    file: async (uri: unknown) => refuse(uri),
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Vega calls only these four; its type describes
  // their results in more detail
  return loader as unknown as Loader;
}
