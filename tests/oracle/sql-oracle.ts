// The answers that SQL gives: rows in SQLite, its own aggregate functions, and buckets found by walking with Temporal.
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { Json } from '../../src/model/json.ts';
import type { Sample } from '../../src/model/sample.ts';
import type { OracleQuery } from './random-queries.ts';
import { hourMs } from '../../src/model/instant.ts';

const slotMs = 300_000;
const quarterMs = 900_000;

export interface OracleAnswer {
  readonly starts: readonly number[];
  /** Per device, per bucket. */
  readonly points: readonly (readonly (number | null)[])[];
}

export interface SqlOracle {
  readonly answer: (query: OracleQuery) => OracleAnswer;
  readonly close: () => void;
}

// `at` is what a bucket is chosen by: the time itself, or the start of its hour.
const rows = `from point where device = :device and topic = :topic and key = :key
  and (case when :hours then ts - ts % ${hourMs} else ts end) >= :a
  and (case when :hours then ts - ts % ${hourMs} else ts end) < :b`;
const selects: Readonly<Record<OracleQuery['accumulator'], string>> = {
  MIN: `select min(num) kpi, count(*) n ${rows}`,
  MAX: `select max(num) kpi, count(*) n ${rows}`,
  AVG: `select avg(num) kpi, count(*) n ${rows}`,
  SUM: `select sum(num) kpi, count(*) n ${rows}`,
  COUNT: `select count(*) kpi, count(*) n ${rows}`,
  FIRST: `select (select num ${rows} order by ts, seq limit 1) kpi, count(*) n ${rows}`,
  LAST: `select (select num ${rows} order by ts desc, seq desc limit 1) kpi, count(*) n ${rows}`,
  DISTINCT_COUNT: `select count(distinct text) kpi, count(*) n ${rows}`,
  MATCHED_COUNT: `select count(*) filter (where type = 'boolean' and num = 1) kpi, count(*) n ${rows}`,
  UNMATCHED_COUNT: `select count(*) filter (where type = 'boolean' and num = 0) kpi, count(*) n ${rows}`,
  OCCUPANCY: `select case when count(num) = 0 then null else
    count(distinct ts / ${slotMs}) filter (where num > 0 and ts - ts % ${slotMs} < :now) end kpi, count(*) n ${rows}`,
  STDDEV: `select case when count(num) > 1 then sqrt((select sum((num - mean) * (num - mean)) from
    (select num, avg(num) over () mean ${rows} and num is not null)) / (count(num) - 1)) end kpi, count(*) n ${rows}`,
  MEDIAN: `select (select avg(num) from (select num, row_number() over (order by num) place, count(*) over () total
    ${rows} and num is not null) where place in ((total + 1) / 2, (total + 2) / 2)) kpi, count(*) n ${rows}`,
  MODE: `select (select num from (select type, num, text, count(*) often ${rows} and text is not null group by type, num, text
    order by often desc, case type when 'number' then 0 when 'boolean' then 1 else 2 end, num, text limit 1)) kpi, count(*) n ${rows}`,
};

/** Loads the samples, one row per key, paths included. */
export function sqlOracle(samples: readonly Sample[], dataKeys: readonly string[]): SqlOracle {
  const db = new DatabaseSync(':memory:');
  db.exec(`create table point (device text, topic text, key text, ts integer, seq integer, type text, num real, text text);
    create index place on point (device, topic, key, ts)`);
  const insert = db.prepare('insert into point values (?, ?, ?, ?, ?, ?, ?, ?)');
  db.exec('begin');
  for (const [seq, { deviceId, topic, timestamp, data }] of samples.entries()) {
    for (const key of dataKeys) {
      const value = key === 'nested.level' ? (data['nested'] as { level: Json }).level : data[key];
      if (value === undefined || value === null) continue;
      const number = typeof value === 'number' || typeof value === 'boolean' ? Number(value) : null;
      const text = typeof value === 'object' ? null : String(value);
      insert.run(deviceId, topic, key, timestamp, seq, typeof value, number, text);
    }
  }
  db.exec('commit');
  const statements = new Map<string, StatementSync>();
  return {
    answer: (query) => {
      let statement = statements.get(query.accumulator);
      if (statement === undefined)
        statements.set(query.accumulator, (statement = db.prepare(selects[query.accumulator])));
      return answerOf(query, statement);
    },
    close: () => db.close(),
  };
}

function answerOf(query: OracleQuery, statement: StatementSync): OracleAnswer {
  const hours = query.source === 'hours';
  const from = hours ? query.from - (query.from % hourMs) : query.from;
  const to = hours && query.to % hourMs > 0 ? query.to - (query.to % hourMs) + hourMs : query.to;
  const isSeries = query.bucketInterval !== undefined;
  const starts =
    query.bucketInterval === undefined
      ? [from]
      : walkedStarts(from, to, query.bucketInterval, query.timeZone);
  const points = query.deviceIds.map((device) =>
    starts.map((a, i) => {
      const b = starts[i + 1] ?? to;
      const place = { device, topic: query.topic, key: query.dataKey, hours: Number(hours), a, b };
      // SQLite refuses names that a statement does not use.
      const row = statement.get(
        query.accumulator === 'OCCUPANCY' ? { ...place, now: query.now } : place,
      );
      if (isSeries && row?.['n'] === 0) return null;
      const kpi = row?.['kpi'] as number | null;
      if (query.accumulator !== 'OCCUPANCY' || kpi === null) return kpi;
      const slots = slotsBetween(a, b, hours, query.now);
      return slots === 0 ? null : (kpi / slots) * 100;
    }),
  );
  return { starts, points };
}

function slotsBetween(a: number, b: number, hours: boolean, now: number): number {
  let slots = 0;
  for (let slot = a - (a % slotMs) - hourMs; slot < b + hourMs; slot += slotMs) {
    const hour = slot - (slot % hourMs);
    const inside = hours ? hour >= a && hour < b : slot + slotMs > a && slot < b;
    if (inside && slot < now) slots++;
  }
  return slots;
}

function walkedStarts(from: number, to: number, interval: string, timeZone: string): number[] {
  const duration = Temporal.Duration.from(interval);
  const zoned = (ms: number) =>
    Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timeZone);
  if (duration.hours + duration.minutes === 0) {
    const today = zoned(from).toPlainDate();
    let date = today;
    if (duration.weeks > 0) date = today.subtract({ days: today.dayOfWeek - 1 });
    if (duration.months > 0) date = today.with({ day: 1 });
    if (duration.years > 0) date = today.with({ month: 1, day: 1 });
    const starts = [from];
    for (;;) {
      date = date.add(duration);
      const start = date.toZonedDateTime({ timeZone }).epochMilliseconds;
      if (start >= to) return starts;
      starts.push(start);
    }
  }
  // Every clock of these zones shows and changes whole quarters of an hour (Kathmandu's too) or of
  // five minutes.
  const bucketMs = duration.total('milliseconds');
  const step = Math.min(bucketMs, quarterMs);
  const local = (ms: number) => (bucketMs < hourMs ? ms : ms + zoned(ms).offsetNanoseconds / 1e6);
  const starts = [from];
  let before = local(from - (from % step));
  for (let ms = from - (from % step) + step; ms < to; ms += step) {
    const shown = local(ms);
    const jumped = Math.floor((shown - 1) / bucketMs) > Math.floor((before + step - 1) / bucketMs);
    if (shown % bucketMs === 0 || jumped) starts.push(ms);
    before = shown;
  }
  return starts;
}
