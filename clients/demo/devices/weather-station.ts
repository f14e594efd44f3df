// Weather station: JSON over HTTP in the units of its manufacturer, with a tipping-bucket rain gauge.
import type { EpochMs } from '../../../src/model/instant.ts';
import { batteryLevel } from '../physics/battery.ts';
import { dayMs, minuteMs } from '../physics/local-time.ts';
import { periodic } from '../physics/schedule.ts';
import { seedOf } from '../physics/seeded.ts';
import { slotTotal, type TotalAt } from '../physics/tally.ts';
import { type Weather, weatherAt } from '../physics/weather.ts';
import { type DemoDevice, type DeviceKind, physicalId } from './device-kind.ts';

export interface RoofReadings extends Weather {
  /** Tips of the bucket since midnight UTC. */
  readonly tips: number;
  readonly batteryLevel: number;
}

const tipMm = 0.2;
const name = 'Weather Station Roof';

/** The weather as the station on the roof sees it. */
export function roofStation(): (at: EpochMs) => RoofReadings {
  let today: { readonly day: number; readonly rain: TotalAt } | undefined;
  return (at) => {
    const day = Math.floor(at / dayMs);
    if (today?.day !== day) {
      const rain = slotTotal(day * dayMs, 5 * minuteMs, (slot) => weatherAt(slot).rain / 12);
      today = { day, rain };
    }
    const tips = Math.floor(today.rain(at) / tipMm);
    return {
      ...weatherAt(at),
      tips,
      batteryLevel: Math.round(batteryLevel(seedOf(name), at, 500)),
    };
  };
}

// The maker counts in Fahrenheit, miles an hour and inches of mercury.
function encode(readings: RoofReadings) {
  return {
    station: 'RS-1',
    obs: {
      temp_f: rounded(readings.temperature * 1.8 + 32, 2),
      rh_pct: rounded(readings.humidity, 1),
      baro_inhg: rounded(readings.pressure / 33.8639, 3),
      wind_mph: rounded(readings.windSpeed / 0.44704, 2),
      wind_dir_deg: Math.round(readings.windDirection) % 360,
      solar_wm2: Math.round(readings.sun),
      rain_tips_today: readings.tips,
    },
    batt_pct: readings.batteryLevel,
  };
}

function rounded(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}

function device(): DemoDevice {
  const roofAt = roofStation();
  return {
    deviceId: physicalId(11, 0),
    name,
    description: 'Wind, sun, rain and air over the campus, every 10 minutes',
    tags: ['Building A', 'Roof', 'Outdoor'],
    uplinkTimes: (from, to) => periodic(seedOf(name), from, to, 10 * minuteMs),
    payloadAt: (at) => encode(roofAt(at)),
  };
}

export const weatherStation: DeviceKind = {
  folder: 'weather-station',
  flowName: 'Weather',
  onlineTimeoutS: 3_600,
  liveIntervalMs: 15_000,
  devices: [device()],
};
