// Usual values of the demo: what is told as unusual in series of its devices, with faults put in and without.
import { stationReadings, stations } from '../../clients/demo/devices/air-quality.ts';
import { circuitReadings, circuits, metersOf } from '../../clients/demo/devices/energy-meter.ts';
import { roomReadings, rooms } from '../../clients/demo/devices/room-climate.ts';
import { weatherAt } from '../../clients/demo/physics/weather.ts';
import { dayMs, type EpochMs, hourMs } from '../../src/model/instant.ts';
import { openTimeZones } from '../../src/model/time-zone.ts';
import { Calendars } from '../../src/query/calendars.ts';
import { openPublicHolidays } from '../../src/query/public-holidays.ts';
import { learnDay } from '../../src/query/expected-range.ts';
import { accumulatorOf, addValue } from '../../src/query/summaries/accumulators.ts';
import type { Tally } from '../../src/query/summaries/facet.ts';
import type { BucketRequest } from '../../src/storage/samples/sample-store.ts';

const stepMs = 10 * 60_000;
/** Days before those that are judged. */
export const learnedDays = 58;
export const testedDays = 14;
const faultsPerSeries = 12;
export const sensitivities = ['LOW', 'MEDIUM', 'HIGH'] as const;
const device = { id: 'd', workspaceId: 'w' };
const calendars = new Calendars(
  () => ({
    timezone: 'Europe/Zurich',
    workingHours: null,
    holidays: [],
    holidayRegion: null,
  }),
  openTimeZones(),
  openPublicHolidays(),
);

const meters = circuits.map((circuit) => [circuit, metersOf(circuit)] as const);
/** Each kind with its series. */
export const demoKinds: readonly (readonly [string, readonly ((at: EpochMs) => number)[]])[] = [
  ['room temperature', rooms.map((room) => (at) => roomReadings(room, at).temperature)],
  ['room humidity', rooms.map((room) => (at) => roomReadings(room, at).humidity)],
  ['CO2', stations.map((place) => (at) => stationReadings(place, at).co2)],
  [
    'power',
    meters.map(
      ([place, own]) =>
        (at) =>
          circuitReadings(place, own, at).activePower,
    ),
  ],
  ['outside temperature', [(at) => weatherAt(at).temperature]],
];

/** Numbers from 0 to 1, the same for the same seed. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
}

interface Series {
  readonly clean: Float64Array;
  readonly values: Float64Array;
  /** The number of the fault at each place; 0 without one. */
  readonly faults: Uint8Array;
}

/** Faults last one to four hours, and add or take what the series moved within the weeks before. */
function withFaults(valueAt: (at: EpochMs) => number, start: EpochMs, seed: number): Series {
  const count = ((learnedDays + testedDays) * dayMs) / stepMs;
  const clean = Float64Array.from({ length: count }, (_, i) => valueAt(start + i * stepMs));
  const values = clean.slice();
  const faults = new Uint8Array(count);
  const random = seeded(seed);
  const first = (learnedDays * dayMs) / stepMs;
  const ordered = clean.slice(0, first).sort();
  const moved = ordered[Math.floor(first * 0.99)]! - ordered[Math.floor(first * 0.01)]!;
  const stretch = Math.floor((count - first) / faultsPerSeries);
  const perHour = hourMs / stepMs;
  for (let fault = 1; fault <= faultsPerSeries; fault++) {
    const length = perHour + Math.floor(random() * 3 * perHour);
    const begin = first + (fault - 1) * stretch + Math.floor(random() * (stretch - length));
    const added = random() < 0.5 ? moved : -moved;
    for (let i = begin; i < begin + length; i++) {
      values[i]! += added;
      faults[i] = fault;
    }
  }
  return { clean, values, faults };
}

/** Answers what learning reads. */
function storeOf(values: Float64Array, start: EpochMs) {
  const { facet } = accumulatorOf('AVG');
  return {
    async buckets({ edges }: BucketRequest) {
      const tallies = edges.slice(0, -1).map((from, bucket): Tally | undefined => {
        const tally = facet.start();
        const to = edges[bucket + 1] ?? from;
        for (let at = Math.max(start, from); at < to; at += stepMs)
          addValue(facet, tally, values[(at - start) / stepMs], { timestamp: at });
        return tally.count === 0 ? undefined : tally;
      });
      return [tallies];
    },
  };
}

/** How long learning of each day took. */
export const learnMs: number[] = [];

/** The number of values of each place that are outside, one list for each sensitivity. */
async function outside(values: Float64Array, start: EpochMs): Promise<Uint8Array[]> {
  const testedFrom = start + learnedDays * dayMs;
  const found = sensitivities.map(() => new Uint8Array(values.length));
  const store = storeOf(values, start);
  let learned: Awaited<ReturnType<typeof learnDay>> | undefined;
  for (let at = testedFrom; at < testedFrom + testedDays * dayMs; at += stepMs) {
    if (learned?.dayOf(at) !== learned?.day || learned === undefined) {
      const startedAt = performance.now();
      learned = await learnDay(device, { topic: 'default', dataKey: 'v' }, at, store, calendars);
      learnMs.push(performance.now() - startedAt);
      if (learned.method !== 'HOUR_OF_WEEK') throw new Error(`learned by ${learned.method}`);
    }
    const place = (at - start) / stepMs;
    for (const [i, sensitivity] of sensitivities.entries())
      if (learned.isOutside(values[place]!, at, sensitivity) === true) found[i]![place] = 1;
  }
  return found;
}

/** Counts of values, and of faults that were noticed. */
interface Found {
  readonly tested: number;
  readonly faults: number;
  /** Values outside of the range, of which `right` belong to faults. */
  found: number;
  right: number;
  noticed: number;
  /** Values outside of the range where the series has no fault. */
  wrong: number;
}

/** One for each sensitivity; faults of the first series have the seed. */
export async function foundIn(
  series: readonly ((at: EpochMs) => number)[],
  starts: readonly EpochMs[],
  seed: number,
): Promise<Found[]> {
  const all = starts.flatMap((start) => series.map((valueAt) => ({ start, valueAt })));
  const tested = all.length * ((testedDays * dayMs) / stepMs);
  const faultCount = all.length * faultsPerSeries;
  const totals = sensitivities.map(
    (): Found => ({ tested, faults: faultCount, found: 0, right: 0, noticed: 0, wrong: 0 }),
  );
  for (const [i, { start, valueAt }] of all.entries()) {
    const { clean, values, faults } = withFaults(valueAt, start, seed + i);
    const [faulty, plain] = [await outside(values, start), await outside(clean, start)];
    for (const [s, total] of totals.entries()) {
      const noticed = new Set<number>();
      for (const [place, fault] of faults.entries()) {
        total.found += faulty[s]![place]!;
        total.wrong += plain[s]![place]!;
        if (fault === 0 || faulty[s]![place] === 0) continue;
        total.right++;
        noticed.add(fault);
      }
      total.noticed += noticed.size;
    }
  }
  return totals;
}
