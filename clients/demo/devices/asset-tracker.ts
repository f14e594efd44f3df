// Asset trackers: GPS in vans, every two minutes on the road, every hour when parked, without a fix in the garage.
import type { EpochMs } from '../../../src/model/instant.ts';
import { batteryLevel } from '../physics/battery.ts';
import { bigEndian, littleEndian, radioFrame } from '../physics/frame.ts';
import { hourMs, instantOf, isFreeDay, localTime, minuteMs } from '../physics/local-time.ts';
import { merged, periodic } from '../physics/schedule.ts';
import { drift, seedOf, uniform } from '../physics/seeded.ts';
import { campus } from '../physics/weather.ts';
import { type DemoDevice, type DeviceKind, type Place, physicalId } from './device-kind.ts';

type Point = readonly [latitude: number, longitude: number];

export interface Vehicle extends Place {
  /** Where it goes, from and back to the depot. */
  readonly route: readonly Point[];
  /** Kilometres an hour between stops. */
  readonly speed: number;
  /** Whether the depot is under ground. */
  readonly garage: boolean;
}

const depot: Point = [campus.latitude, campus.longitude];
const lakeLoop: readonly Point[] = [
  depot,
  [47.2126, 8.817],
  [47.1989, 8.8006],
  [47.1926, 8.8543],
  [47.2126, 8.817],
  depot,
];
const eastLoop: readonly Point[] = [
  depot,
  [47.2302, 8.8446],
  [47.2396, 8.9226],
  [47.2247, 8.9826],
  [47.2249, 8.9433],
  depot,
];
const northLoop: readonly Point[] = [
  depot,
  [47.2302, 8.8446],
  [47.257, 8.853],
  [47.2756, 8.9136],
  [47.257, 8.853],
  depot,
];

export const vehicles: readonly Vehicle[] = [
  vehicle('Tracker Delivery Van 1', lakeLoop, 42, true),
  vehicle('Tracker Delivery Van 2', eastLoop, 46, false),
  vehicle('Tracker Service Van', northLoop, 38, false),
];

export interface VehicleReadings {
  readonly moving: boolean;
  readonly batteryLevel: number;
  readonly satellites: number;
  /** Absent without a fix. */
  readonly fix?: {
    readonly latitude: number;
    readonly longitude: number;
    /** km/h */
    readonly speed: number;
    /** Degrees from north. */
    readonly heading: number;
    readonly hdop: number;
  };
}

const stopMs = 7 * minuteMs;

/** Where a vehicle is at an instant and what its tracker knows about it. */
export function vehicleReadings(place: Vehicle, at: EpochMs): VehicleReadings {
  const seed = seedOf(place.name);
  const status = { batteryLevel: Math.round(batteryLevel(seed, at, 60)) };
  const sinceStart = tripAge(place, seed, at);
  const spot = sinceStart === undefined ? undefined : spotOnRoute(place, sinceStart);
  if (spot === undefined && place.garage) return { ...status, moving: false, satellites: 0 };
  const { point, heading, moving } = spot ?? { point: depot, heading: 0, moving: false };
  const speed = moving ? Math.round(place.speed * (1 + 0.3 * drift(seed, at, 3 * minuteMs))) : 0;
  const view = drift(seed, at, 17 * minuteMs);
  const fix = { latitude: point[0], longitude: point[1], speed, heading, hdop: 1.3 - 0.5 * view };
  return { ...status, moving, satellites: Math.round(10 + 4 * view), fix };
}

// Two trips on working days, in the morning and after lunch; how long ago the running one began.
function tripAge(place: Vehicle, seed: number, at: EpochMs): number | undefined {
  const { day } = localTime(at);
  if (isFreeDay(day)) return undefined;
  for (const [trip, hour] of [7.6, 13.3].entries()) {
    const age = at - instantOf(day, hour + 0.8 * uniform(seed, day * 2 + trip));
    if (age >= 0 && age < tripMs(place)) return age;
  }
  return undefined;
}

function tripMs(place: Vehicle): number {
  return legsOf(place).reduce((sum, leg) => sum + leg.driveMs + stopMs, -stopMs);
}

function spotOnRoute(
  place: Vehicle,
  ageMs: number,
): { point: Point; heading: number; moving: boolean } | undefined {
  let rest = ageMs;
  for (const { from, to, driveMs } of legsOf(place)) {
    const heading = headingOf(from, to);
    if (rest < driveMs) return { point: between(from, to, rest / driveMs), heading, moving: true };
    rest -= driveMs;
    if (rest < stopMs) return { point: to, heading, moving: false };
    rest -= stopMs;
  }
  return undefined;
}

function legsOf(place: Vehicle): { from: Point; to: Point; driveMs: number }[] {
  return place.route.slice(1).map((to, i) => {
    const from = place.route[i]!;
    return { from, to, driveMs: (kilometres(from, to) / place.speed) * hourMs };
  });
}

function between([lat1, lon1]: Point, [lat2, lon2]: Point, share: number): Point {
  return [lat1 + (lat2 - lat1) * share, lon1 + (lon2 - lon1) * share];
}

/** Great-circle distance. */
export function kilometres([lat1, lon1]: Point, [lat2, lon2]: Point): number {
  const rad = Math.PI / 180;
  const h =
    Math.sin(((lat2 - lat1) * rad) / 2) ** 2 +
    Math.cos(lat1 * rad) * Math.cos(lat2 * rad) * Math.sin(((lon2 - lon1) * rad) / 2) ** 2;
  return 12_742 * Math.asin(Math.sqrt(h));
}

function headingOf([lat1, lon1]: Point, [lat2, lon2]: Point): number {
  const east = (lon2 - lon1) * Math.cos((lat1 * Math.PI) / 180);
  return ((Math.atan2(east, lat2 - lat1) * 180) / Math.PI + 360) % 360;
}

// Little-endian, and cut short when there is nothing to say about the place.
function encode({ moving, satellites, batteryLevel: level, fix }: VehicleReadings) {
  const status = (moving ? 0x80 : 0) | (fix === undefined ? 0 : 0x40) | satellites;
  if (fix === undefined) return radioFrame(1, [status, level]);
  return radioFrame(1, [
    status,
    level,
    ...littleEndian(Math.round(fix.latitude * 1e7), 4),
    ...littleEndian(Math.round(fix.longitude * 1e7), 4),
    ...bigEndian(fix.speed, 1),
    ...bigEndian(Math.floor(fix.heading / 2), 1),
    ...bigEndian(Math.round(fix.hdop * 10), 1),
  ]);
}

function vehicle(name: string, route: readonly Point[], speed: number, garage: boolean): Vehicle {
  return {
    name,
    route,
    speed,
    garage,
    tags: ['Fleet', 'Outdoor'],
    description: 'GPS tracker behind the dashboard',
  };
}

function device(place: Vehicle, index: number): DemoDevice {
  const seed = seedOf(place.name);
  const moves = (at: EpochMs) => vehicleReadings(place, at).moving;
  return {
    deviceId: physicalId(6, index),
    name: place.name,
    description: place.description,
    tags: place.tags,
    uplinkTimes: (from, to) =>
      merged(
        periodic(seed, from, to, hourMs),
        periodic(seed ^ 1, from, to, 2 * minuteMs).filter(moves),
      ),
    payloadAt: (at) => encode(vehicleReadings(place, at)),
  };
}

export const assetTracker: DeviceKind = {
  folder: 'asset-tracker',
  flowName: 'Asset Trackers',
  onlineTimeoutS: 3 * 3_600,
  liveIntervalMs: 10_000,
  devices: vehicles.map(device),
};
