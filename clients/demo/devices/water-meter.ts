// Water meters with a memory: every six hours one LoRaWAN frame with the consumption of the last twelve full hours.
import type { EpochMs } from '../../../src/model/instant.ts';
import { batteryLevel } from '../physics/battery.ts';
import { littleEndian, radioFrame } from '../physics/frame.ts';
import { dayMs, hourMs, isFreeDay } from '../physics/local-time.ts';
import { officePresence } from '../physics/presence.ts';
import { periodic } from '../physics/schedule.ts';
import { gaussian, seedOf } from '../physics/seeded.ts';
import { type DailyMeter, dailyMeter } from '../physics/tally.ts';
import { clamp } from '../physics/weather.ts';
import { type DemoDevice, type DeviceKind, type Place, physicalId } from './device-kind.ts';

export interface Pipe extends Place {
  /** Litres of a working day. */
  readonly dailyLitres: number;
  /** Share that flows day and night: a dripping valve. */
  readonly baseShare: number;
}

export const pipes: readonly Pipe[] = [
  pipe('Water Meter Building A', ['Building A', 'Basement'], 3_400, 0),
  pipe('Water Meter Building B', ['Building B', 'Basement'], 6_800, 0.1),
];

export interface PipeReadings {
  /** The last full hour. */
  readonly hour: EpochMs;
  /** Litres since installation, at that hour. */
  readonly index: number;
  /** Litres of each of the hours before it, the latest first. */
  readonly hourly: readonly number[];
  readonly continuousFlow: boolean;
  readonly batteryLevel: number;
}

const hoursSent = 12;

/** The meter in a pipe. */
export function pipeMeter(place: Pipe): DailyMeter {
  const seed = seedOf(place.name);
  return dailyMeter(
    (day) =>
      place.dailyLitres *
      clamp(1 + 0.1 * gaussian(seed, day), 0.7, 1.3) *
      (isFreeDay(day) ? 0.15 : 1),
    (at) => place.baseShare + officePresence(seed, at),
  );
}

/** What the meter knows at an instant. It counts whole litres. */
function pipeReadings(place: Pipe, meter: DailyMeter, at: EpochMs): PipeReadings {
  const hour = Math.floor(at / hourMs) * hourMs;
  const indexAt = (hoursAgo: number) => Math.floor(meter.totalAt(hour - hoursAgo * hourMs));
  return {
    hour,
    index: indexAt(0),
    hourly: Array.from({ length: hoursSent }, (_, i) => indexAt(i) - indexAt(i + 1)),
    continuousFlow: place.baseShare > 0,
    batteryLevel: Math.round(batteryLevel(seedOf(place.name), at, 3_600)),
  };
}

function encode(readings: PipeReadings) {
  return radioFrame(8, [
    ...littleEndian(readings.hour / 1_000, 4),
    ...littleEndian(readings.index, 4),
    ...readings.hourly.flatMap((litres) => littleEndian(litres, 2)),
    readings.continuousFlow ? 0b0000_0001 : 0,
    readings.batteryLevel,
  ]);
}

function pipe(name: string, tags: readonly string[], dailyLitres: number, baseShare: number): Pipe {
  const description = 'Ultrasonic meter with a log of hours';
  return { name, description, tags: [...tags, 'Water'], dailyLitres, baseShare };
}

function device(place: Pipe, index: number): DemoDevice {
  const meter = pipeMeter(place);
  return {
    deviceId: physicalId(10, index),
    name: place.name,
    description: place.description,
    tags: place.tags,
    uplinkTimes: (from, to) => periodic(seedOf(place.name), from, to, 6 * hourMs),
    payloadAt: (at) => encode(pipeReadings(place, meter, at)),
  };
}

export const waterMeter: DeviceKind = {
  folder: 'water-meter',
  flowName: 'Water Meters',
  onlineTimeoutS: dayMs / 1_000,
  liveIntervalMs: 300_000,
  devices: pipes.map(device),
};
