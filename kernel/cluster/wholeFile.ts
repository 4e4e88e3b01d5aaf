import { readFile, stat } from 'node:fs/promises';

/** Files of a process's own descriptors: whoever writes `--kubeconfig <(…)` has the other end open already. */
const ownDescriptor = /^\/(?:dev\/(?:fd\/\d+|stdin|null)|proc\/self\/fd\/\d+)$/;

/**
 * The text of a file. A pipe that nobody writes to would have to be waited for, and Node can neither give up such a wait
 * nor end in the middle of it; a device may never end.
 * @throws Error of `readFile`, or with the code `EFTYPE` for a pipe or device
 */
export async function readPlainFile(file: string): Promise<string> {
  const found = await stat(file);
  if (!found.isFile() && !found.isDirectory() && !ownDescriptor.test(file))
    throw Object.assign(new Error(`${file} is a pipe or a device.`), { code: 'EFTYPE' });
  return readFile(file, 'utf8');
}
