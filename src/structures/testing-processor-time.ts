// Processor time of this thread, for tests of how much work something takes: the clock also counts what else the machine does.

/** Milliseconds since the thread began. */
export function processorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
