// Connects documents of dashboards: what reads their data, and the thread that draws them.
import { join } from 'node:path';
import { authorize } from '../access/authorize.ts';
import { DocumentSlots } from '../documents/document-slots.ts';
import { DocumentThread } from '../documents/document-thread.ts';
import { wantsVendorNames } from '../http/routes/connector-view-options.ts';
import { DashboardReader } from '../http/routes/dashboard-reader.ts';
import type { DeviceAccess } from '../http/routes/device-access.ts';
import { WorkspaceCalendars } from '../inventory/workspaces/workspace-calendars.ts';
import { openTimeZones } from '../model/time-zone.ts';
import { createDevicePlaces } from '../operations/device-places.ts';
import type { PublicHolidays } from '../query/public-holidays.ts';
import type { Parts } from './platform-parts.ts';

export function deviceAccess({ config, directory, records }: Parts): DeviceAccess {
  const aliased = wantsVendorNames(config.vendorAliases);
  return { ...createDevicePlaces(directory, records), authorize, aliased };
}

/** What the routes of queries share with documents. */
export function composeQueries(parts: Parts, publicHolidays: PublicHolidays) {
  const { store, now, records } = parts;
  const calendars = new WorkspaceCalendars(records.db);
  const { calendarOf } = calendars;
  parts.followChanges(calendars);
  const openZone = openTimeZones();
  return { ...deviceAccess(parts), store, now, openZone, publicHolidays, calendarOf };
}

export type Queries = ReturnType<typeof composeQueries>;

export interface Documents {
  readonly reader: DashboardReader;
  readonly slots: DocumentSlots;
  readonly thread: DocumentThread;
  readonly close: () => Promise<void>;
}

export function composeDocuments({ config, records }: Parts, queries: Queries): Documents {
  const thread = new DocumentThread(join(config.dataDirectory, 'fonts'));
  return {
    reader: new DashboardReader({ ...queries, records }),
    slots: new DocumentSlots(),
    thread,
    close: thread.close,
  };
}
