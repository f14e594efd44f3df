// Stateless devices: those whose decoder never emitted a state, in about 15 bytes each instead of a query per uplink.
import { hasFormOfId } from '../../model/ids.ts';
import { SlotIndex } from '../../structures/slot-index.ts';

const hexDigits = /^[0-9a-f]{16}$/;

/** An id is two numbers: 24 and 32 random bits after the prefix, which together are exact. */
export class StatelessDevices {
  readonly #max: number;
  #index = new SlotIndex();

  constructor(max = 1_000_000) {
    this.#max = max;
  }

  readonly has = (deviceId: string): boolean => {
    const high = highOf(deviceId);
    return (
      high !== undefined && this.#index.find(lowOf(deviceId), (slot) => slot === high) !== undefined
    );
  };

  /** False at the limit, and for an id in another form than that of service ids. */
  add(deviceId: string): boolean {
    const high = highOf(deviceId);
    if (high === undefined) return false;
    if (this.has(deviceId)) return true;
    if (this.#index.size >= this.#max) return false;
    this.#index.add(lowOf(deviceId), high);
    return true;
  }

  delete(deviceId: string): void {
    const high = highOf(deviceId);
    if (high !== undefined) this.#index.delete(lowOf(deviceId), high);
  }

  clear(): void {
    this.#index = new SlotIndex();
  }
}

function highOf(id: string): number | undefined {
  if (!hasFormOfId('device', id) || !hexDigits.test(id)) return undefined;
  return Number.parseInt(id.slice(2, 8), 16);
}

function lowOf(id: string): number {
  return Number.parseInt(id.slice(8), 16);
}
