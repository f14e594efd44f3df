// Testing stages: sample stages over a given store, without calculated keys.
import type { EpochMs } from '../model/instant.ts';
import { CalculatedKeys } from './calculated-keys.ts';
import { SampleStages } from './sample-stages.ts';
import { DeviceNames } from './validate/device-names.ts';

type Parameters = ConstructorParameters<typeof SampleStages>;

/** Ids are `id0`, `id1` and so on. */
export function testingStages(
  store: Parameters[2],
  followers: Parameters[3],
  now: EpochMs,
  limits = { topics: 1_000, dataKeys: 1_000 },
  calculated: CalculatedKeys = noCalculatedKeys(),
): SampleStages {
  let ids = 0;
  const names = new DeviceNames(limits, async () => new Map());
  const newId = () => `id${ids++}`;
  const noted = () => undefined;
  return new SampleStages(names, calculated, store, followers, noted, newId, () => now);
}

function noCalculatedKeys(): CalculatedKeys {
  return new CalculatedKeys({
    values() {
      throw new Error('no device has calculated keys');
    },
    deviceOf: () => undefined,
    offsetsOf: () => () => 0,
  });
}
