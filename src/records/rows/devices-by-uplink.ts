// Devices by last uplink: one page of their ids, without reading the devices that sent.
import { sql } from 'kysely';
import type { PageRequest } from '../../model/page.ts';
import type { RecordsDb } from '../records.ts';
import type { Rows } from '../list.ts';
import { isOneOf } from '../columns.ts';
import { deviceCounts } from './device-totals.ts';

type Id = { readonly id: string };

/** Devices of the workspaces in the order of `sort`; without an uplink is before any other time. */
export async function devicesByLastUplink(
  db: RecordsDb,
  workspaceIds: readonly string[],
  { page, size }: PageRequest,
  direction: 'asc' | 'desc',
): Promise<Rows<Id>> {
  const { devices, heard } = await deviceCounts(db, workspaceIds);
  const [before, after] = [page * size, (page + 1) * size];
  const parts =
    direction === 'desc'
      ? [
          { count: heard, read: readHeard },
          { count: devices - heard, read: readUnheard },
        ]
      : [
          { count: devices - heard, read: readUnheard },
          { count: heard, read: readHeard },
        ];
  const rows: Id[] = [];
  let start = 0;
  for (const { count, read } of parts) {
    const from = Math.max(before, start) - start;
    const to = Math.min(after, start + count) - start;
    if (from < to) rows.push(...(await read(to - from, from)));
    start += count;
  }
  return { rows, total: devices };

  function readHeard(limit: number, offset: number): Promise<Id[]> {
    return db
      .selectFrom('deviceStatus')
      .select('deviceId as id')
      .where(isOneOf('deviceStatus.workspaceId', workspaceIds))
      .orderBy('lastUplinkAt', direction)
      .orderBy('deviceId')
      .limit(limit)
      .offset(offset)
      .execute();
  }

  function readUnheard(limit: number, offset: number): Promise<Id[]> {
    return db
      .selectFrom('devices')
      .select('id')
      .where(isOneOf('devices.workspaceId', workspaceIds))
      .where(
        sql<boolean>`not exists (select 1 from "deviceStatus" where "deviceStatus"."deviceId" = "devices"."id")`,
      )
      .orderBy('id')
      .limit(limit)
      .offset(offset)
      .execute();
  }
}
