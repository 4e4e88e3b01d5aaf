/** Size of a waveform in pixels of the page. */
const [width, height] = [320, 64];

/**
 * Returns a canvas with the waveform of audio and the position of its player, which a click moves; `undefined` if the
 * audio can't be decoded.
 */
export async function drawWaveform(
  audio: HTMLAudioElement,
  file: Blob,
  signal: AbortSignal,
): Promise<HTMLCanvasElement | undefined> {
  let peaks: Float32Array;
  try {
    // The rate only decides about the precision of the peaks.
    const decoded = await new OfflineAudioContext(1, 1, 22_050).decodeAudioData(await file.arrayBuffer());
    peaks = peaksOf(decoded.getChannelData(0));
  } catch {
    return undefined;
  }
  if (signal.aborted) return undefined;
  const canvas = document.createElement('canvas');
  canvas.className = 'lance-waveform';
  // The player has the same position for assistive technology.
  canvas.ariaHidden = 'true';
  const scale = devicePixelRatio || 1;
  [canvas.width, canvas.height] = [width * scale, height * scale];
  const draw = (): void => paint(canvas, peaks, scale, audio.duration > 0 ? audio.currentTime / audio.duration : 0);
  for (const event of ['timeupdate', 'seeked', 'ended']) audio.addEventListener(event, draw, { signal });
  canvas.addEventListener('click', ({ offsetX }) => {
    if (audio.duration > 0) audio.currentTime = (offsetX / canvas.clientWidth) * audio.duration;
  });
  requestAnimationFrame(draw);
  return canvas;
}

/** Returns the largest value of each part of the samples, a part for every second pixel. */
export function peaksOf(samples: Float32Array, count: number = width / 2): Float32Array {
  const peaks = new Float32Array(count);
  for (let part = 0; part < count; part++) {
    const [start, end] = [part, part + 1].map((at) => Math.floor((at * samples.length) / count)) as [number, number];
    for (let at = start; at < end; at++) peaks[part] = Math.max(peaks[part]!, Math.abs(samples[at]!));
  }
  return peaks;
}

function paint(canvas: HTMLCanvasElement, peaks: Float32Array, scale: number, played: number): void {
  const context = canvas.getContext('2d');
  if (!context) return;
  const { color, accentColor } = getComputedStyle(canvas);
  const step = canvas.width / peaks.length;
  context.clearRect(0, 0, canvas.width, canvas.height);
  for (const [index, peak] of peaks.entries()) {
    const high = Math.max(scale, Math.min(1, peak) * (canvas.height - 4 * scale));
    context.fillStyle = index < played * peaks.length && accentColor !== 'auto' ? accentColor : color;
    context.fillRect(index * step, (canvas.height - high) / 2, step / 2, high);
  }
}
