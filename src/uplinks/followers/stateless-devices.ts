// Stateless devices: those whose decoder never emitted a state, in about 15 bytes each instead of a query per uplink.
import { hasFormOfId } from '../../model/ids.ts';
import { createSlotIndex } from '../../structures/slot-index.ts';

export interface StatelessDevices {
  has(deviceId: string): boolean;
  /** False at the limit, and for an id in another form than that of service ids. */
  add(deviceId: string): boolean;
  delete(deviceId: string): void;
  clear(): void;
}

const hexDigits = /^[0-9a-f]{16}$/;

/** An id is two numbers: 24 and 32 random bits after the prefix, which together are exact. */
export function createStatelessDevices(max = 1_000_000): StatelessDevices {
  let index = createSlotIndex();

  function has(deviceId: string): boolean {
    const high = highOf(deviceId);
    return high !== undefined && index.find(lowOf(deviceId), (slot) => slot === high) !== undefined;
  }

  return {
    has,
    add(deviceId) {
      const high = highOf(deviceId);
      if (high === undefined) return false;
      if (has(deviceId)) return true;
      if (index.size >= max) return false;
      index.add(lowOf(deviceId), high);
      return true;
    },
    delete(deviceId) {
      const high = highOf(deviceId);
      if (high !== undefined) index.delete(lowOf(deviceId), high);
    },
    clear() {
      index = createSlotIndex();
    },
  };
}

function highOf(id: string): number | undefined {
  if (!hasFormOfId('device', id) || !hexDigits.test(id)) return undefined;
  return Number.parseInt(id.slice(2, 8), 16);
}

function lowOf(id: string): number {
  return Number.parseInt(id.slice(8), 16);
}
