// Leases of one process: it holds all that it wants, without limit, and asks for nothing.
import type { NodeAddress } from '../../model/node-messages.ts';
import type { Lease, LeaseName, Leases, LeasesChanged, Owner } from './leases.ts';

export function createOneNodeLeases(node: NodeAddress): Leases {
  const leases = new Map<LeaseName, Lease>();
  const owners = new Map<LeaseName, Owner>();
  const listeners: LeasesChanged[] = [];
  let isClosed = false;

  const announce = async (gained: readonly Lease[], lost: readonly Lease[]): Promise<void> => {
    for (const listener of listeners) await listener(gained, lost);
  };

  const end = async (): Promise<void> => {
    if (isClosed) return;
    const lost = [...leases.values()];
    leases.clear();
    await announce([], lost);
    isClosed = true;
    owners.clear();
  };

  return {
    node,
    held: (name) => leases.get(name),
    want(names) {
      const gained = names
        .filter((name) => !leases.has(name))
        .map((name): Lease => ({ name, epoch: 1, isValid: () => !isClosed }));
      for (const lease of gained) {
        leases.set(lease.name, lease);
        owners.set(lease.name, { node, epoch: lease.epoch });
      }
      void announce(gained, []);
    },
    onChange: (listener) => void listeners.push(listener),
    owners: () => owners,
    refresh: async () => undefined,
    isCutOff: () => false,
    drain: end,
    close: end,
  };
}
