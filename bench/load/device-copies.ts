// Device copies: a fleet of any size, multiplied in the records database from some devices made through the API.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** The n-th device of a fleet; `serial` is the value of its custom field of that name. */
export interface FleetDevice {
  readonly name: string;
  readonly deviceId: string;
  readonly serial: string;
}

const rooms = ['roof', 'cellar', 'hall', 'office'] as const;

export function fleetDevice(n: number): FleetDevice {
  return {
    name: `Sensor ${(n * 7_919) % 1_000_003} ${rooms[n % rooms.length]}`,
    deviceId: deviceIdOf(n),
    serial: `SN-${n}`,
  };
}

export function deviceIdOf(n: number): string {
  return `EUI-${String(n).padStart(8, '0')}`;
}

/** The same name in SQL, of the number `n`. */
const nameSql = `'Sensor ' || ((n.n * 7919) % 1000003) || ' ' || case n.n % 4 ${rooms.map((room, i) => `when ${i} then '${room}'`).join(' ')} end`;
const deviceIdSql = `printf('EUI-%08d', n.n)`;

const copiedDevice: Readonly<Record<string, string>> = {
  id: 'n.id',
  name: nameSql,
  deviceId: deviceIdSql,
  deviceIdKey: `lower(${deviceIdSql})`,
  nameKey: `lower(${nameSql})`,
  searchText: `lower(${nameSql} || char(10) || ${deviceIdSql} || char(10) || n.id)`,
};

/** A string that contains the number of its template, as serial numbers do, gets that of the copy. */
const copiedField: Readonly<Record<string, string>> = {
  deviceId: 'n.id',
  value: `replace(t."value", 'SN-' || n.of, 'SN-' || n.n)`,
  textKey: `replace(t."textKey", 'sn-' || n.of, 'sn-' || n.n)`,
};

/**
 * Multiplies the fleet devices 0 to `templates` - 1 of a data folder, with tags and custom fields,
 * until there are `total`. The ids are random as those of the API; the audit log is not written.
 * The platform must not run on the folder.
 */
export function multiplyDevices(directory: string, templates: number, total: number): void {
  const database = new DatabaseSync(join(directory, 'records.sqlite'));
  database.exec('pragma journal_mode = wal; pragma synchronous = off; pragma cache_size = -524288');
  database.exec('pragma foreign_keys = off; begin');
  database.exec(`create temp table numbers as
    with recursive n(i) as (select ${templates} union all select i + 1 from n where i < ${total - 1})
    select i as n, i % ${templates} as of, '02' || lower(hex(randomblob(7))) as id from n`);
  database.exec(`create temp table templates as
    select cast(substr("deviceId", 5) as integer) as n, id from devices where "deviceId" like 'EUI-%'`);
  database.exec('create unique index temp.templateNumbers on templates(n)');
  const source = 'numbers n join templates o on o.n = n.of';
  const copied = [
    ['devices', 'id', copiedDevice],
    ['deviceTags', 'deviceId', { deviceId: 'n.id' }],
    ['deviceCustomFields', 'deviceId', copiedField],
  ] as const;
  for (const [table, key, values] of copied) {
    const names = columnsOf(database, table);
    const selected = names.map((name) => values[name as keyof typeof values] ?? `t."${name}"`);
    database.exec(`insert into "${table}" (${names.map((name) => `"${name}"`).join(', ')})
      select ${selected.join(', ')} from ${source} join "${table}" t on t."${key}" = o.id`);
  }
  database.exec('commit; pragma analysis_limit = 1000; analyze');
  database.exec('pragma wal_checkpoint(truncate)');
  database.close();
}

/**
 * The status of every device but one in `silent`: the last uplinks are spread over two days before
 * `now`, so that one half is online.
 */
export function addStatus(directory: string, silent: number, now: number): void {
  const database = new DatabaseSync(join(directory, 'records.sqlite'));
  const at = `${now} - (rowid * 7919 % 172800) * 1000`;
  database.exec('pragma synchronous = off; begin');
  database.exec(`insert or replace into "deviceStatus" ("deviceId", "lastUplinkAt", "uplinkMetrics", "workspaceId", "onlineUntil")
    select id, ${at}, json_object('uplinkId', 'u', 'deviceId', id, 'uplinkSize', 20, 'timestamp', ${at}, 'batteryLevel', rowid % 101),
      "workspaceId", case when "registered" = 0 then null else ${at} + "onlineTimeoutSeconds" * 1000 end
    from devices where rowid % ${silent} <> 0`);
  database.exec('commit; pragma wal_checkpoint(truncate)');
  database.close();
}

function columnsOf(database: DatabaseSync, table: string): string[] {
  return database
    .prepare(`pragma table_info("${table}")`)
    .all()
    .map(({ name }) => String(name));
}
