import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';

export type StandInPackage = { name: string; version: string; files: Readonly<Record<string, string>> };

/**
 * Stands in for the npm registry, because tests install without a network. Serves a document and a tarball for each
 * given package, in the formats of the registry.
 */
export async function registryStandIn(packages: readonly StandInPackage[]): Promise<{ url: string; close(): void }> {
  const server = createServer((request, response) => {
    const url = `http://${request.headers.host}`;
    const path = decodeURIComponent(request.url ?? '').slice(1);
    const versions = packages.filter(({ name }) => name === path);
    const file = packages.find((each) => path === fileOf(each));
    if (file) return void response.end(tarball(file.files));
    if (versions.length === 0) return void response.writeHead(404).end('{}');
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(documentOf(versions, url)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

const fileOf = ({ name, version }: StandInPackage): string => `${name}/-/${version}.tgz`;

function documentOf(versions: readonly StandInPackage[], url: string): object {
  return {
    name: versions[0]?.name,
    'dist-tags': { latest: versions.at(-1)?.version },
    versions: Object.fromEntries(
      versions.map((each) => {
        const manifest = JSON.parse(each.files['package.json'] ?? '{}') as object;
        const integrity = `sha512-${createHash('sha512').update(tarball(each.files)).digest('base64')}`;
        return [each.version, { ...manifest, dist: { tarball: `${url}/${fileOf(each)}`, integrity } }];
      }),
    ),
  };
}

const block = 512;

/** Returns a gzipped tar file with the files in `package/`. */
function tarball(files: Readonly<Record<string, string>>): Buffer {
  const parts = Object.entries(files).flatMap(([name, text]) => {
    const body = Buffer.from(text);
    return [headerOf(`package/${name}`, body.length), body, Buffer.alloc((block - (body.length % block)) % block)];
  });
  return gzipSync(Buffer.concat([...parts, Buffer.alloc(2 * block)]));
}

function headerOf(name: string, size: number): Buffer {
  const header = Buffer.alloc(block);
  const put = (text: string, at: number) => header.write(text, at, 'latin1');
  put(name, 0);
  put('0000644\0', 100);
  put('0000000\0', 108);
  put('0000000\0', 116);
  put(`${size.toString(8).padStart(11, '0')}\0`, 124);
  put('00000000000\0', 136);
  put('        0', 148);
  put('ustar\x0000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  put(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return header;
}
