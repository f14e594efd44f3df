// Lease listeners: are called one after the other with what a node gained and lost, in that order.
import { createSerialQueue } from '../../structures/serial-queue.ts';
import type { Lease, LeasesChanged } from './leases.ts';

export interface LeaseListeners {
  add(listener: LeasesChanged): void;
  /** Resolves when every listener is ready. A failed one keeps no other from being called. */
  announce(gained: readonly Lease[], lost: readonly Lease[]): Promise<void>;
  /** Resolves when everything announced so far is done. */
  idle(): Promise<void>;
}

export interface LeaseListenersParts {
  /** Called when the listeners are ready for leases. */
  readonly ready: (gained: readonly Lease[]) => void;
  readonly failed: (error: unknown) => void;
}

export function createLeaseListeners({ ready, failed }: LeaseListenersParts): LeaseListeners {
  const listeners: LeasesChanged[] = [];
  const announcements = createSerialQueue();
  return {
    add: (listener) => void listeners.push(listener),
    async announce(gained, lost) {
      if (gained.length + lost.length === 0) return;
      await announcements.run(async () => {
        for (const listener of listeners) await Promise.try(listener, gained, lost).catch(failed);
        ready(gained);
      });
    },
    idle: announcements.idle,
  };
}
