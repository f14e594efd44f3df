// Soil probes in the gardens: moisture follows the rain of the last days, temperature the air of the last days.
import type { EpochMs } from '../../../src/model/instant.ts';
import { batteryLevel } from '../physics/battery.ts';
import { littleEndian, radioFrame } from '../physics/frame.ts';
import { dayMs, hourMs, minuteMs } from '../physics/local-time.ts';
import { periodic } from '../physics/schedule.ts';
import { drift, seedOf } from '../physics/seeded.ts';
import { clamp, hourlyRain, weatherAt } from '../physics/weather.ts';
import { type DemoDevice, type DeviceKind, type Place, physicalId } from './device-kind.ts';

export interface Bed extends Place {
  /** Volumetric water content it dries down to, percent. */
  readonly driest: number;
  /** How deep the probe sits; deeper soil is slower and more even. */
  readonly depthCm: number;
}

export const beds: readonly Bed[] = [
  bed('Soil Probe Herb Garden', 14, 10),
  bed('Soil Probe Lawn West', 18, 15),
  bed('Soil Probe Old Oak', 22, 40),
];

export interface BedReadings {
  readonly soilMoisture: number;
  readonly soilTemperature: number;
  readonly conductivity: number;
  readonly batteryLevel: number;
}

const hoursBack = 120;

/** The soil of every bed. The rain of an hour is worked out once for all of them. */
export function soil(): (place: Bed, at: EpochMs) => BedReadings {
  const rainOf = keptHours(hourlyRain);
  const airOf = keptHours((at) => weatherAt(at).temperature);
  return (place, at) => {
    const seed = seedOf(place.name);
    const memoryHours = 18 + place.depthCm;
    let water = 0;
    let warmth = 0;
    let weights = 0;
    for (let hour = 0; hour < hoursBack; hour++) {
      const weight = Math.exp(-hour / memoryHours);
      water += weight * rainOf(at - hour * hourMs);
      warmth += weight * airOf(at - hour * hourMs);
      weights += weight;
    }
    const soilMoisture =
      clamp(place.driest + 0.9 * water, place.driest, 52) + 0.3 * drift(seed, at, 3 * hourMs);
    return {
      soilMoisture,
      soilTemperature: warmth / weights + 1.5,
      conductivity: 90 + 9 * soilMoisture + 15 * drift(seed, at, 2 * dayMs),
      batteryLevel: Math.round(batteryLevel(seed, at, 1_400)),
    };
  };
}

const hoursKeptMax = 2_000;

function keptHours(compute: (at: EpochMs) => number): (at: EpochMs) => number {
  const kept = new Map<number, number>();
  return (at) => {
    const hour = Math.floor(at / hourMs);
    const known = kept.get(hour);
    if (known !== undefined) return known;
    if (kept.size >= hoursKeptMax) kept.clear();
    const value = compute(hour * hourMs);
    kept.set(hour, value);
    return value;
  };
}

function encode(readings: BedReadings) {
  return radioFrame(2, [
    ...littleEndian(Math.round(readings.soilMoisture * 100), 2),
    ...littleEndian(Math.round(readings.soilTemperature * 100), 2),
    ...littleEndian(Math.round(readings.conductivity), 2),
    readings.batteryLevel,
  ]);
}

function bed(name: string, driest: number, depthCm: number): Bed {
  return {
    name,
    driest,
    depthCm,
    tags: ['Garden', 'Outdoor'],
    description: `Soil probe at ${depthCm} cm`,
  };
}

export const soilProbe: DeviceKind = {
  folder: 'soil-probe',
  flowName: 'Soil Probes',
  onlineTimeoutS: 3 * 3_600,
  liveIntervalMs: 60_000,
  devices: soilDevices(),
};

function soilDevices(): DemoDevice[] {
  const soilAt = soil();
  return beds.map((place, index) => ({
    deviceId: physicalId(9, index),
    name: place.name,
    description: place.description,
    tags: place.tags,
    uplinkTimes: (from, to) => periodic(seedOf(place.name), from, to, 30 * minuteMs),
    payloadAt: (at) => encode(soilAt(place, at)),
  }));
}
