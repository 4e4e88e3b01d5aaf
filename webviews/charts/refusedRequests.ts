/**
 * Replaces the browser functions that send requests. esbuild injects these replacements into the bundles of the chart
 * libraries. They stop every request, even for an address that the check of the description did not find.
 */
function refuse(): never {
  throw new Error('Charts send no requests.');
}

const isLocal = (address: string): boolean => /^(?:data|blob):/i.test(address);

/** Like `Image` of the browser, but its source can only be data of this page. */
function LocalImage(width?: number, height?: number): HTMLImageElement {
  const image = document.createElement('img');
  if (width !== undefined) image.width = width;
  if (height !== undefined) image.height = height;
  const setAttribute = image.setAttribute.bind(image);
  const setSource = (address: string): void => {
    if (isLocal(address)) setAttribute('src', address);
    else image.dispatchEvent(new Event('error'));
  };
  Object.defineProperty(image, 'src', { get: () => image.getAttribute('src') ?? '', set: setSource });
  image.setAttribute = (name, value) => {
    if (name.toLowerCase() === 'src') setSource(value);
    else if (name.toLowerCase() !== 'srcset') setAttribute(name, value);
  };
  return image;
}

export {
  LocalImage as Image,
  refuse as EventSource,
  refuse as fetch,
  refuse as WebSocket,
  refuse as Worker,
  refuse as XMLHttpRequest,
  refuse as 'window.open',
};
