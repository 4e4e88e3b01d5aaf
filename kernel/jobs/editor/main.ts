import { Socket } from 'node:net';
import { openJobs } from '#jobs/service/openJobs.ts';
import { serveJobs } from './serveJobs.ts';

// The jobs process of the editor, one per window. It ends when its client closes the connection at descriptor 3. Jobs
// run in separate processes, which continue.

const end = (): never => process.exit(0);
const pipe = new Socket({ fd: 3, readable: true, writable: true });
pipe.on('close', end);
pipe.on('error', end);
// Job files are private to the user.
process.umask(0o077);
serveJobs(pipe, openJobs(), end);
