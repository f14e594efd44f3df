// Lease epochs: in which epoch a node holds each lease, or held it last.
import { leaseOfDevice, type Lease, type LeaseName } from './leases.ts';

export interface LeaseEpochs {
  /** Of the lease of the device; 0 for one that the node never held. */
  readonly of: (deviceId: string) => number;
  readonly add: (gained: readonly Pick<Lease, 'name' | 'epoch'>[]) => void;
}

/** `before` are those that an earlier process of the node held, and no other node since. */
export function createEpochs(before: readonly Pick<Lease, 'name' | 'epoch'>[]): LeaseEpochs {
  const epochs = new Map<LeaseName, number>();
  const add: LeaseEpochs['add'] = (gained) => {
    for (const { name, epoch } of gained) epochs.set(name, epoch);
  };
  add(before);
  return { of: (deviceId) => epochs.get(leaseOfDevice(deviceId)) ?? 0, add };
}
