// Work at all nodes: an answer waits for what is done here and, in parallel, by the other nodes.
import type { SharedWork, WorkAtNodes } from '../cluster/leases/lease-tasks.ts';

/**
 * Rejects as the work here does. Another node that fails, or does not answer in time, is not waited
 * for. Call before this node joins the others.
 */
export function everywhere(
  sharedWork: SharedWork | undefined,
  work: WorkAtNodes,
): (request: string) => Promise<void> {
  const others = sharedWork?.atOthers(work);
  return async (request) => {
    await Promise.all([work.here(request), others?.(request)]);
  };
}
