import { connect, createServer } from 'node:net';
import { joinedSockets } from './joinedSockets.ts';

// Forwards connections from one location to another. A location is a socket in the file system, which all network
// namespaces share, or a port in the network namespace of this process.
const placeOf = (text: string) => (/^\d+$/.test(text) ? { host: '127.0.0.1', port: Number(text) } : { path: text });
const [from = '', to = ''] = process.argv.slice(2);
createServer((client) => joinedSockets(client, connect(placeOf(to)))).listen(placeOf(from));
