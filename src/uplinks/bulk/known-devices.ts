// Known devices: what bulk requests need of devices, by the names that they use, until a record changes.
import type { BackfillDevice } from './backfill-batches.ts';

/** About 200 bytes each. Further names are looked up in each request. */
const namesMax = 262_144;

export interface KnownDevices {
  /**
   * The devices of an organization by service or physical id, as they are in this turn. Whether a
   * caller may write to them, the caller's permissions say.
   */
  readonly of: (organizationId: string) => ReadonlyMap<string, BackfillDevice>;
  /** Keeps the device of a service or physical id, unless a record changed since the revision. */
  readonly set: (name: string, device: BackfillDevice, revision: number) => void;
  /** Number of changes of records so far. */
  readonly revision: () => number;
}

export function createKnownDevices(revision: () => number, max: number = namesMax): KnownDevices {
  const byOrganization = new Map<string, Map<string, BackfillDevice>>();
  let count = 0;
  let keptAt = revision();
  /** By data flow: devices share theirs, so that comparing them costs nothing. */
  const origins = new Map<string, BackfillDevice['origin']>();

  /** Empty after each change: changes are rare, and reading a device again is cheap. */
  function namesOf(id: string): Map<string, BackfillDevice> {
    if (keptAt !== revision()) {
      keptAt = revision();
      byOrganization.clear();
      origins.clear();
      count = 0;
    }
    return byOrganization.get(id) ?? new Map<string, BackfillDevice>();
  }

  function sharedOrigin(origin: BackfillDevice['origin']): BackfillDevice['origin'] {
    const key = Object.values(origin).join(' ');
    const known = origins.get(key) ?? origin;
    origins.set(key, known);
    return known;
  }

  return {
    revision,
    of: namesOf,
    set(name, device, foundAt) {
      const { organizationId } = device.origin;
      const names = namesOf(organizationId);
      if (foundAt !== keptAt || count >= max) return;
      byOrganization.set(organizationId, names);
      const before = names.size;
      const { id, storedTopics, keptDays } = device;
      names.set(name, { id, origin: sharedOrigin(device.origin), storedTopics, keptDays });
      count += names.size - before;
    },
  };
}
