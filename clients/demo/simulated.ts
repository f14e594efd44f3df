// Simulated workspaces of this process: each by one simulation, so that no device sends twice.
import { setTimeout as wait } from 'node:timers/promises';

const simulated = new Set<string>();
const lookAgainMs = 1_000;

/** Runs the simulation once no other one of the workspace runs; rejects when the signal is aborted. */
export async function simulateOnce<T>(
  workspaceId: string,
  signal: AbortSignal,
  simulate: () => Promise<T>,
): Promise<T> {
  while (simulated.has(workspaceId)) await wait(lookAgainMs, undefined, { signal });
  simulated.add(workspaceId);
  try {
    return await simulate();
  } finally {
    simulated.delete(workspaceId);
  }
}
