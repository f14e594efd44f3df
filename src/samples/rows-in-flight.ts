// Rows in flight: where the rows of each device end that are on their way to the store.
import type { EpochMs } from '../model/instant.ts';
import { grown } from '../structures/grown-array.ts';

const firstDevices = 1_024;
const none = Number.NEGATIVE_INFINITY;

export interface RowsInFlight {
  /** -Infinity for a device without any. */
  readonly newestOf: (device: number) => EpochMs;
  /** One more than the place of the newest; 0 for a device without any. */
  readonly nextOrderOf: (device: number) => number;
  /** Notes a row that is later than those of the device before. */
  readonly note: (device: number, timestamp: EpochMs, order: number) => void;
  /** A row is no longer in flight; rows go in the order in which they came. */
  readonly remove: (device: number, timestamp: EpochMs) => void;
  readonly forget: (device: number) => void;
}

/** By the numbers of devices. */
export function createRowsInFlight(): RowsInFlight {
  let newest = new Float64Array(firstDevices).fill(none);
  let orders = new Float64Array(firstDevices);

  function grow(device: number): void {
    const length = Math.max(device + 1, newest.length * 2);
    newest = grown(newest, length, none);
    orders = grown(orders, length);
  }

  return {
    newestOf: (device) => (device < newest.length ? newest[device]! : none),
    nextOrderOf: (device) =>
      device < newest.length && newest[device] !== none ? orders[device]! + 1 : 0,
    note(device, timestamp, order) {
      if (device >= newest.length) grow(device);
      newest[device] = timestamp;
      orders[device] = order;
    },
    remove(device, timestamp) {
      // Later ones of the device are still in flight.
      if (newest[device] === timestamp) newest[device] = none;
    },
    forget(device) {
      if (device < newest.length) newest[device] = none;
    },
  };
}
