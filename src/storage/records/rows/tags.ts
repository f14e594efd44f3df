// Tags and which devices carry them, in the records store.
import type { Insertable, Selectable } from 'kysely';
import type { Tag } from '../../../model/device.ts';
import { isOneOf, searchTextOf } from '../columns.ts';
import { padded } from '../engine.ts';
import { insertRows, RecordRows } from './record-rows.ts';
import type { RecordsDb } from '../records.ts';
import type { RecordTables } from '../schema.ts';

type Table = RecordTables['tags'];

function toRow(record: Tag): Insertable<Table> {
  return { ...record, searchText: searchTextOf(record.name) };
}

function fromRow({ searchText: _, ...record }: Selectable<Table>): Tag {
  return record;
}

/** Devices merely lose a tag that is removed. */
class TagRows extends RecordRows<'tags', Tag> {
  /** The workspace's tags of those names; of several of one name, the oldest. */
  async named(db: RecordsDb, workspaceId: string, names: readonly string[]): Promise<Tag[]> {
    if (names.length === 0) return [];
    const query = this.select(db)
      .where('workspaceId', '=', workspaceId)
      .where('name', 'in', [...names]);
    const tags = await this.readAll(db, query.orderBy('created').orderBy('id'));
    return names.flatMap((name) => tags.find((tag) => tag.name === name) ?? []);
  }

  /** In order of name; unknown ones are absent. */
  async inOrder(db: RecordsDb, ids: readonly string[]): Promise<Tag[]> {
    if (ids.length === 0) return [];
    const query = this.select(db).where('id', 'in', [...ids]);
    return this.readAll(db, query.orderBy('searchText').orderBy('id'));
  }

  /** Every tag of the workspace; of several of one name the oldest comes last. */
  async ofWorkspace(db: RecordsDb, workspaceId: string): Promise<Tag[]> {
    const query = this.select(db).where('workspaceId', '=', workspaceId);
    return this.readAll(db, query.orderBy('created', 'desc').orderBy('id'));
  }

  /** How many devices carry each tag; tags without any are absent. */
  async deviceCounts(db: RecordsDb, tagIds: readonly string[]): Promise<Map<string, number>> {
    if (tagIds.length === 0) return new Map();
    const rows = await db
      .selectFrom('deviceTags')
      .select((eb) => ['tagId', eb.fn.countAll<number>().as('devices')])
      .where('tagId', 'in', [...tagIds])
      .groupBy('tagId')
      .execute();
    return new Map(rows.map((row) => [row.tagId, Number(row.devices)]));
  }

  /** The tags of each device in order of name; devices without any are absent. */
  async ofDevices(db: RecordsDb, deviceIds: readonly string[]): Promise<Map<string, Tag[]>> {
    const found = new Map<string, Tag[]>();
    if (deviceIds.length === 0) return found;
    const rows = await db
      .selectFrom('tags')
      .innerJoin('deviceTags', 'deviceTags.tagId', 'tags.id')
      .selectAll('tags')
      .select('deviceTags.deviceId as taggedDeviceId')
      .where('deviceTags.deviceId', 'in', [...deviceIds])
      .orderBy('tags.searchText')
      .orderBy('tags.id')
      .execute();
    for (const { taggedDeviceId, ...row } of rows) {
      const tags = found.get(taggedDeviceId);
      if (tags === undefined) found.set(taggedDeviceId, [fromRow(row)]);
      else tags.push(fromRow(row));
    }
    return found;
  }

  /** Adds tags to devices that lack them and removes others, of at most `idsPerStatement` devices. */
  async changeDevices(
    db: RecordsDb,
    added: readonly DeviceTag[],
    removed: readonly DeviceTag[],
  ): Promise<void> {
    for (const [tagId, devices] of Map.groupBy(removed, (one) => one.tagId)) {
      const ids = padded(devices.map(({ deviceId }) => deviceId));
      const rows = db.deleteFrom('deviceTags').where('tagId', '=', tagId);
      await rows.where('deviceId', 'in', ids).execute();
    }
    await insertRows(db, 'deviceTags', added);
  }

  /**
   * The devices that carry the tag with their workspaces, in order of name, then id (contract 35).
   */
  async devicesOf(
    db: RecordsDb,
    tagId: string,
  ): Promise<{ readonly id: string; readonly workspaceId: string }[]> {
    return db
      .selectFrom('deviceTags')
      .innerJoin('devices', 'devices.id', 'deviceTags.deviceId')
      .select(['devices.id', 'devices.workspaceId'])
      .where('deviceTags.tagId', '=', tagId)
      .orderBy('devices.searchText')
      .orderBy('devices.id')
      .execute();
  }

  /** Each pair of one of the tags and a device that carries it, at most `max`. */
  async devicesByTag(db: RecordsDb, tagIds: readonly string[], max: number): Promise<DeviceTag[]> {
    return db
      .selectFrom('deviceTags')
      .select(['tagId', 'deviceId'])
      .where(isOneOf('tagId', tagIds))
      .orderBy('tagId')
      .orderBy('deviceId')
      .limit(max)
      .execute();
  }

  /** How many devices carry the tag. */
  async countDevicesOf(db: RecordsDb, tagId: string): Promise<number> {
    const { devices } = await db
      .selectFrom('deviceTags')
      .select((eb) => eb.fn.countAll<number | string>().as('devices'))
      .where('tagId', '=', tagId)
      .executeTakeFirstOrThrow();
    return Number(devices);
  }

  /** The devices that carry the tag, in order of id. */
  async deviceIdsOf(db: RecordsDb, tagId: string): Promise<string[]> {
    const rows = await db
      .selectFrom('deviceTags')
      .select('deviceId')
      .where('tagId', '=', tagId)
      .orderBy('deviceId')
      .execute();
    return rows.map((row) => row.deviceId);
  }
}

export const tagRows = new TagRows('tags', toRow, fromRow);

export interface DeviceTag {
  readonly deviceId: string;
  readonly tagId: string;
}
