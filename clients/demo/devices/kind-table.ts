// The kinds of devices on the campus of the demo, one row each.
import { airQuality } from './air-quality.ts';
import { assetTracker } from './asset-tracker.ts';
import type { DeviceKind } from './device-kind.ts';
import { energyMeter } from './energy-meter.ts';
import { leakDetector } from './leak-detector.ts';
import { parkingBay } from './parking-bay.ts';
import { peopleCounter } from './people-counter.ts';
import { roomClimate } from './room-climate.ts';
import { serviceButton } from './service-button.ts';
import { soilProbe } from './soil-probe.ts';
import { waterMeter } from './water-meter.ts';
import { weatherStation } from './weather-station.ts';

export const deviceKinds: readonly DeviceKind[] = [
  roomClimate,
  airQuality,
  energyMeter,
  peopleCounter,
  parkingBay,
  assetTracker,
  leakDetector,
  serviceButton,
  soilProbe,
  waterMeter,
  weatherStation,
];
