// The weather over the campus: seasons, days, passing fronts and showers, as one function of time that all devices share.
import type { EpochMs } from '../../../src/model/instant.ts';
import { dayMs, hourMs } from './local-time.ts';
import { drift, seedOf } from './seeded.ts';

/** Location of the campus: north and east, in degrees. */
export const campus = { latitude: 47.2266, longitude: 8.8184 } as const;

export interface Weather {
  /** Degrees Celsius. */
  readonly temperature: number;
  /** Relative humidity, percent. */
  readonly humidity: number;
  /** At the station, hPa. */
  readonly pressure: number;
  /** Share of the sky, 0 to 1. */
  readonly cloud: number;
  /** Millimetres per hour. */
  readonly rain: number;
  /** Metres per second. */
  readonly windSpeed: number;
  /** Where it comes from, degrees. */
  readonly windDirection: number;
  /** Global radiation on flat ground, W/m2. */
  readonly sun: number;
}

const frontSeed = seedOf('fronts');
const airMassSeed = seedOf('air masses');
const showerSeed = seedOf('showers');
const gustSeed = seedOf('gusts');
const windSeed = seedOf('wind direction');
const yearMs = 365.2425 * dayMs;

/** The weather at an instant. */
export function weatherAt(at: EpochMs): Weather {
  const season = -Math.cos((2 * Math.PI * (at - Date.UTC(2020, 0, 15))) / yearMs);
  const front = drift(frontSeed, at, 3.3 * dayMs);
  const cloud = clamp(0.5 - 0.75 * front + 0.15 * drift(showerSeed, at, 2 * hourMs), 0, 1);
  const sun = sunHeight(at) <= 0 ? 0 : 1060 * sunHeight(at) ** 1.15 * (1 - 0.72 * cloud ** 1.6);
  const rain = rainAt(at, cloud);
  // The warmest hour comes some three hours after noon, and a clear day swings more than a grey
  // one.
  const solarHour = ((at / hourMs + campus.longitude / 15) % 24) - 15;
  const swing = (2 + (1 - cloud) * (3 + 2 * season)) * Math.cos((2 * Math.PI * solarHour) / 24);
  const temperature =
    9.5 + 9.5 * season + 4 * drift(airMassSeed, at, 5 * dayMs) + swing - Math.min(rain, 4) * 0.5;
  return {
    temperature,
    humidity: clamp(74 - 2.6 * swing + 14 * (cloud - 0.5) + Math.min(rain, 3) * 5, 24, 100),
    pressure: 966 + 13 * front + 2 * drift(airMassSeed, at, 0.7 * dayMs),
    cloud,
    rain,
    windSpeed: Math.max(
      0,
      2.1 - 1.6 * front + 1.3 * drift(gustSeed, at, 0.4 * hourMs) + rain * 0.3,
    ),
    windDirection: (((250 + 130 * drift(windSeed, at, 0.8 * dayMs)) % 360) + 360) % 360,
    sun,
  };
}

/** Sine of the sun's height over the horizon; negative at night. */
export function sunHeight(at: EpochMs): number {
  const dayOfYear = ((at - Date.UTC(2020, 0, 1)) % yearMs) / dayMs;
  const declination = -0.4093 * Math.cos((2 * Math.PI * (dayOfYear + 10)) / 365.24);
  const hourAngle = 2 * Math.PI * ((at / dayMs + campus.longitude / 360) % 1) - Math.PI;
  const latitude = (campus.latitude * Math.PI) / 180;
  return (
    Math.sin(latitude) * Math.sin(declination) +
    Math.cos(latitude) * Math.cos(declination) * Math.cos(hourAngle)
  );
}

/** Rain of the hour that contains the instant, in millimeters. */
export function hourlyRain(at: EpochMs): number {
  const middle = Math.floor(at / hourMs) * hourMs + hourMs / 2;
  return weatherAt(middle).rain;
}

// It rains from thick clouds only, in showers of about an hour and a half.
function rainAt(at: EpochMs, cloud: number): number {
  if (cloud < 0.68) return 0;
  return Math.max(0, drift(showerSeed, at, 1.5 * hourMs) - 0.1) * 6 * (cloud - 0.68) * 3;
}

/** The number, held between two bounds. */
export function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}
