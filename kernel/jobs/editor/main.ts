import { Socket } from 'node:net';
import { openJobs } from '#jobs/service/openJobs.ts';
import { serveJobs } from './serveJobs.ts';

// The jobs process of the editor, one per window. Its client is connected at descriptor 3; the process ends when that
// connection closes. Jobs run in separate processes, which continue.

const end = (): never => process.exit(0);
const pipe = new Socket({ fd: 3, readable: true, writable: true });
pipe.on('close', end);
pipe.on('error', end);
// Job files are private to the user.
process.umask(0o077);
serveJobs(pipe, openJobs(), end);
