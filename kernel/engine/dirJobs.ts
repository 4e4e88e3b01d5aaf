import type { Jobs } from '#client/jobs.ts';
import { unsupported } from './dirCapabilities.ts';

/** A directory runs no jobs: every call says so. */
export const noJobs: Jobs = {
  list: () => Promise.reject(unsupported('ListJobs')),
  describe: (id) => Promise.reject(unsupported('DescribeJob', id)),
  cancel: (id) => Promise.reject(unsupported('CancelJob', id)),
  events: (id) => ({
    [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(unsupported('QueryJobEvents', id)) }),
  }),
};
