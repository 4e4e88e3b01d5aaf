import { connect, createServer } from 'node:net';
import { joinedSockets } from './joinedSockets.ts';

// Hands what connects to a socket in the file system on to a port of this network namespace.
const [socket = '', port = ''] = process.argv.slice(2);
createServer((client) => joinedSockets(client, connect(Number(port), '127.0.0.1'))).listen(socket);
