// Bucket query: tallies from hours or aggregates of ClickHouse where those are exact, else from the samples.
import type { BucketRequest, SampleStore } from '../sample-store.ts';
import {
  addAggregates,
  addOpenRows,
  addSamples,
  type BucketPlan,
  type DeviceGroup,
  groupsOf,
  mayNameElement,
  openRangeOf,
  openRowsOf,
  planOf,
  type Tallies,
  talliesOf,
} from './bucket-plan.ts';
import { queryHours } from './hour-query.ts';
import { talliesInMemory } from './kept-tallies.ts';
import { readPartsOf } from './read-parts.ts';
import { aggregateOf } from './point-aggregates.ts';
import type { StoreParts } from './store-parts.ts';

/** See the port. */
export async function queryBuckets(
  request: BucketRequest,
  parts: StoreParts,
): ReturnType<SampleStore['buckets']> {
  const ofHours = request.source === 'hours' ? await queryHours(request, parts) : undefined;
  if (ofHours !== undefined) return ofHours;
  const plan = planOf(request, await readPartsOf(parts, openRangeOf(request)));
  const inMemory = talliesInMemory(plan);
  if (inMemory !== undefined) return request.deviceIds.map((id) => talliesOf(inMemory, id, plan));
  const found = new Map<string, Tallies>();
  // The open rows and the border of the others, of one moment.
  const open = plan.deviceIds.map((deviceId) => [deviceId, openRowsOf(deviceId, plan)] as const);
  for (const group of groupsOf(plan)) await addGroup(group, plan, found);
  for (const [deviceId, rows] of open) addOpenRows(talliesOf(found, deviceId, plan), rows, plan);
  return request.deviceIds.map((deviceId) => talliesOf(found, deviceId, plan));
}

/** Devices whose aggregates are not exact are read sample by sample. */
async function addGroup(
  group: DeviceGroup,
  plan: BucketPlan,
  found: Map<string, Tallies>,
): Promise<void> {
  const { facet, dataKey } = plan;
  const aggregate = aggregateOf(facet);
  if (aggregate === undefined || mayNameElement(dataKey)) {
    await addSamples(group, group.deviceIds, plan, found);
    return;
  }
  const inexact = new Set<string>();
  await addAggregates(group, { aggregate, plan, found, inexact });
  for (const deviceId of inexact) found.delete(deviceId);
  if (inexact.size > 0) await addSamples(group, [...inexact], plan, found);
}
