// People counters: JSON over HTTP with counters that restart at zero on Sunday night.
import type { EpochMs } from '../../../src/model/instant.ts';
import { campusTimeZone } from '../../../src/model/workspace.ts';
import { dayMs, instantOf, localTime, minuteMs } from '../physics/local-time.ts';
import { busyness, type OpeningHours } from '../physics/presence.ts';
import { periodic } from '../physics/schedule.ts';
import { drift, poisson, seedOf } from '../physics/seeded.ts';
import { slotTotal, type TotalAt } from '../physics/tally.ts';
import { type DemoDevice, type DeviceKind, type Place, physicalId } from './device-kind.ts';

export interface Door extends Place {
  readonly hours: OpeningHours;
  /** People an hour at the busiest times. */
  readonly peoplePerHour: number;
  /** How long the longest visits last, in slots of five minutes. */
  readonly staySlots: number;
}

const canteenHours: OpeningHours = { from: 7, to: 17, weekend: false, peaks: [9, 12.2, 15] };
const shopHours: OpeningHours = { from: 8, to: 20, weekend: true, peaks: [10.5, 14, 17.5] };
const museumHours: OpeningHours = { from: 10, to: 18, weekend: true, peaks: [11.5, 15] };

export const doors: readonly Door[] = [
  door({
    name: 'People Counter Canteen Entrance',
    tags: ['Building B', 'Ground Floor'],
    hours: canteenHours,
    peoplePerHour: 210,
    staySlots: 9,
  }),
  door({
    name: 'People Counter Campus Shop',
    tags: ['Building A', 'Ground Floor'],
    hours: shopHours,
    peoplePerHour: 95,
    staySlots: 5,
  }),
  door({
    name: 'People Counter Exhibition',
    tags: ['Building A', 'Floor 1'],
    hours: museumHours,
    peoplePerHour: 60,
    staySlots: 18,
  }),
];

export interface DoorReadings {
  /** Since the last restart. */
  readonly entered: number;
  readonly left: number;
  /** Seconds since the last restart. */
  readonly uptime: number;
  readonly rssi: number;
}

const slotMs = 5 * minuteMs;
const weeksKeptMax = 8;

/** People who pass an entrance, for any instant. Weeks are summed once and cached. */
export function doorTraffic(place: Door): (at: EpochMs) => DoorReadings {
  const seed = seedOf(place.name);
  const weeks = new Map<EpochMs, TotalAt>();
  function enteredIn(week: EpochMs): TotalAt {
    const known = weeks.get(week);
    if (known !== undefined) return known;
    if (weeks.size >= weeksKeptMax) weeks.clear();
    const total = slotTotal(week, slotMs, (slot) =>
      poisson(seed, slot / slotMs, (busyness(place.hours, seed, slot) * place.peoplePerHour) / 12),
    );
    weeks.set(week, total);
    return total;
  }
  return (at) => {
    const restartedAt = lastRestart(at);
    const entered = enteredIn(restartedAt);
    return {
      entered: Math.floor(entered(at)),
      left: Math.floor(leftBy(entered, at, place.staySlots)),
      uptime: Math.floor((at - restartedAt) / 1_000),
      rssi: Math.round(-64 + 9 * drift(seed, at, 2 * 60 * minuteMs)),
    };
  };
}

// Of the people who entered during one slot, equal parts leave in each following slot; all have
// left at the end.
function leftBy(entered: TotalAt, at: EpochMs, staySlots: number): number {
  let sum = 0;
  for (let i = 1; i <= staySlots; i++) sum += entered(at - i * slotMs);
  return sum / staySlots;
}

/** Sunday at three in the morning, when no visitor can be missed. */
export function lastRestart(at: EpochMs): EpochMs {
  const { day, weekday } = localTime(at);
  const sunday = day - ((weekday + 1) % 7);
  const restart = instantOf(sunday, 3);
  return restart <= at ? restart : instantOf(sunday - 7, 3);
}

function encode(place: Door, readings: DoorReadings, at: EpochMs) {
  return {
    sensor: { model: 'PC-4', firmware: '2.7.1', location: place.name, zone: campusTimeZone },
    sent: new Date(at).toISOString(),
    uptime: readings.uptime,
    lines: [{ id: 1, forward: readings.entered, backward: readings.left }],
    wifi: { rssi: readings.rssi },
  };
}

function door(place: Omit<Door, 'description'>): Door {
  const description = 'Stereo camera over the entrance, counts every 15 minutes';
  return { ...place, description, tags: [...place.tags, 'Footfall'] };
}

function device(place: Door, index: number): DemoDevice {
  const trafficAt = doorTraffic(place);
  return {
    deviceId: physicalId(4, index),
    name: place.name,
    description: place.description,
    tags: place.tags,
    uplinkTimes: (from, to) => periodic(seedOf(place.name), from, to, 15 * minuteMs),
    payloadAt: (at) => encode(place, trafficAt(at), at),
  };
}

export const peopleCounter: DeviceKind = {
  folder: 'people-counter',
  flowName: 'People Counters',
  onlineTimeoutS: dayMs / 24_000,
  liveIntervalMs: 20_000,
  devices: doors.map(device),
};
