// Service buttons: a LoRaWAN frame per press, and a heartbeat twice a day. Some frames are lost in transmission.
import type { EpochMs } from '../../../src/model/instant.ts';
import { batteryLevel } from '../physics/battery.ts';
import { bigEndian, radioFrame } from '../physics/frame.ts';
import { dayMs, hourMs, instantOf, isFreeDay, localTime } from '../physics/local-time.ts';
import { merged, periodic } from '../physics/schedule.ts';
import { poisson, seedOf, uniform } from '../physics/seeded.ts';
import { countingFromDay } from '../physics/tally.ts';
import { type DemoDevice, type DeviceKind, type Place, physicalId } from './device-kind.ts';

export interface Button extends Place {
  readonly pressesPerDay: number;
}

export const buttons: readonly Button[] = [
  button(
    'Service Button Restroom Ground Floor',
    'Calls the cleaning service',
    ['Building A', 'Ground Floor'],
    14,
  ),
  button('Service Button Printer Floor 1', 'Asks for paper or help', ['Building A', 'Floor 1'], 5),
];

const pressKinds = ['single', 'double', 'long'] as const;

export interface Press {
  readonly at: EpochMs;
  readonly kind: (typeof pressKinds)[number];
  /** Presses since installation, this one included. */
  readonly count: number;
  /** Whether the frame never arrived. */
  readonly lost: boolean;
}

/** The presses of a local day, in order. */
export function pressesOn(place: Button, day: number): Press[] {
  const seed = seedOf(place.name);
  const before = sumTo(place, seed, day);
  const instants = Array.from({ length: pressesIn(place, seed, day) }, (_, i) => {
    const hour = 7.5 + 10 * uniform(seed ^ 2, day * 64 + i);
    return Math.round(instantOf(day, hour) / 1_000) * 1_000;
  });
  return merged(instants).map((at, i) => {
    const luck = uniform(seed ^ 3, day * 64 + i);
    const kind = luck < 0.75 ? pressKinds[0] : luck < 0.9 ? pressKinds[1] : pressKinds[2];
    return { at, kind, count: before + i + 1, lost: uniform(seed ^ 4, day * 64 + i) < 0.04 };
  });
}

function pressesIn(place: Button, seed: number, day: number): number {
  return isFreeDay(day) ? 0 : poisson(seed, day, place.pressesPerDay);
}

function sumTo(place: Button, seed: number, day: number): number {
  let sum = 0;
  for (let d = countingFromDay; d < day; d++) sum += pressesIn(place, seed, d);
  return sum;
}

// The first byte is the cause: 0 for a heartbeat, else the kind of press.
function encode(cause: number, count: number, level: number) {
  return radioFrame(6, [cause, ...bigEndian(count % 0x1_0000, 2), level]);
}

function payloadAt(place: Button, at: EpochMs) {
  const presses = pressesOn(place, localTime(at).day);
  const level = Math.round(batteryLevel(seedOf(place.name), at, 1_100));
  const press = presses.find((p) => p.at === at);
  if (press !== undefined) return encode(pressKinds.indexOf(press.kind) + 1, press.count, level);
  const last = presses.findLast((p) => p.at < at);
  return encode(0, last?.count ?? sumTo(place, seedOf(place.name), localTime(at).day), level);
}

function pressTimes(place: Button, from: EpochMs, to: EpochMs): EpochMs[] {
  const instants: EpochMs[] = [];
  for (let day = localTime(from).day; day <= localTime(to).day; day++) {
    instants.push(...pressesOn(place, day).flatMap((press) => (press.lost ? [] : [press.at])));
  }
  return instants.filter((at) => at >= from && at < to);
}

function button(
  name: string,
  description: string,
  tags: readonly string[],
  pressesPerDay: number,
): Button {
  return { name, description, tags: [...tags, 'Service'], pressesPerDay };
}

function device(place: Button, index: number): DemoDevice {
  const seed = seedOf(place.name);
  return {
    deviceId: physicalId(8, index),
    name: place.name,
    description: place.description,
    tags: place.tags,
    uplinkTimes: (from, to) =>
      merged(pressTimes(place, from, to), periodic(seed, from, to, 12 * hourMs)),
    payloadAt: (at) => payloadAt(place, at),
  };
}

export const serviceButton: DeviceKind = {
  folder: 'service-button',
  flowName: 'Service Buttons',
  onlineTimeoutS: (1.5 * dayMs) / 1_000,
  liveIntervalMs: 300_000,
  devices: buttons.map(device),
};
