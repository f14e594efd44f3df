// Wrapper watch: ends the platform when the process that started it on the pinned Node has ended.

const lookEveryMs = 1_000;

/**
 * Calls `gone` once when the process has ended. After a SIGKILL of the wrapper a supervisor starts
 * the platform again, and ports and data folder would still be in use. Does not keep the process
 * alive.
 */
export function watchWrapper(pid: number | undefined, gone: () => void): void {
  if (pid === undefined) return;
  const wasParent = process.ppid === pid;
  const timer = setInterval(() => {
    // A new parent is the sign on Unix, where the old one may stay a zombie; Windows keeps the
    // number of the old one.
    if (isAlive(pid) && !(wasParent && process.ppid !== pid)) return;
    clearInterval(timer);
    gone();
  }, lookEveryMs);
  timer.unref();
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
