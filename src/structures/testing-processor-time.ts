// Measurements on a busy machine: processor time, which leaves out what else the machine does, and the least of several tries.

/** Milliseconds since the thread began. */
export function processorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

const triesMax = 5;

/**
 * The least of what is measured, which is done again until it is below the limit, five times at
 * most: what the machine or the garbage collector took is not taken each time, and a fault is there
 * each time. An attempt that must know nothing of the one before brings names of its own.
 */
export async function leastOf(
  limit: number,
  measure: (attempt: number) => Promise<number>,
): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < triesMax && least >= limit; i++) least = Math.min(least, await measure(i));
  return least;
}
