// Known devices: what bulk requests need of devices, by the names that they use, until a record changes.
import type { BackfillDevice } from './backfill-batches.ts';

/** About 200 bytes each. Further names are looked up in each request. */
const namesMax = 262_144;

export interface KnownDevices {
  /**
   * Undefined for a name that is not kept. Whether a caller may write to the device, the caller's
   * permissions say.
   */
  readonly get: (organizationId: string, name: string) => BackfillDevice | undefined;
  /** Keeps the device of a service or physical id, unless a record changed since the revision. */
  readonly set: (name: string, device: BackfillDevice, revision: number) => void;
  /** Number of changes of records so far. */
  readonly revision: () => number;
}

export function createKnownDevices(revision: () => number, max: number = namesMax): KnownDevices {
  const byOrganization = new Map<string, Map<string, BackfillDevice>>();
  let count = 0;
  let keptAt = revision();
  let last: { readonly id: string; readonly names: Map<string, BackfillDevice> } | undefined;

  /** Empty after each change: changes are rare, and reading a device again is cheap. */
  function namesOf(id: string): Map<string, BackfillDevice> {
    if (keptAt !== revision()) {
      keptAt = revision();
      byOrganization.clear();
      count = 0;
      last = undefined;
    }
    if (last?.id === id) return last.names;
    const names = byOrganization.get(id) ?? new Map<string, BackfillDevice>();
    last = { id, names };
    return names;
  }

  return {
    revision,
    get: (organizationId, name) => namesOf(organizationId).get(name),
    set(name, device, foundAt) {
      const { organizationId } = device.origin;
      const names = namesOf(organizationId);
      if (foundAt !== keptAt || count >= max) return;
      byOrganization.set(organizationId, names);
      const before = names.size;
      names.set(name, device);
      count += names.size - before;
    },
  };
}
