import { Socket } from 'node:net';
import { openJobs } from '#jobs/service/openJobs.ts';
import { serveJobs } from './serveJobs.ts';

// The process of an editor that knows backfills: one for a window. Its client is at descriptor 3, and it ends when that
// client goes. Jobs are processes of their own and do not end with it.

const end = (): never => process.exit(0);
const pipe = new Socket({ fd: 3, readable: true, writable: true });
pipe.on('close', end);
pipe.on('error', end);
// Files of jobs are of the person alone.
process.umask(0o077);
serveJobs(pipe, openJobs(), end);
