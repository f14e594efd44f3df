// The records database: what is durable, what is refused, what is encrypted.
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openRecords } from './records.ts';
import { testEngine } from './testing-engine.ts';
import { processingLogLimits, processingLogRows } from './rows/payload-notes.ts';
import { deviceStateRows, deviceStatusRows } from './rows/device-status.ts';
import { followerPositionRows } from './rows/positions.ts';
import { Sealer, secretPrefix, secretsKey } from './secret-encryption.ts';

let directory: string;
const announce = () => {};
const page = { page: 0, size: 20, sort: [] };

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'records-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

test('a new folder gets the tables, and opening it again keeps what was written', async () => {
  const first = await openRecords({ directory, engine: testEngine(directory), announce });
  await followerPositionRows.save(first.db, 'hours', 7);
  await followerPositionRows.save(first.db, 'hours', 2 ** 45);
  await first.close();
  const again = await openRecords({ directory, engine: testEngine(directory), announce });
  expect(await followerPositionRows.find(again.db, 'hours')).toBe(2 ** 45);
  expect(await followerPositionRows.find(again.db, 'rules')).toBeUndefined();
  await again.close();
});

test('a transaction that fails leaves nothing, and what ran beside it stays', async () => {
  const records = await openRecords({ directory, engine: testEngine(directory), announce });
  const failing = records.db.transaction().execute(async (step) => {
    await followerPositionRows.save(step, 'a', 1);
    throw new Error('stop');
  });
  await Promise.all([
    expect(failing).rejects.toThrow('stop'),
    followerPositionRows.save(records.db, 'b', 2),
  ]);
  expect(await followerPositionRows.find(records.db, 'a')).toBeUndefined();
  expect(await followerPositionRows.find(records.db, 'b')).toBe(2);
  await records.close();
});

test('the key file is made once, for its owner alone, and opens what it sealed', () => {
  const key = secretsKey(directory);
  expect(secretsKey(directory)).toEqual(key);
  expect(statSync(join(directory, 'secrets.key')).mode & 0o077).toBe(0);
  const sealed = new Sealer(key).seal('hunter2');
  expect(sealed).not.toContain('hunter2');
  expect(new Sealer(key).open(sealed)).toBe('hunter2');
  expect(() => new Sealer(secretsKey(directory, 'another')).open(sealed)).toThrow();
  expect(() => new Sealer(key).open(`${sealed.slice(0, -6)}AAAA==`)).toThrow();
});

test('a key given by the operator leaves no key file', async () => {
  await (
    await openRecords({ directory, engine: testEngine(directory), secretsKey: 'given', announce })
  ).close();
  expect(existsSync(join(directory, 'secrets.key'))).toBe(false);
});

test.each([
  ['0123456789abcdef.7a9d', '01234'],
  ['0123456789abcdef.0b5e6a4e-9b1c-4a53-8f55-5d7b1f3e2c11', '01234567'],
  ['abc', ''],
])('the prefix of %s is %s', (secret, prefix) => expect(secretPrefix(secret)).toBe(prefix));

test('uplink metrics: the newest stay, an older uplink changes nothing', async () => {
  const records = await openRecords({ directory, engine: testEngine(directory), announce });
  const metrics = (timestamp: number) => ({
    uplinkId: `u${timestamp}`,
    deviceId: 'd',
    uplinkSize: 3,
    timestamp,
  });
  await deviceStatusRows.saveMetrics(records.db, [metrics(10), metrics(30), metrics(20)]);
  expect((await deviceStatusRows.metrics(records.db, ['d', 'e'])).get('d')).toEqual(metrics(30));
  await deviceStateRows.save(records.db, new Map([['d', { n: 1 }]]));
  await deviceStateRows.save(records.db, new Map([['d', { n: 2 }]]));
  expect([...(await deviceStateRows.find(records.db, ['d', 'e']))]).toEqual([['d', { n: 2 }]]);
  await records.close();
});

test('processing log: newest first, bounded by count and age, repetitions change nothing', async () => {
  const records = await openRecords({ directory, engine: testEngine(directory), announce });
  const entry = (n: number, deviceId = 'd') => ({
    id: `${deviceId}${n}`,
    deviceId,
    timestamp: n,
    level: n % 2 === 0 ? ('WARN' as const) : ('ERROR' as const),
    source: 'UPLINK' as const,
    message: `note ${n}`,
    correlationId: 'c',
    ...(n === 3 ? { details: { n } } : {}),
  });
  await processingLogRows.append(
    records.db,
    [entry(1), entry(2), entry(2), entry(3), entry(4), entry(9, 'other')],
    3,
  );
  const list = async (filter: object) =>
    (await processingLogRows.list(records.db, { deviceId: 'd', ...filter }, page)).rows.map(
      (row) => row.id,
    );
  expect(await list({})).toEqual(['d4', 'd3', 'd2']);
  expect(await list({ from: 3 })).toEqual(['d4', 'd3']);
  expect(await list({ to: 4 })).toEqual(['d3', 'd2']);
  expect(await list({ level: 'WARN' })).toEqual(['d4', 'd2']);
  expect((await processingLogRows.list(records.db, { deviceId: 'd' }, page)).rows[1]).toEqual(
    entry(3),
  );
  await processingLogRows.dropOld(records.db, processingLogLimits.ageMsMax + 4);
  expect(await list({})).toEqual(['d4']);
  await records.close();
});
