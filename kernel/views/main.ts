import { Socket } from 'node:net';
import { registerRest } from '#catalog/rest/register.ts';
import { serveViews } from './serveViews.ts';

// The views process, one per window, started when a view needs it. It ends when the window closes the connection at
// descriptor 3. The SQL engine is a child of this process and ends with it.

// An exit without cleaning up is right: the SQL engine removes its folder when this process is gone, and files of results
// have no names.
const end = (): never => process.exit(0);
const pipe = new Socket({ fd: 3, readable: true, writable: true });
pipe.on('close', end);
pipe.on('error', end);
// The umask of the user stays, because it decides whether others can read exported files. Temporary files are in private
// folders.
registerRest();
serveViews(pipe, end);
