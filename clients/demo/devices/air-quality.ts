// Air quality stations: gases, particles and self-tests as sections of one LoRaWAN frame, every ten minutes.
import type { EpochMs } from '../../../src/model/instant.ts';
import { bigEndian, radioFrame } from '../physics/frame.ts';
import { dayMs, hourMs, localTime, minuteMs } from '../physics/local-time.ts';
import { officePresence } from '../physics/presence.ts';
import { periodic } from '../physics/schedule.ts';
import { drift, seedOf } from '../physics/seeded.ts';
import { clamp, weatherAt } from '../physics/weather.ts';
import { type DemoDevice, type DeviceKind, type Place, physicalId } from './device-kind.ts';
import { relativeHumidity, roomTemperature, vapourPressure } from './room-climate.ts';

export interface Station extends Place {
  /** CO2 of the full room above outside air, in ppm. */
  readonly stuffiness: number;
  /** Cooking, printing or drilling: micrograms of particles at the worst times. */
  readonly dust: number;
}

export const stations: readonly Station[] = [
  station('Air Quality Auditorium', ['Building A', 'Ground Floor'], 1_250, 6),
  station('Air Quality Meeting Room Eiger', ['Building A', 'Floor 2'], 900, 3),
  station('Air Quality Canteen', ['Building B', 'Ground Floor'], 520, 26),
  station('Air Quality Workshop', ['Building B', 'Basement'], 380, 55),
];

export interface StationReadings {
  readonly temperature: number;
  readonly humidity: number;
  readonly co2: number;
  readonly tvoc: number;
  readonly pressure: number;
  /** Present when the fan of the particle sensor ran, once in half an hour. */
  readonly particulate?: { readonly pm1: number; readonly pm25: number; readonly pm10: number };
  /** Present once in an hour. */
  readonly system?: {
    readonly batteryLevel: number;
    readonly fanHours: number;
    readonly co2SensorOk: boolean;
  };
}

/** The air at a station at an instant. */
export function stationReadings(place: Station, at: EpochMs): StationReadings {
  const seed = seedOf(place.name);
  const outside = weatherAt(at);
  // Carbon dioxide follows the people in the room with the lag of its ventilation.
  const people = (officePresence(seed, at) + officePresence(seed, at - 25 * minuteMs)) / 2;
  const bustle = people * (0.75 + 0.25 * drift(seed, at, 50 * minuteMs));
  const temperature = roomTemperature({ use: 'office', glass: 0.4 }, seed, at);
  const vapour = vapourPressure(outside.temperature, outside.humidity) * 1.05 + 2.5 * bustle;
  const tenMinutes = Math.floor(at / (10 * minuteMs));
  return {
    temperature,
    humidity: clamp(relativeHumidity(temperature, vapour), 12, 96),
    co2: 422 + 12 * drift(seed, at, dayMs) + place.stuffiness * bustle,
    tvoc: Math.max(5, 60 + 180 * bustle + 40 * drift(seed, at, 3 * hourMs)),
    pressure: outside.pressure,
    ...(tenMinutes % 3 === seed % 3 ? { particulate: particles(place, seed, at) } : {}),
    ...(tenMinutes % 6 === seed % 6 ? { system: selfTest(seed, at) } : {}),
  };
}

function particles(place: Station, seed: number, at: EpochMs) {
  const { hour } = localTime(at);
  const work = officePresence(seed, at) * (Math.exp(-(((hour - 11.8) / 0.9) ** 2)) + 0.25);
  const pm25 = Math.max(0.6, 4 + 2.5 * drift(seed, at, 9 * hourMs) + place.dust * work);
  return { pm1: pm25 * 0.68, pm25, pm10: pm25 * 1.35 + 1.2 };
}

function selfTest(seed: number, at: EpochMs) {
  const fanHours = Math.floor((at - Date.UTC(2025, 0, 1)) / (6 * hourMs));
  // The CO2 cell fails its self-test for a few hours every other week, as an ageing lamp does.
  return { batteryLevel: 100, fanHours, co2SensorOk: drift(seed, at, 9 * hourMs) > -0.985 };
}

// Sections of a frame: an id, the number of bytes, the bytes. A device may send any of them
// together.
function encode(readings: StationReadings) {
  const { particulate, system } = readings;
  return radioFrame(10, [
    ...section(0x01, [
      ...bigEndian(Math.round(readings.temperature * 100), 2),
      Math.round(readings.humidity * 2),
    ]),
    ...section(0x02, [
      ...bigEndian(Math.round(readings.co2), 2),
      ...bigEndian(Math.round(readings.tvoc), 2),
    ]),
    ...section(0x03, bigEndian(Math.round(readings.pressure * 10), 2)),
    ...(particulate === undefined ? [] : section(0x10, Object.values(particulate).flatMap(tenths))),
    ...(system === undefined
      ? []
      : section(0x20, [
          system.batteryLevel,
          ...bigEndian(system.fanHours, 3),
          system.co2SensorOk ? 0 : 0b0000_0001,
        ])),
  ]);
}

function section(id: number, bytes: readonly number[]): number[] {
  return [id, bytes.length, ...bytes];
}

function tenths(value: number): number[] {
  return bigEndian(Math.round(value * 10), 2);
}

function station(name: string, tags: readonly string[], stuffiness: number, dust: number): Station {
  const description = 'CO2, volatile organic compounds, particles and climate, every 10 minutes';
  return { name, description, tags: [...tags, 'Indoor Climate'], stuffiness, dust };
}

function device(place: Station, index: number): DemoDevice {
  const seed = seedOf(place.name);
  return {
    deviceId: physicalId(2, index),
    name: place.name,
    description: place.description,
    tags: place.tags,
    uplinkTimes: (from, to) => periodic(seed, from, to, 10 * minuteMs),
    payloadAt: (at) => encode(stationReadings(place, at)),
  };
}

export const airQuality: DeviceKind = {
  folder: 'air-quality',
  flowName: 'Air Quality',
  onlineTimeoutS: 3_600,
  liveIntervalMs: 30_000,
  devices: stations.map(device),
};
