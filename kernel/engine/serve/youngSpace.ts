import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** Bytes from which V8's space for new objects grows no further. */
const enough = 8 * 2 ** 20;

/**
 * Keeps V8's space for new objects small, in this whole process. Pages of rows are outside of V8's heap, and are freed
 * when this space is collected. If it has grown to its usual maximum of 64 MB, the pages of a thousand requests wait in
 * it. Then V8 collects all memory every second and frees hundreds of queries at once, and one request in a hundred waits
 * for that.
 */
export function limitYoungSpace(): void {
  // Only a flag for the growth can be set in a running process, so it is set when the space has grown to its size. The
  // space grows only during a collection.
  const observer = new PerformanceObserver(() => {
    const size = getHeapSpaceStatistics().find((space) => space.space_name === 'new_space')?.space_size ?? 0;
    if (size < enough) return;
    setFlagsFromString('--semi-space-growth-factor=1');
    observer.disconnect();
  });
  observer.observe({ entryTypes: ['gc'] });
}
