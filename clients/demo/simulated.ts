// Simulated workspaces of this process: each by one simulation, so that no device sends twice.
const simulated = new Set<string>();

/** Runs the simulation, or waits for the end of the signal while another one of the workspace runs. */
export async function simulateOnce<T>(
  workspaceId: string,
  signal: AbortSignal,
  simulate: () => Promise<T>,
): Promise<T> {
  if (simulated.has(workspaceId))
    return new Promise((_, reject) => {
      const end = () => reject(signal.reason);
      if (signal.aborted) end();
      else signal.addEventListener('abort', end, { once: true });
    });
  simulated.add(workspaceId);
  try {
    return await simulate();
  } finally {
    simulated.delete(workspaceId);
  }
}
