// Fleet workload: many devices that send one sample per quarter of an hour, in the order of time.
import type { JournalEntry } from '../../src/model/journal-entry.ts';
import { labels } from './workload.ts';

export interface FleetShape {
  readonly devices: number;
  readonly days: number;
  readonly samplesPerDay: number;
  /** The first sample, epoch milliseconds; a whole UTC day. */
  readonly startMs: number;
}

export const fleetF: FleetShape = {
  devices: 100_000,
  days: 7,
  samplesPerDay: 96,
  startMs: Date.UTC(2026, 0, 5),
};

const dayMs = 86_400_000;
const jitterMsMax = 900;

export function samplesOfFleet({ devices, days, samplesPerDay }: FleetShape): number {
  return devices * Math.round(days * samplesPerDay);
}

export function fleetDevice(index: number): string {
  return String(2_000_000_000_000_000 + index);
}

/** One column a value, in the units of the field: hundredths, tenths, units, tenths. */
interface FleetState {
  readonly temperature: Int16Array;
  readonly humidity: Int16Array;
  readonly co2: Int16Array;
  readonly battery: Int16Array;
  readonly label: Uint8Array;
}

/** Entries of one sample each, `batch` at a time; the phase of the devices is spread over the slot. */
export function* fleetEntries(shape: FleetShape, batch: number): Generator<JournalEntry[]> {
  const { devices, days, samplesPerDay, startMs } = shape;
  const slotMs = dayMs / samplesPerDay;
  const slots = Math.round(days * samplesPerDay);
  const random = createRandom(20_260_105);
  const state = startState(devices, random);
  let entries: JournalEntry[] = [];
  for (let slot = 0; slot < slots; slot++)
    for (let device = 0; device < devices; device++) {
      const phase = Math.floor((device / devices) * (slotMs - jitterMsMax));
      const timestamp = startMs + slot * slotMs + phase + random(jitterMsMax);
      entries.push(entryOf(device, timestamp, nextData(state, device, random)));
      if (entries.length < batch) continue;
      yield entries;
      entries = [];
    }
  if (entries.length > 0) yield entries;
}

/** Whole numbers from 0 to below the limit, the same in every run. */
function createRandom(seed: number): (limit: number) => number {
  let state = seed >>> 0;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

function startState(devices: number, random: (limit: number) => number): FleetState {
  const state = {
    temperature: new Int16Array(devices),
    humidity: new Int16Array(devices),
    co2: new Int16Array(devices),
    battery: new Int16Array(devices),
    label: new Uint8Array(devices),
  };
  for (let device = 0; device < devices; device++) {
    state.temperature[device] = 1_800 + random(600);
    state.humidity[device] = 300 + random(400);
    state.co2[device] = 400 + random(400);
    state.battery[device] = 700 + random(300);
    state.label[device] = random(labels.length);
  }
  return state;
}

function nextData(state: FleetState, device: number, random: (limit: number) => number) {
  state.temperature[device]! += random(41) - 20;
  state.humidity[device]! += random(11) - 5;
  state.co2[device] = Math.max(380, state.co2[device]! + random(31) - 15);
  if (random(200) === 0) state.battery[device]! -= 1;
  if (random(20) === 0) state.label[device] = random(labels.length);
  return {
    temperature: state.temperature[device]! / 100,
    humidity: state.humidity[device]! / 10,
    co2: state.co2[device] ?? 0,
    batteryLevel: state.battery[device]! / 10,
    occupied: random(3) === 0,
    label: labels[state.label[device]!]!,
  };
}

function entryOf(
  device: number,
  timestamp: number,
  data: ReturnType<typeof nextData>,
): JournalEntry {
  const deviceId = fleetDevice(device);
  return {
    deviceId,
    receivedAt: timestamp,
    notes: [],
    samples: [
      {
        deviceId,
        topic: 'default',
        timestamp,
        data,
        organizationId: '2800000000000001',
        workspaceId: '2900000000000001',
        dataFlowId: '0800000000000001',
        correlationId: 'a0b1c2d3-e4f5-4a6b-8c7d-9e0f1a2b3c4d',
        stored: true,
      },
    ],
  };
}
