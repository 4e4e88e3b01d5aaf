// Shows the limit of a server in Node. It sends the same bytes as the product from memory, on the same kind of socket,
// without any computation.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { arrowStreamMime } from '#shared/mime.ts';

const [file, socket] = process.argv.slice(2);
if (file === undefined || socket === undefined) throw new Error('Say which file to serve, and on which socket.');
const bytes = readFileSync(file);
const chunk = 64 * 1024;

const server = createServer((_request, response) => {
  void (async () => {
    response.writeHead(200, { 'content-type': arrowStreamMime });
    for (let at = 0; at < bytes.length; at += chunk) {
      if (!response.write(bytes.subarray(at, at + chunk))) await once(response, 'drain');
    }
    response.end();
  })();
});
server.listen(socket, () => console.log('ready'));
// Ends with the parent process.
process.stdin.resume().once('end', () => process.exit(0));
