// Water leak detectors: a LoRaWAN frame per hour and per change, and every five minutes while wet.
import type { EpochMs } from '../../../src/model/instant.ts';
import { batteryLevel } from '../physics/battery.ts';
import { bigEndian, radioFrame } from '../physics/frame.ts';
import { dayMs, hourMs, minuteMs } from '../physics/local-time.ts';
import { merged, periodic } from '../physics/schedule.ts';
import { drift, seedOf, uniform } from '../physics/seeded.ts';
import { type DemoDevice, type DeviceKind, type Place, physicalId } from './device-kind.ts';

export interface Spot extends Place {
  /** How often in a week something drips there. */
  readonly leaksPerWeek: number;
}

export const spots: readonly Spot[] = [
  spot('Leak Detector Boiler Room', ['Building B', 'Basement'], 0.5),
  spot('Leak Detector Server Room Floor', ['Building B', 'Basement'], 0.1),
  spot('Leak Detector Kitchen Dishwasher', ['Building B', 'Ground Floor'], 0.8),
];

export interface SpotReadings {
  readonly wet: boolean;
  readonly temperature: number;
  readonly batteryLevel: number;
}

const weekMs = 7 * dayMs;

/** Whether a spot is wet at an instant, and how warm it is there. */
export function spotReadings(place: Spot, at: EpochMs): SpotReadings {
  const seed = seedOf(place.name);
  const leak = leakOf(place, Math.floor(at / weekMs));
  return {
    wet: leak !== undefined && leak.from <= at && at < leak.to,
    temperature: Math.round(2 * (18.5 + 3 * drift(seed, at, dayMs))) / 2,
    batteryLevel: Math.round(batteryLevel(seed, at, 2_500)),
  };
}

/**
 * The instants in [from, to) at which the probe of a spot gets wet, still is, or gets dry again.
 */
function leakTimes(place: Spot, from: EpochMs, to: EpochMs): EpochMs[] {
  const instants: EpochMs[] = [];
  for (let week = Math.floor(from / weekMs); week * weekMs < to; week++) {
    const leak = leakOf(place, week);
    if (leak === undefined) continue;
    for (let at = leak.from; at < leak.to; at += 5 * minuteMs) instants.push(at);
    instants.push(leak.to);
  }
  return instants.filter((at) => at >= from && at < to);
}

// At most one leak per week, on one of its first six days, dry again within two hours.
function leakOf(place: Spot, week: number): { from: EpochMs; to: EpochMs } | undefined {
  const seed = seedOf(place.name);
  if (uniform(seed, week * 4) >= place.leaksPerWeek) return undefined;
  const from =
    week * weekMs + Math.floor((uniform(seed, week * 4 + 1) * 6 * dayMs) / 1_000) * 1_000;
  return { from, to: from + Math.round(20 + 80 * uniform(seed, week * 4 + 2)) * minuteMs };
}

function encode(readings: SpotReadings) {
  return radioFrame(5, [
    readings.wet ? 0b0000_0001 : 0,
    readings.batteryLevel,
    ...bigEndian(Math.round(readings.temperature * 2), 1),
  ]);
}

function spot(name: string, tags: readonly string[], leaksPerWeek: number): Spot {
  return {
    name,
    tags: [...tags, 'Safety'],
    leaksPerWeek,
    description: 'Two gold-plated probes on the floor',
  };
}

function device(place: Spot, index: number): DemoDevice {
  const seed = seedOf(place.name);
  return {
    deviceId: physicalId(7, index),
    name: place.name,
    description: place.description,
    tags: place.tags,
    uplinkTimes: (from, to) => merged(leakTimes(place, from, to), periodic(seed, from, to, hourMs)),
    payloadAt: (at) => encode(spotReadings(place, at)),
  };
}

export const leakDetector: DeviceKind = {
  folder: 'leak-detector',
  flowName: 'Leak Detectors',
  onlineTimeoutS: 3 * 3_600,
  liveIntervalMs: 120_000,
  devices: spots.map(device),
};
