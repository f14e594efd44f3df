// What is sent to devices, in the records store: the downlink queue, limited by count and age (contract 17, 35), and configurations.
import { type Insertable, type Selectable, sql } from 'kysely';
import type { Connectivity } from '../../../model/connector.ts';
import type { Downlink, DownlinkState } from '../../../model/downlink.ts';
import type { EpochMs } from '../../../model/instant.ts';
import type { Json, JsonObject } from '../../../model/json.ts';
import type { PageRequest } from '../../../model/page.ts';
import {
  fromFlag,
  fromFlagOrNull,
  fromJsonText,
  fromJsonTextOrNull,
  toFlag,
  toFlagOrNull,
  toJsonText,
  toJsonTextOrNull,
} from '../columns.ts';
import type { RecordsDb } from '../records.ts';
import { pageOfRows, type Rows } from '../list.ts';
import type { RecordTables } from '../schema.ts';

type Table = RecordTables['downlinks'];

function toRow(record: Downlink): Insertable<Table> {
  return {
    ...record,
    confirmed: toFlagOrNull(record.confirmed),
    payload: toJsonTextOrNull(record.payload),
    replaces: toFlag(record.replaces),
  };
}

function fromRow({ sequence: _, ...row }: Selectable<Table>): Downlink {
  return {
    ...row,
    connectivity: row.connectivity as Connectivity,
    state: row.state as DownlinkState,
    confirmed: fromFlagOrNull(row.confirmed),
    payload: fromJsonTextOrNull<Json>(row.payload),
    replaces: fromFlag(row.replaces),
  };
}

class DownlinkRows {
  /** An existing downlink with the id stays unchanged. The transaction is the caller's. */
  async insert(step: RecordsDb, records: readonly Downlink[]): Promise<void> {
    const insertion = step.insertInto('downlinks').values(records.map(toRow));
    await insertion.onConflict((conflict) => conflict.column('id').doNothing()).execute();
  }

  async waiting(db: RecordsDb, deviceId: string, max: number): Promise<Downlink[]> {
    const query = db
      .selectFrom('downlinks')
      .selectAll()
      .where('state', '=', 'QUEUED')
      .where('deviceId', '=', deviceId);
    return (await query.orderBy('sequence').limit(max).execute()).map(fromRow);
  }

  /** The device's oldest that waits. */
  async next(db: RecordsDb, deviceId: string): Promise<Downlink | undefined> {
    return (await this.waiting(db, deviceId, 1))[0];
  }

  /** Devices behind the given one that have downlinks waiting, in order of id. */
  async devicesWaiting(db: RecordsDb, after: string, max: number): Promise<string[]> {
    const query = db
      .selectFrom('downlinks')
      .select('deviceId')
      .distinct()
      .where('state', '=', 'QUEUED');
    const rows = await query.where('deviceId', '>', after).orderBy('deviceId').limit(max).execute();
    return rows.map((row) => row.deviceId);
  }

  /** Devices of the integration that have downlinks waiting. */
  async devicesOfIntegrationWaiting(db: RecordsDb, integrationId: string): Promise<string[]> {
    const query = db
      .selectFrom('downlinks')
      .innerJoin('devices', 'devices.id', 'downlinks.deviceId');
    const waiting = query.select('devices.id').distinct().where('downlinks.state', '=', 'QUEUED');
    return (await waiting.where('devices.integrationId', '=', integrationId).execute()).map(
      (row) => row.id,
    );
  }

  /** Those that wait although their time is over. */
  async expired(db: RecordsDb, now: EpochMs, max: number): Promise<Downlink[]> {
    const query = db
      .selectFrom('downlinks')
      .selectAll()
      .where('state', '=', 'QUEUED')
      .where('expiresAt', '<=', now);
    return (await query.orderBy('sequence').limit(max).execute()).map(fromRow);
  }

  /**
   * The downlink that a network server reports of: by our id, by the server's, else the oldest that
   * was sent and may still be acknowledged.
   */
  async reported(
    db: RecordsDb,
    deviceId: string,
    named: { readonly downlinkId?: string; readonly serverReference?: string },
    unnamed: { readonly state: DownlinkState; readonly confirmedOnly: boolean },
  ): Promise<Downlink | undefined> {
    let query = db.selectFrom('downlinks').selectAll().where('deviceId', '=', deviceId);
    if (named.downlinkId !== undefined) query = query.where('id', '=', named.downlinkId);
    else if (named.serverReference !== undefined)
      query = query.where('serverReference', '=', named.serverReference);
    else {
      query = query.where('state', '=', unnamed.state);
      if (unnamed.confirmedOnly) query = query.where('confirmed', '=', 1);
      const row = await query.orderBy('sequence').executeTakeFirst();
      return row && fromRow(row);
    }
    const row = await query.orderBy('sequence', 'desc').executeTakeFirst();
    return row && fromRow(row);
  }

  /** Only while it is in that state, so that of two reports one wins; whether it was. */
  async save(db: RecordsDb, record: Downlink, whileIn: DownlinkState): Promise<boolean> {
    const query = db.updateTable('downlinks').set(toRow(record)).where('id', '=', record.id);
    const { numUpdatedRows } = await query.where('state', '=', whileIn).executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  /** Deletes ended ones that are old, and the oldest of each device beyond the limit. */
  async dropOld(db: RecordsDb, createdBefore: EpochMs, keptPerDeviceMax: number): Promise<void> {
    await db
      .deleteFrom('downlinks')
      .where('state', '!=', 'QUEUED')
      .where('created', '<', createdBefore)
      .execute();
    const crowded = await db
      .selectFrom('downlinks')
      .select('deviceId')
      .groupBy('deviceId')
      .having(sql`count(*)`, '>', keptPerDeviceMax)
      .execute();
    for (const { deviceId } of crowded) {
      const own = db.selectFrom('downlinks').select('sequence').where('deviceId', '=', deviceId);
      const last = await own
        .orderBy('sequence', 'desc')
        .limit(1)
        .offset(keptPerDeviceMax)
        .executeTakeFirst();
      if (last === undefined) continue;
      const old = db
        .deleteFrom('downlinks')
        .where('deviceId', '=', deviceId)
        .where('state', '!=', 'QUEUED');
      await old.where('sequence', '<=', last.sequence).execute();
    }
  }

  /** Newest first unless the page asks for another order. */
  async list(
    db: RecordsDb,
    filter: { readonly deviceId: string; readonly state?: DownlinkState | undefined },
    page: PageRequest,
  ): Promise<Rows<Downlink>> {
    let query = db.selectFrom('downlinks').selectAll().where('deviceId', '=', filter.deviceId);
    if (filter.state !== undefined) query = query.where('state', '=', filter.state);
    const columns = {
      created: 'created',
      updated: 'updated',
      state: 'state',
      sequence: 'sequence',
    };
    const defaultSort = [{ field: 'sequence', direction: 'desc' }] as const;
    const { rows, total } = await pageOfRows(query, page, { columns, defaultSort });
    return { rows: rows.map(fromRow), total };
  }
}

export const downlinkRows = new DownlinkRows();

// Device configurations in the records store: every version of a device's configuration that was not deleted.

export interface DeviceConfiguration {
  /** Service device id. */
  readonly deviceId: string;
  /** From 1; a number is given once. */
  readonly version: number;
  readonly workspaceId: string;
  readonly configuration: JsonObject;
  readonly created: EpochMs;
}

/**
 * How changes and the audit log name a version, which has no id of its own: `<service device
 * id>/<version>`.
 */
export function configurationId({
  deviceId,
  version,
}: {
  readonly deviceId: string;
  readonly version: number;
}): string {
  return `${deviceId}/${version}`;
}

function keptConfigurations(db: RecordsDb, deviceId: string) {
  const query = db.selectFrom('deviceConfigurations').selectAll().where('deviceId', '=', deviceId);
  return query.where('configuration', 'is not', null);
}

type ConfigurationRow = Awaited<
  ReturnType<ReturnType<typeof keptConfigurations>['executeTakeFirstOrThrow']>
>;

function configurationFromRow(row: ConfigurationRow): DeviceConfiguration {
  return { ...row, configuration: fromJsonText<JsonObject>(row.configuration ?? '{}') };
}

class DeviceConfigurationRows {
  /** The version of such a name, unless it was deleted. */
  async findNamed(db: RecordsDb, name: string): Promise<DeviceConfiguration | undefined> {
    const [deviceId = '', version] = name.split('/');
    return this.find(db, deviceId, Number(version));
  }

  /** The next version's number, counting deleted ones. */
  async nextVersion(step: RecordsDb, deviceId: string): Promise<number> {
    const { latest } = await step
      .selectFrom('deviceConfigurations')
      .select((eb) => eb.fn.max('version').as('latest'))
      .where('deviceId', '=', deviceId)
      .executeTakeFirstOrThrow();
    return Number(latest ?? 0) + 1;
  }

  async insert(db: RecordsDb, record: DeviceConfiguration): Promise<void> {
    const configuration = toJsonText(record.configuration);
    await db
      .insertInto('deviceConfigurations')
      .values({ ...record, configuration })
      .execute();
  }

  /** That version, or the latest. */
  async find(
    db: RecordsDb,
    deviceId: string,
    version: number | 'latest',
  ): Promise<DeviceConfiguration | undefined> {
    let query = keptConfigurations(db, deviceId);
    if (version !== 'latest') query = query.where('version', '=', version);
    const row = await query.orderBy('version', 'desc').limit(1).executeTakeFirst();
    return row && configurationFromRow(row);
  }

  /** Newest first unless the page asks for another order. */
  async list(
    db: RecordsDb,
    deviceId: string,
    page: PageRequest,
  ): Promise<Rows<DeviceConfiguration>> {
    const columns = { id: 'version', name: 'version', version: 'version', created: 'created' };
    const defaultSort = [{ field: 'version', direction: 'desc' }] as const;
    const { rows, total } = await pageOfRows(keptConfigurations(db, deviceId), page, {
      columns,
      defaultSort,
      idColumn: 'version',
    });
    return { rows: rows.map(configurationFromRow), total };
  }

  /** The content goes, the number stays taken. */
  async remove(db: RecordsDb, deviceId: string, version: number): Promise<void> {
    await db
      .updateTable('deviceConfigurations')
      .set({ configuration: null })
      .where('deviceId', '=', deviceId)
      .where('version', '=', version)
      .execute();
  }
}

export const deviceConfigurationRows = new DeviceConfigurationRows();
