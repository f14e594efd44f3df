// Broken file: writes of an open file of this process fail with EIO, for tests of disk failures.
import { closeSync, openSync, readdirSync, readlinkSync } from 'node:fs';

/**
 * Every write to the open file whose path ends so fails with EIO from now on: the descriptor is
 * that of this process's memory at addresses that nothing is mapped at. Linux only. Throws when no
 * such file is open.
 */
export function breakOpenFile(pathPart: string): void {
  const descriptor = readdirSync('/proc/self/fd').find((fd) => linkOf(fd).includes(pathPart));
  if (descriptor === undefined) throw new Error(`no open file with ${pathPart} in its path`);
  closeSync(Number(descriptor));
  const opened = openSync('/proc/self/mem', 'r+');
  if (opened !== Number(descriptor))
    throw new Error(`descriptor ${descriptor} was taken by another file`);
}

function linkOf(fd: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return '';
  }
}
