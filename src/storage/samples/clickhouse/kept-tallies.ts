// Kept tallies: buckets of devices whose rows are all in memory.
import { addOpenRows, type BucketPlan, type Tallies, talliesOf } from './bucket-plan.ts';
import { placesInMemory } from './kept-reads.ts';

/** By device. Undefined when ClickHouse must be asked. Belongs to this turn. */
export function talliesInMemory(plan: BucketPlan): Map<string, Tallies> | undefined {
  const places = placesInMemory(plan.deviceIds, plan, plan.parts);
  if (places === undefined) return undefined;
  const found = new Map<string, Tallies>();
  for (const [deviceId, rows] of places) addOpenRows(talliesOf(found, deviceId, plan), rows, plan);
  return found;
}
