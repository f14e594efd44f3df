// Device chains: newest row and row count of each device, in an open hash table.

const firstPlaces = 1 << 8;
/** Words of a place: the number of the device plus 1, 0 when it is free; its newest row; its rows. */
const stride = 4;
const rowAt = 1;
const lengthAt = 2;
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
  let places = new Uint32Array(firstPlaces * stride);
  let count = 0;

  /** The place of the device, or the free one where it belongs. */
  function placeOf(device: number): number {
    const mask = places.length - 1;
    // Eight neighbors stay together, because they often come one after the other. Multiplication
    // spreads the eights: large ranges in sequence would be searched from their beginning.
    const block = Math.imul(device >>> 3, 0x9e37_79b1) << 3;
    let place = Math.imul(block | (device & 7), stride) & mask;
    while (places[place] !== 0 && places[place] !== device + 1) place = (place + stride) & mask;
    return place;
  }

  function grow(): void {
    const old = places;
    places = new Uint32Array(old.length * 2);
    for (let at = 0; at < old.length; at += stride) {
      if (old[at] === 0) continue;
      const place = placeOf(old[at]! - 1);
      places[place] = old[at]!;
      places[place + rowAt] = old[at + rowAt]!;
      places[place + lengthAt] = old[at + lengthAt]!;
    }
  }

  return {
    count: () => count,
    newestRow: (device) => {
      const place = placeOf(device);
      return places[place + lengthAt] === 0 ? noRow : places[place + rowAt]!;
    },
    length: (device) => places[placeOf(device) + lengthAt]!,
    push: (device, row) => {
      let place = placeOf(device);
      if (places[place] === 0 && (count + 1) * 2 * stride > places.length) {
        grow();
        place = placeOf(device);
      }
      if (places[place] === 0) {
        places[place] = device + 1;
        count++;
      }
      const before = places[place + lengthAt] === 0 ? noRow : places[place + rowAt]!;
      places[place + rowAt] = row;
      places[place + lengthAt]!++;
      return before;
    },
    drop: (device) => {
      places[placeOf(device) + lengthAt] = 0;
    },
    forEach: (visit) => {
      for (let at = 0; at < places.length; at += stride)
        if (places[at + lengthAt] !== 0) visit(places[at]! - 1, places[at + lengthAt]!);
    },
  };
}
