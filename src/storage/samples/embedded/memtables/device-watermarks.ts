// Device marks: newest time and next place of each device, so that most rows are known to be new.
import type { EpochMs } from '../../../../model/instant.ts';
import { grown } from '../../../../structures/bytes.ts';

const firstDevices = 1_024;
/** The newest time of a device whose rows were not read since the start. */
const unknown = Number.NaN;

export interface DeviceMarks {
  /** Time of the newest row; looked up with `find` when it is not known. */
  readonly newestOf: (device: number, find: (device: number) => EpochMs) => EpochMs;
  /** At least one more than the largest place of a row of the device. */
  readonly nextOrder: (device: number) => number;
  /** Notes a row. */
  readonly note: (device: number, timestamp: EpochMs, order: number) => void;
  /** Rows were dropped: the newest times are no longer known. */
  readonly forgetTimes: () => void;
}

/** The first `known` devices may have rows, whose places are below `nextOrder`. */
export function createDeviceMarks(known: number, nextOrder: number): DeviceMarks {
  let newest = new Float64Array(Math.max(firstDevices, known));
  let orders = new Float64Array(newest.length);
  newest.fill(Number.NEGATIVE_INFINITY);
  newest.fill(unknown, 0, known);
  orders.fill(nextOrder, 0, known);
  let noted = known;

  function grow(device: number): void {
    const length = Math.max(device + 1, newest.length * 2);
    newest = grown(newest, length, Number.NEGATIVE_INFINITY);
    orders = grown(orders, length);
  }

  return {
    newestOf: (device, find) => {
      if (device >= newest.length) return Number.NEGATIVE_INFINITY;
      if (Number.isNaN(newest[device])) newest[device] = find(device);
      return newest[device]!;
    },
    nextOrder: (device) => orders[device] ?? 0,
    note: (device, timestamp, order) => {
      if (device >= newest.length) grow(device);
      if (device >= noted) noted = device + 1;
      // What is not known stays so: older rows may be newer than this one.
      if (timestamp > newest[device]!) newest[device] = timestamp;
      if (order >= orders[device]!) orders[device] = order + 1;
    },
    forgetTimes: () => void newest.fill(unknown, 0, noted),
  };
}
