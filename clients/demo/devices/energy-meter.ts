// Three-phase energy meters: counters of both directions, power, voltages and currents, every ten minutes over LoRaWAN.
import type { EpochMs } from '../../../src/model/instant.ts';
import { bigEndian, radioFrame } from '../physics/frame.ts';
import { dayMs, isFreeDay, localTime, minuteMs } from '../physics/local-time.ts';
import { officePresence } from '../physics/presence.ts';
import { periodic } from '../physics/schedule.ts';
import { drift, gaussian, seedOf } from '../physics/seeded.ts';
import { type DailyMeter, dailyMeter } from '../physics/tally.ts';
import { clamp, sunHeight, weatherAt } from '../physics/weather.ts';
import { type DemoDevice, type DeviceKind, type Place, physicalId } from './device-kind.ts';

export interface Circuit extends Place {
  /** Kilowatt-hours of a working day. */
  readonly dailyKwh: number;
  readonly shape: 'office' | 'constant' | 'roof';
}

export const circuits: readonly Circuit[] = [
  circuit('Energy Meter Building A Main', ['Building A', 'Basement'], 640, 'office'),
  circuit('Energy Meter Building B Main', ['Building B', 'Basement'], 410, 'office'),
  circuit('Energy Meter Server Room', ['Building B', 'Basement'], 172, 'constant'),
  circuit('Energy Meter Solar Roof', ['Building A', 'Roof'], 260, 'roof'),
];

export interface CircuitReadings {
  /** Kilowatt-hours since installation. */
  readonly energyImported: number;
  readonly energyExported: number;
  /** Kilowatts; negative when the roof feeds the grid. */
  readonly activePower: number;
  readonly powerFactor: number;
  readonly frequency: number;
  readonly voltages: readonly [number, number, number];
  readonly currents: readonly [number, number, number];
}

interface Meters {
  readonly imported: DailyMeter;
  readonly exported: DailyMeter;
}

/** The meters behind a circuit: what flows in and what flows out. */
export function metersOf(place: Circuit): Meters {
  const seed = seedOf(place.name);
  const nothing = dailyMeter(
    () => 0,
    () => 1,
  );
  if (place.shape === 'roof') {
    const standby = dailyMeter(
      () => 0.6,
      () => 1,
    );
    const sun = (at: EpochMs) => Math.max(0, sunHeight(at)) * (1 - 0.7 * weatherAt(at).cloud);
    return {
      imported: standby,
      exported: dailyMeter((day) => place.dailyKwh * sun(day * dayMs + dayMs / 2), sun),
    };
  }
  const scatter = (day: number) => clamp(1 + 0.06 * gaussian(seed, day), 0.8, 1.2);
  if (place.shape === 'constant') {
    return {
      imported: dailyMeter(
        (day) => place.dailyKwh * scatter(day),
        () => 1,
      ),
      exported: nothing,
    };
  }
  const weight = (at: EpochMs) =>
    0.22 + officePresence(seed, at) + 0.05 * drift(seed, at, 25 * minuteMs);
  return {
    imported: dailyMeter(
      (day) => place.dailyKwh * scatter(day) * (isFreeDay(day) ? 0.38 : 1),
      weight,
    ),
    exported: nothing,
  };
}

/** What the display of the meter would show at an instant. */
export function circuitReadings(place: Circuit, meters: Meters, at: EpochMs): CircuitReadings {
  const seed = seedOf(place.name);
  const activePower = meters.imported.rateAt(at) - meters.exported.rateAt(at);
  const powerFactor = 0.95 + 0.03 * drift(seed, at, 35 * minuteMs);
  // The network sags a little in the evening, and every phase carries its own share of the load.
  const sag = 1.8 * Math.exp(-(((localTime(at).hour - 19) / 2.5) ** 2));
  const phases = [0, 1, 2].map((phase) => {
    const voltage = 231.5 - sag + 1.4 * drift(seed + phase, at, 12 * minuteMs);
    const share = 1 / 3 + 0.04 * drift(seed + 7 * phase, at, 90 * minuteMs);
    return { voltage, current: (Math.abs(activePower) * 1_000 * share) / (voltage * powerFactor) };
  });
  const [a, b, c] = phases as [(typeof phases)[0], (typeof phases)[0], (typeof phases)[0]];
  return {
    energyImported: meters.imported.totalAt(at),
    energyExported: meters.exported.totalAt(at),
    activePower,
    powerFactor,
    frequency: 50 + 0.03 * drift(seedOf('grid'), at, 3 * minuteMs),
    voltages: [a.voltage, b.voltage, c.voltage],
    currents: [a.current, b.current, c.current],
  };
}

// Counters go out in steps of 10 Wh and run over after 42.9 GWh, power in watts as a signed integer
// of three bytes.
function encode(readings: CircuitReadings) {
  return radioFrame(4, [
    0x03,
    ...bigEndian(Math.floor(readings.energyImported * 100) % 2 ** 32, 4),
    ...bigEndian(Math.floor(readings.energyExported * 100) % 2 ** 32, 4),
    ...bigEndian(Math.round(readings.activePower * 1_000), 3),
    ...bigEndian(Math.round(readings.powerFactor * 100), 1),
    ...bigEndian(Math.round(readings.frequency * 100), 2),
    ...readings.voltages.flatMap((volt) => bigEndian(Math.round(volt * 10), 2)),
    ...readings.currents.flatMap((ampere) => bigEndian(Math.round(ampere * 100), 2)),
  ]);
}

function circuit(
  name: string,
  tags: readonly string[],
  dailyKwh: number,
  shape: Circuit['shape'],
): Circuit {
  return {
    name,
    description: 'Three-phase meter, every 10 minutes',
    tags: [...tags, 'Energy'],
    dailyKwh,
    shape,
  };
}

function device(place: Circuit, index: number): DemoDevice {
  const meters = metersOf(place);
  return {
    deviceId: physicalId(3, index),
    name: place.name,
    description: place.description,
    tags: place.tags,
    uplinkTimes: (from, to) => periodic(seedOf(place.name), from, to, 10 * minuteMs),
    payloadAt: (at) => encode(circuitReadings(place, meters, at)),
  };
}

export const energyMeter: DeviceKind = {
  folder: 'energy-meter',
  flowName: 'Energy Meters',
  onlineTimeoutS: 3_600,
  liveIntervalMs: 10_000,
  devices: circuits.map(device),
};
