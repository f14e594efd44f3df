// Device chains: newest row and row count of each device, in an open hash table.

const firstPlaces = 1 << 10;
/** Marks the end of a chain. */
export const noRow = 0xffff_ffff;

export interface DeviceChains {
  /** Devices that have rows. */
  readonly count: () => number;
  /** The newest row of the device; `noRow` without any. */
  readonly newestRow: (device: number) => number;
  readonly length: (device: number) => number;
  /** Makes `row` the newest of the device; returns the one before. */
  readonly push: (device: number, row: number) => number;
  /** Removes the rows of the device. */
  readonly drop: (device: number) => void;
  readonly forEach: (visit: (device: number, length: number) => void) => void;
}

/** Device numbers are below 2^32 - 1. */
export function createDeviceChains(): DeviceChains {
  // The number of the device plus 1; 0 is a free place.
  let keys = new Uint32Array(firstPlaces);
  let rows = new Uint32Array(firstPlaces);
  let lengths = new Uint32Array(firstPlaces);
  let count = 0;

  /** The place of the device, or the free one where it belongs. */
  function placeOf(device: number): number {
    const mask = keys.length - 1;
    // Multiplication spreads neighboring numbers, which come one after the other.
    let place = Math.imul(device, 0x9e37_79b1) >>> 0;
    for (place &= mask; keys[place] !== 0 && keys[place] !== device + 1; )
      place = (place + 1) & mask;
    return place;
  }

  function grow(): void {
    const old = { keys, rows, lengths };
    keys = new Uint32Array(old.keys.length * 2);
    rows = new Uint32Array(keys.length);
    lengths = new Uint32Array(keys.length);
    for (let i = 0; i < old.keys.length; i++) {
      const key = old.keys[i]!;
      if (key === 0) continue;
      const place = placeOf(key - 1);
      keys[place] = key;
      rows[place] = old.rows[i]!;
      lengths[place] = old.lengths[i]!;
    }
  }

  return {
    count: () => count,
    newestRow: (device) => {
      const place = placeOf(device);
      return lengths[place] === 0 ? noRow : rows[place]!;
    },
    length: (device) => lengths[placeOf(device)]!,
    push: (device, row) => {
      let place = placeOf(device);
      if (keys[place] === 0 && (count + 1) * 2 > keys.length) {
        grow();
        place = placeOf(device);
      }
      if (keys[place] === 0) {
        keys[place] = device + 1;
        count++;
      }
      const before = lengths[place] === 0 ? noRow : rows[place]!;
      rows[place] = row;
      lengths[place]!++;
      return before;
    },
    drop: (device) => {
      lengths[placeOf(device)] = 0;
    },
    forEach: (visit) => {
      for (let i = 0; i < keys.length; i++)
        if (keys[i] !== 0 && lengths[i] !== 0) visit(keys[i]! - 1, lengths[i]!);
    },
  };
}
