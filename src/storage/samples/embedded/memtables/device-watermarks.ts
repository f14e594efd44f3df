// Device marks: newest time and next place of each device, so that most rows are known to be new.
import type { EpochMs } from '../../../../model/instant.ts';
import { grown } from '../../../../structures/bytes.ts';

const firstDevices = 1_024;
/** The newest time of a device whose rows were not read since the start. */
const unknown = Number.NaN;

/** The first `known` devices may have rows, whose places are below `nextOrder`. */
export class DeviceMarks {
  #newest: Float64Array<ArrayBuffer>;
  #orders: Float64Array<ArrayBuffer>;
  #noted: number;

  constructor(known: number, nextOrder: number) {
    this.#newest = new Float64Array(Math.max(firstDevices, known));
    this.#orders = new Float64Array(this.#newest.length);
    this.#newest.fill(Number.NEGATIVE_INFINITY);
    this.#newest.fill(unknown, 0, known);
    this.#orders.fill(nextOrder, 0, known);
    this.#noted = known;
  }

  /** At least one more than the largest place of a row of the device. */
  readonly nextOrder = (device: number): number => this.#orders[device] ?? 0;

  /** Time of the newest row; looked up with `find` when it is not known. */
  newestOf(device: number, find: (device: number) => EpochMs): EpochMs {
    if (device >= this.#newest.length) return Number.NEGATIVE_INFINITY;
    if (Number.isNaN(this.#newest[device])) this.#newest[device] = find(device);
    return this.#newest[device]!;
  }

  /** Notes a row. */
  note(device: number, timestamp: EpochMs, order: number): void {
    if (device >= this.#newest.length) this.#grow(device);
    if (device >= this.#noted) this.#noted = device + 1;
    // What is not known stays so: older rows may be newer than this one.
    if (timestamp > this.#newest[device]!) this.#newest[device] = timestamp;
    if (order >= this.#orders[device]!) this.#orders[device] = order + 1;
  }

  /** Further rows of the device have this place or a larger one. */
  raise(device: number, nextOrder: number): void {
    if (device >= this.#newest.length) this.#grow(device);
    if (device >= this.#noted) this.#noted = device + 1;
    if (nextOrder > this.#orders[device]!) this.#orders[device] = nextOrder;
  }

  /** Rows were dropped: the newest times are no longer known. */
  forgetTimes(): void {
    this.#newest.fill(unknown, 0, this.#noted);
  }

  #grow(device: number): void {
    const length = Math.max(device + 1, this.#newest.length * 2);
    this.#newest = grown(this.#newest, length, Number.NEGATIVE_INFINITY);
    this.#orders = grown(this.#orders, length);
  }
}
