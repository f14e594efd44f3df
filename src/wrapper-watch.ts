// The watch on the wrapper: a process that was started only to run the pinned Node must not outlive the one that started it.

const lookEveryMs = 1_000;

/**
 * Calls `gone` once when the process is no more. A supervisor that killed the wrapper with SIGKILL takes the platform for ended, and
 * the next start would find ports and data folder in use. Does not keep the process alive.
 */
export function watchWrapper(pid: number | undefined, gone: () => void): void {
  if (pid === undefined) return;
  const wasParent = process.ppid === pid;
  const timer = setInterval(() => {
    // A new parent is the sign on Unix, where the old one may stay a zombie; Windows keeps the number of the old one.
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
