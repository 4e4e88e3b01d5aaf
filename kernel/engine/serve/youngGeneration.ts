import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** Bytes from which the young generation grows no further. */
const enough = 8 * 2 ** 20;

/**
 * Keeps the young generation of V8's heap small, in this whole process. Pages of rows are outside of the heap, and are
 * freed when the young generation is collected. At its usual maximum of 64 MB, the pages of a thousand requests wait for
 * that. Then V8 collects the whole heap every second and frees hundreds of queries at once, and one request in a hundred
 * waits for that.
 */
export function limitYoungGeneration(): void {
  // The size can't be set in a running process, only the growth. So the growth is ended at the first collection after
  // which the young generation is large enough: it grows only during a collection.
  const observer = new PerformanceObserver(() => {
    const size = getHeapSpaceStatistics().find((space) => space.space_name === 'new_space')?.space_size ?? 0;
    if (size < enough) return;
    setFlagsFromString('--semi-space-growth-factor=1');
    observer.disconnect();
  });
  observer.observe({ entryTypes: ['gc'] });
}
