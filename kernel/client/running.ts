/** Whether a process with this number runs, of this person or another. A negative number asks for a process group. */
export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // One may not signal somebody else's process, but it is there.
    return Object(error).code === 'EPERM';
  }
}
