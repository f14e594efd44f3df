// Samples as SQL lists them: newest first, in pages, and the newest of each topic.
import { DatabaseSync } from 'node:sqlite';
import type { Sample } from '../../src/model/sample.ts';

export interface PageQuery {
  readonly deviceId: string;
  readonly topic?: string;
  readonly from: number;
  readonly to: number;
  readonly limit: number;
  readonly skip: number;
}

export interface SqlSamples {
  /** One line a sample, see `lineOf`. */
  readonly page: (query: PageQuery) => readonly string[];
  readonly latest: (deviceId: string) => readonly string[];
  readonly close: () => void;
}

export function lineOf({ topic, timestamp, data }: Omit<Sample, 'deviceId'>): string {
  return `${timestamp} ${topic} ${JSON.stringify(data)}`;
}

/** Loads the samples, which are in the order of storing. */
export function sqlSamples(samples: readonly Sample[]): SqlSamples {
  const db = new DatabaseSync(':memory:');
  db.exec(`create table sample (device text, topic text, ts integer, seq integer, line text);
    create index place on sample (device, ts, seq)`);
  const insert = db.prepare('insert into sample values (?, ?, ?, ?, ?)');
  db.exec('begin');
  for (const [seq, sample] of samples.entries())
    insert.run(sample.deviceId, sample.topic, sample.timestamp, seq, lineOf(sample));
  db.exec('commit');
  const page = db.prepare(`select line from sample
    where device = :deviceId and (:topic is null or topic = :topic) and ts >= :from and ts < :to
    order by ts desc, seq desc limit :limit offset :skip`);
  const latest = db.prepare(`select line from (select topic, line, ts,
    row_number() over (partition by topic order by ts desc, seq desc) place from sample
    where device = ?) where place = 1 order by ts desc, topic`);
  const lines = (rows: readonly Record<string, unknown>[]) => rows.map(({ line }) => String(line));
  return {
    page: (query) => lines(page.all({ topic: null, ...query })),
    latest: (deviceId) => lines(latest.all(deviceId)),
    close: () => db.close(),
  };
}
