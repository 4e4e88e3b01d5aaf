import { readFile, stat } from 'node:fs/promises';

/**
 * Matches files for descriptors of this process. They may be pipes: with `--kubeconfig <(…)`, the shell has opened the
 * other end.
 */
const ownDescriptor = /^\/(?:dev\/(?:fd\/\d+|stdin|null)|proc\/self\/fd\/\d+)$/;

/**
 * Reads a text file. Rejects pipes and devices, because a device may never end, and Node can neither cancel the read of
 * a pipe without a writer nor exit during it.
 * @throws Error of `readFile`, or with the code `EFTYPE` for a pipe or device
 */
export async function readRegularFile(file: string): Promise<string> {
  const found = await stat(file);
  if (!found.isFile() && !found.isDirectory() && !ownDescriptor.test(file))
    throw Object.assign(new Error(`${file} is a pipe or a device.`), { code: 'EFTYPE' });
  return readFile(file, 'utf8');
}
