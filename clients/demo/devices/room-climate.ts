// Room climate sensors: temperature and humidity of offices, a server room and a cold store, every ten minutes over LoRaWAN.
import type { EpochMs } from '../../../src/model/instant.ts';
import { alkalineVoltage, batteryLevel } from '../physics/battery.ts';
import { bigEndian, radioFrame } from '../physics/frame.ts';
import { localTime, minuteMs } from '../physics/local-time.ts';
import { officePresence } from '../physics/presence.ts';
import { periodic } from '../physics/schedule.ts';
import { drift, seedOf } from '../physics/seeded.ts';
import { clamp, weatherAt } from '../physics/weather.ts';
import { type DemoDevice, type DeviceKind, type Place, physicalId } from './device-kind.ts';

export interface Room extends Place {
  readonly use: 'office' | 'server' | 'cold';
  /** How much of the sun outside warms the room, 0 to 1. */
  readonly glass: number;
}

export const rooms: readonly Room[] = [
  room('Room Climate Reception', ['Building A', 'Ground Floor'], 'office', 0.8),
  room('Room Climate Open Office North', ['Building A', 'Floor 1'], 'office', 0.2),
  room('Room Climate Open Office South', ['Building A', 'Floor 1'], 'office', 0.9),
  room('Room Climate Meeting Room Matterhorn', ['Building A', 'Floor 2'], 'office', 0.5),
  room('Room Climate Server Room', ['Building B', 'Basement'], 'server', 0),
  room('Room Climate Canteen Cold Store', ['Building B', 'Ground Floor', 'Food Safety'], 'cold', 0),
];

export interface RoomReadings {
  readonly temperature: number;
  readonly humidity: number;
  readonly batteryLevel: number;
}

/** The air of a room at an instant. */
export function roomReadings(place: Room, at: EpochMs): RoomReadings {
  const seed = seedOf(place.name);
  const temperature = roomTemperature(place, seed, at);
  const outside = weatherAt(at);
  const breath = place.use === 'office' ? 2.2 * officePresence(seed, at) : 0;
  const vapour = vapourPressure(outside.temperature, outside.humidity) * 1.05 + breath;
  const humidity =
    place.use === 'cold'
      ? 78 + 6 * drift(seed, at, 40 * minuteMs)
      : relativeHumidity(temperature, vapour);
  return {
    temperature,
    humidity: clamp(humidity, 12, 96),
    batteryLevel: batteryLevel(seed, at, 900),
  };
}

/** The air quality station in the same building breathes the same air. */
export function roomTemperature(
  place: Pick<Room, 'use' | 'glass'>,
  seed: number,
  at: EpochMs,
): number {
  const wander = drift(seed, at, 2.5 * 60 * minuteMs);
  if (place.use === 'server') return 22.4 + 0.9 * wander + 0.5 * Math.sin(at / (11 * minuteMs));
  if (place.use === 'cold') return 3.2 + 0.5 * wander + defrost(seed, at);
  const outside = weatherAt(at);
  const { hour } = localTime(at);
  const setback = hour > 5 && hour < 19 ? 0 : -1.1;
  const season = clamp((outside.temperature - 14) * 0.09, -0.8, 2.5);
  return (
    21.2 +
    setback +
    season +
    1.1 * officePresence(seed, at) +
    0.0028 * place.glass * outside.sun +
    0.3 * wander
  );
}

// Twice a day the evaporator is heated free of ice for twenty minutes, and the air warms by three
// degrees.
function defrost(seed: number, at: EpochMs): number {
  const minute = ((at / minuteMs + (seed % 700)) % 720) - 10;
  return 3 * Math.exp(-((minute / 14) ** 2));
}

/** Magnus formula, hPa. */
export function vapourPressure(temperature: number, humidity: number): number {
  return (humidity / 100) * 6.112 * Math.exp((17.62 * temperature) / (243.12 + temperature));
}

/** Percent, from a temperature and the vapour pressure of its air. */
export function relativeHumidity(temperature: number, vapour: number): number {
  return (100 * vapour) / vapourPressure(temperature, 100);
}

function encode(readings: RoomReadings) {
  return radioFrame(2, [
    0x10,
    ...bigEndian(Math.round(alkalineVoltage(readings.batteryLevel) * 100) - 200, 1),
    ...bigEndian(Math.round(readings.temperature * 100), 2),
    ...bigEndian(Math.round(readings.humidity * 2), 1),
  ]);
}

function room(name: string, tags: readonly string[], use: Room['use'], glass: number): Room {
  return {
    name,
    tags: [...tags, 'Indoor Climate'],
    use,
    glass,
    description: 'Temperature and humidity, every 10 minutes',
  };
}

function device(place: Room, index: number): DemoDevice {
  const seed = seedOf(place.name);
  return {
    deviceId: physicalId(1, index),
    name: place.name,
    description: place.description,
    tags: place.tags,
    uplinkTimes: (from, to) => periodic(seed, from, to, 10 * minuteMs),
    payloadAt: (at) => encode(roomReadings(place, at)),
  };
}

export const roomClimate: DeviceKind = {
  folder: 'room-climate',
  flowName: 'Room Climate',
  onlineTimeoutS: 3_600,
  liveIntervalMs: 30_000,
  devices: rooms.map(device),
};
