// Workload W, deterministic: devices with one sample per minute for some days, as columns, objects or JSON.
// Every device has its own random stream, so device 42 is the same for any number of devices.

/** Temperature in hundredths, humidity and battery in tenths, co2 in units: exact as decimal strings. */
export interface SampleColumns {
  readonly length: number;
  /** Device index, 0 to devices - 1. */
  readonly device: Uint32Array;
  /** Epoch milliseconds. */
  readonly timestamp: Float64Array;
  readonly temperatureHundredths: Int32Array;
  readonly humidityTenths: Int32Array;
  readonly co2: Int32Array;
  readonly batteryTenths: Int32Array;
  readonly occupied: Uint8Array;
  readonly label: Uint8Array;
}

export interface WorkloadShape {
  readonly devices: number;
  readonly days: number;
  readonly seed: number;
  /** The first minute, epoch milliseconds; a whole UTC day. */
  readonly startMs: number;
  /** One a minute without it; with it, the devices send spread over the time between two. */
  readonly samplesPerDay?: number;
}

/** The data object of one sample; the keys have the order of the JSON. */
export interface WorkloadData {
  readonly temperature: number;
  readonly humidity: number;
  readonly co2: number;
  readonly batteryLevel: number;
  readonly occupied: boolean;
  readonly label: string;
}

/** Workload W in full: 10,080,000 samples from Monday, 5 January 2026 on. */
export const workloadW: WorkloadShape = {
  devices: 1_000,
  days: 7,
  seed: 20260105,
  startMs: Date.UTC(2026, 0, 5),
};

const minuteMs = 60_000;
export const minutesPerDay = 1_440;
const jitterMsMax = 900;

export const labels = [
  'idle',
  'running',
  'starting',
  'stopping',
  'maintenance',
  'fault',
  'cleaning',
  'standby',
  'heating',
  'cooling',
  'ventilating',
  'calibrating',
  'updating',
  'offline-soon',
  'low-battery',
  'door-open',
  'door-closed',
  'motion',
  'night-mode',
  'holiday',
] as const;

/** Time between two samples of a device. */
export const slotMsOf = ({ samplesPerDay = minutesPerDay }: WorkloadShape): number =>
  (minutesPerDay * minuteMs) / samplesPerDay;

/** Samples of each device. */
function slotsOf({ days, samplesPerDay = minutesPerDay }: WorkloadShape): number {
  return Math.round(days * samplesPerDay);
}

export function samplesOf(shape: WorkloadShape): number {
  return shape.devices * slotsOf(shape);
}

/** The end of the workload, exclusive. */
export function endMsOf(shape: WorkloadShape): number {
  return shape.startMs + slotsOf(shape) * slotMsOf(shape);
}

/** The physical device id, the same at every peer. */
export function deviceName(device: number): string {
  return `bench-${String(device).padStart(5, '0')}`;
}

/** All samples in time order across devices, in batches of `size` in new memory. */
export function* timeOrdered(shape: WorkloadShape, size: number): Generator<SampleColumns> {
  const walks = Array.from({ length: shape.devices }, (_, device) => new DeviceWalk(shape, device));
  const minute = emptyColumns(shape.devices);
  const order = new Uint32Array(shape.devices);
  let batch = emptyColumns(size);
  let filled = 0;
  if (shape.samplesPerDay !== undefined) for (const i of order.keys()) order[i] = i;
  for (let m = 0; m < slotsOf(shape); m++) {
    walks.forEach((walk, device) => walk.next(minute, device));
    if (shape.samplesPerDay === undefined)
      orderByJitter(minute.timestamp, shape.startMs + m * minuteMs, order);
    for (const from of order) {
      copySample(minute, from, batch, filled++);
      if (filled < size) continue;
      yield batch;
      batch = emptyColumns(size);
      filled = 0;
    }
  }
  if (filled > 0) yield cutColumns(batch, filled);
}

/** The same samples as bulk requests bring them: each batch is one device's next `size` samples. */
export function* deviceOrdered(shape: WorkloadShape, size: number): Generator<SampleColumns> {
  const walks = Array.from({ length: shape.devices }, (_, device) => new DeviceWalk(shape, device));
  for (let m = 0; m < slotsOf(shape); m += size) {
    const length = Math.min(size, slotsOf(shape) - m);
    for (const walk of walks) {
      const batch = emptyColumns(length);
      for (let i = 0; i < length; i++) walk.next(batch, i);
      yield batch;
    }
  }
}

/** One device's samples of the whole span, oldest first: what a reference answer is computed from. */
export function deviceColumns(shape: WorkloadShape, device: number): SampleColumns {
  const walk = new DeviceWalk(shape, device);
  const columns = emptyColumns(slotsOf(shape));
  for (let i = 0; i < columns.length; i++) walk.next(columns, i);
  return columns;
}

export function dataAt(columns: SampleColumns, i: number): WorkloadData {
  return {
    temperature: columns.temperatureHundredths[i]! / 100,
    humidity: columns.humidityTenths[i]! / 10,
    co2: columns.co2[i]!,
    batteryLevel: columns.batteryTenths[i]! / 10,
    occupied: columns.occupied[i] === 1,
    label: labels[columns.label[i]!]!,
  };
}

/** Exactly `JSON.stringify(dataAt(columns, i))`, several times faster. */
export function dataJsonAt(columns: SampleColumns, i: number): string {
  const { temperature, humidity, battery } = textsAt(columns, i);
  const occupied = columns.occupied[i] === 1 ? 'true' : 'false';
  const label = labels[columns.label[i]!]!;
  return `{"temperature":${temperature},"humidity":${humidity},"co2":${columns.co2[i]!},"batteryLevel":${battery},"occupied":${occupied},"label":"${label}"}`;
}

/** Decimal strings of the numbers with decimals, for protocols of strings. */
export function textsAt(
  columns: SampleColumns,
  i: number,
): { temperature: string; humidity: string; battery: string } {
  return {
    temperature: hundredths[columns.temperatureHundredths[i]!]!,
    humidity: tenths[columns.humidityTenths[i]!]!,
    battery: tenths[columns.batteryTenths[i]!]!,
  };
}

// Dividing a whole number by 10 or 100 rounds as reading the decimal text does, so texts and numbers agree to the bit.
const tableMax = 5_000;
const hundredths = Array.from({ length: tableMax }, (_, n) => String(n / 100));
const tenths = Array.from({ length: tableMax }, (_, n) => String(n / 10));

function emptyColumns(length: number): SampleColumns {
  return {
    length,
    device: new Uint32Array(length),
    timestamp: new Float64Array(length),
    temperatureHundredths: new Int32Array(length),
    humidityTenths: new Int32Array(length),
    co2: new Int32Array(length),
    batteryTenths: new Int32Array(length),
    occupied: new Uint8Array(length),
    label: new Uint8Array(length),
  };
}

function cutColumns(from: SampleColumns, length: number): SampleColumns {
  const to = emptyColumns(length);
  for (let i = 0; i < length; i++) copySample(from, i, to, i);
  return to;
}

function copySample(from: SampleColumns, i: number, to: SampleColumns, at: number): void {
  to.device[at] = from.device[i]!;
  to.timestamp[at] = from.timestamp[i]!;
  to.temperatureHundredths[at] = from.temperatureHundredths[i]!;
  to.humidityTenths[at] = from.humidityTenths[i]!;
  to.co2[at] = from.co2[i]!;
  to.batteryTenths[at] = from.batteryTenths[i]!;
  to.occupied[at] = from.occupied[i]!;
  to.label[at] = from.label[i]!;
}

// A counting sort: the jitter has few values and there are many minutes.
function orderByJitter(timestamp: Float64Array, minuteStartMs: number, order: Uint32Array): void {
  const starts = new Uint32Array(jitterMsMax + 1);
  for (const ms of timestamp) starts[ms - minuteStartMs + 1]!++;
  for (let i = 1; i <= jitterMsMax; i++) starts[i]! += starts[i - 1]!;
  timestamp.forEach((ms, i) => {
    order[starts[ms - minuteStartMs]!++] = i;
  });
}

// A class, because ten million steps must not allocate: its fields are the device's walk.
class DeviceWalk {
  readonly #device: number;
  readonly #base: number;
  #random: number;
  readonly #slotMs: number;
  #minuteMs: number;
  #minute = 0;
  #temperature: number;
  #humidity: number;
  #co2: number;
  #battery: number;
  #occupied = 0;
  #label: number;

  constructor(shape: WorkloadShape, device: number) {
    this.#device = device;
    this.#slotMs = slotMsOf(shape);
    const spread = shape.samplesPerDay === undefined ? 0 : this.#slotMs - jitterMsMax;
    this.#minuteMs = shape.startMs + Math.floor((device / shape.devices) * spread);
    this.#random = mixed(shape.seed ^ mixed(device + 1)) || 1;
    this.#base = 1_900 + this.#below(500);
    this.#temperature = this.#base;
    this.#humidity = 300 + this.#below(300);
    this.#co2 = 450 + this.#below(300);
    this.#battery = 700 + this.#below(300);
    this.#label = this.#below(labels.length);
  }

  next(to: SampleColumns, i: number): void {
    to.device[i] = this.#device;
    to.timestamp[i] = this.#minuteMs + this.#below(jitterMsMax);
    // A daily swing of three degrees around the room's own level, noise of some hundredths, always drawn back.
    const swing = Math.round(300 * Math.sin((this.#minute / minutesPerDay) * 2 * Math.PI - 2));
    this.#temperature += this.#noise(20) + ((this.#base + swing - this.#temperature) >> 5);
    this.#humidity = within(
      this.#humidity + this.#noise(9) + ((450 - this.#humidity) >> 6),
      100,
      900,
    );
    this.#co2 = within(
      this.#co2 + this.#noise(38) + (((this.#occupied === 1 ? 900 : 480) - this.#co2) >> 4),
      390,
      4_000,
    );
    if (this.#below(128) === 0 && this.#battery > 1) this.#battery--;
    if (this.#below(48) === 0) this.#occupied = 1 - this.#occupied;
    if (this.#below(200) === 0) this.#label = this.#below(labels.length);
    to.temperatureHundredths[i] = this.#temperature;
    to.humidityTenths[i] = this.#humidity;
    to.co2[i] = this.#co2;
    to.batteryTenths[i] = this.#battery;
    to.occupied[i] = this.#occupied;
    to.label[i] = this.#label;
    this.#minute++;
    this.#minuteMs += this.#slotMs;
  }

  // Xorshift, 32 bits: small, fast and the same everywhere.
  #below(limit: number): number {
    let x = this.#random;
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    this.#random = x;
    return Math.floor(((x >>> 0) / 0x1_0000_0000) * limit);
  }

  // Triangular around zero, within +-reach.
  #noise(reach: number): number {
    return this.#below(reach + 1) + this.#below(reach + 1) - reach;
  }
}

function within(n: number, low: number, high: number): number {
  return n < low ? low : n > high ? high : n;
}

function mixed(n: number): number {
  let x = Math.imul(n ^ (n >>> 16), 0x45d9f3b);
  x = Math.imul(x ^ (x >>> 15), 0x2c1b3c6d);
  return x ^ (x >>> 16);
}
