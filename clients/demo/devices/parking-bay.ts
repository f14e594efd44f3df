// Parking bay sensors: a LoRaWAN frame per change and per hour, with the minutes since the last change.
import type { EpochMs } from '../../../src/model/instant.ts';
import { batteryLevel } from '../physics/battery.ts';
import { bigEndian, radioFrame } from '../physics/frame.ts';
import { hourMs, instantOf, isFreeDay, localTime, minuteMs } from '../physics/local-time.ts';
import { merged, periodic } from '../physics/schedule.ts';
import { gaussian, seedOf, uniform } from '../physics/seeded.ts';
import { weatherAt } from '../physics/weather.ts';
import { type DemoDevice, type DeviceKind, type Place, physicalId } from './device-kind.ts';

export interface Bay extends Place {
  readonly users: 'commuters' | 'visitors';
}

export const bays: readonly Bay[] = [
  bay('Parking Bay P1-01', 'commuters'),
  bay('Parking Bay P1-02', 'commuters'),
  bay('Parking Bay P1-03', 'commuters'),
  bay('Parking Bay P1-04 Visitors', 'visitors'),
  bay('Parking Bay P1-05 Visitors', 'visitors'),
  bay('Parking Bay P1-06 Charging', 'visitors'),
];

export interface BayReadings {
  readonly occupied: boolean;
  /** Whole minutes since the last change. */
  readonly minutes: number;
  readonly temperature: number;
  readonly batteryLevel: number;
}

interface Stay {
  readonly from: EpochMs;
  readonly to: EpochMs;
}

const minutesMax = 0xffff;

/** The state of a bay at an instant. */
export function bayReadings(place: Bay, at: EpochMs): BayReadings {
  const seed = seedOf(place.name);
  const { day } = localTime(at);
  const stays = [day - 3, day - 2, day - 1, day].flatMap((d) => staysOn(place, seed, d));
  const stay = stays.find(({ from, to }) => from <= at && at < to);
  const lastLeft = stays.findLast(({ to }) => to <= at)?.to ?? at - 3 * 24 * hourMs;
  const since = stay?.from ?? lastLeft;
  return {
    occupied: stay !== undefined,
    minutes: Math.min(minutesMax, Math.floor((at - since) / minuteMs)),
    temperature: Math.round(weatherAt(at).temperature + weatherAt(at).sun * 0.008),
    batteryLevel: Math.round(batteryLevel(seed, at, 1_800)),
  };
}

/** When cars come and go in [from, to). */
export function bayChanges(place: Bay, from: EpochMs, to: EpochMs): EpochMs[] {
  const seed = seedOf(place.name);
  const changes: EpochMs[] = [];
  for (let day = localTime(from).day; day <= localTime(to).day; day++) {
    for (const stay of staysOn(place, seed, day)) changes.push(stay.from, stay.to);
  }
  return changes.filter((at) => at >= from && at < to).sort((a, b) => a - b);
}

// Stays never overlap and end before midnight, so every day is independent.
function staysOn(place: Bay, seed: number, day: number): Stay[] {
  return place.users === 'commuters' ? commute(seed, day) : visits(seed, day);
}

function commute(seed: number, day: number): Stay[] {
  if (isFreeDay(day) || uniform(seed, day) < 0.12) return [];
  const arrives = 7.9 + 0.4 * gaussian(seed ^ 1, day);
  const leaves = 17.2 + 0.6 * gaussian(seed ^ 2, day);
  if (uniform(seed ^ 3, day) > 0.2) return [stay(day, arrives, leaves)];
  const lunch = 12 + 0.2 * gaussian(seed ^ 4, day);
  return [stay(day, arrives, lunch), stay(day, lunch + 0.9, leaves)];
}

function visits(seed: number, day: number): Stay[] {
  const stays: Stay[] = [];
  const quiet = isFreeDay(day) ? 3.5 : 1;
  let hour = 8 + uniform(seed, day * 32) * quiet;
  for (let i = 1; hour < 19 && i < 16; i++) {
    const lasts = 0.25 + 1.6 * uniform(seed, day * 32 + i) ** 2;
    stays.push(stay(day, hour, hour + lasts));
    hour += lasts + (0.15 + 1.3 * uniform(seed ^ 5, day * 32 + i)) * quiet;
  }
  return stays;
}

// Devices keep whole seconds.
function stay(day: number, from: number, to: number): Stay {
  const second = (hour: number) => Math.round(instantOf(day, hour) / 1_000) * 1_000;
  return { from: second(from), to: second(to) };
}

function encode(readings: BayReadings) {
  return radioFrame(3, [
    readings.occupied ? 1 : 0,
    readings.batteryLevel,
    ...bigEndian(readings.temperature, 1),
    ...bigEndian(readings.minutes, 2),
  ]);
}

function bay(name: string, users: Bay['users']): Bay {
  return {
    name,
    users,
    tags: ['Car Park', 'Outdoor'],
    description: 'Magnetic and radar sensor in the ground',
  };
}

function device(place: Bay, index: number): DemoDevice {
  const seed = seedOf(place.name);
  return {
    deviceId: physicalId(5, index),
    name: place.name,
    description: place.description,
    tags: place.tags,
    uplinkTimes: (from, to) =>
      merged(bayChanges(place, from, to), periodic(seed, from, to, hourMs)),
    payloadAt: (at) => encode(bayReadings(place, at)),
  };
}

export const parkingBay: DeviceKind = {
  folder: 'parking-bay',
  flowName: 'Parking Bays',
  onlineTimeoutS: 3 * 3_600,
  liveIntervalMs: 60_000,
  devices: bays.map(device),
};
