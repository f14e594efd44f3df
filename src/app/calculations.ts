// Connects group calculations: their registry, the follower that marks late samples, and the clock that computes.
import { CalculationClock } from '../rules/calculations/calculation-clock.ts';
import {
  CalculationRegistry,
  KnownCalculation,
} from '../rules/calculations/calculation-registry.ts';
import { zoneOf } from '../rules/calculations/group-results.ts';
import { LateSamples } from '../rules/calculations/late-samples.ts';
import { leaseOfWorkspace } from '../cluster/leases/lease-tasks.ts';
import type { CalculationRouteParts } from '../http/routes/calculations.ts';
import { WorkspaceCalendars } from '../inventory/workspaces/workspace-calendars.ts';
import { formatInstant } from '../model/instant.ts';
import { openTimeZones } from '../model/time-zone.ts';
import { createDevicePlaces } from '../operations/device-places.ts';
import type { PublicHolidays } from '../query/public-holidays.ts';
import { setRepeatingTimer } from '../structures/timers.ts';
import type { Parts } from './platform-parts.ts';
import type { Uplinks } from './uplinks.ts';

/** A late sample is waited for so long, so that many cost one transaction. */
const batchWaitMs = 500;

export interface Calculations {
  readonly preview: CalculationRouteParts['previewCalculation'];
  readonly close: () => Promise<void>;
}

export function composeCalculations(
  parts: Parts,
  { sampleChanges }: Uplinks,
  publicHolidays: PublicHolidays,
): Calculations {
  const { records, store, directory, followers, followChanges, sharedWork, telemetry, now } = parts;
  const { db } = records;
  const calendars = new WorkspaceCalendars(db);
  followChanges(calendars);
  const { calendarOf } = calendars;
  const openZone = openTimeZones();
  const zones = { openZone, calendarOf };
  const registry = new CalculationRegistry(db, (calculation) => zoneOf(calculation, zones));
  followChanges(registry);
  const late = new LateSamples({ db, calculationsOf: registry.ofWorkspace, store, now });
  const follower = followers.start('calculations', {
    handle: late.handle,
    batchWaitMs,
    failed: (error) => telemetry.backgroundFailed('marking late samples of calculations', error),
  });
  const clock = new CalculationClock({
    db,
    store,
    ...zones,
    publicHolidays,
    fieldsOfDevice: createDevicePlaces(directory, records).fieldsOfDevice,
    now,
    clock: () => performance.now(),
    calculations: registry.all,
    isOwn: (workspaceId) => sharedWork?.holds(leaseOfWorkspace(workspaceId)) ?? true,
    put: sampleChanges.put,
    setRepeatingTimer,
    failed: (error) => telemetry.backgroundFailed('computing calculations', error),
  });
  return {
    async preview(calculation, periods) {
      const known = new KnownCalculation(calculation, await zoneOf(calculation, zones));
      const found = await clock.preview(known, periods);
      return {
        ...found,
        periods: found.periods.map(({ timestamp, data }) => ({
          timestamp: formatInstant(timestamp),
          data,
        })),
      };
    },
    async close() {
      await follower.close();
      await clock.close();
    },
  };
}
