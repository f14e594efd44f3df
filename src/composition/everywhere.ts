// Work at all nodes: what an answer waits for is done here and, with several nodes, by the others in parallel.
import type { SharedWork, WorkAtNodes } from '../leases/held-work.ts';

/**
 * Rejects as the work here does. Another node that fails, or does not answer in time, is not waited
 * for. Call before this node joins the others.
 */
export function everywhere(
  sharedWork: Pick<SharedWork, 'atOthers'> | undefined,
  work: WorkAtNodes,
): (request: string) => Promise<void> {
  const others = sharedWork?.atOthers(work);
  return async (request) => {
    await Promise.all([work.here(request), others?.(request)]);
  };
}
