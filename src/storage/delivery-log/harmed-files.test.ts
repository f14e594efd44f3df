// Damaged files of the delivery log: the start and verify report what is lost.
import {
  copyFileSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { verifyDeliveryLog } from './segment.ts';
import { openTestLog, storedDelivery, testFolder } from './testing-log.ts';

const root = testFolder();
const [older, filled] = [join(root.directory, 'older'), join(root.directory, 'filled')];
const limits = { segmentRecords: 20 };
const count = 75;

/** Closed segments and an open one, with and without an index for its end, as a kill leaves it. */
beforeAll(async () => {
  const live = join(root.directory, 'live');
  const fill = async (from: number, to: number, end: 'stop' | 'kill') => {
    const { log } = await openTestLog(live, { limits });
    for (let n = from; n < to; n++) {
      log.append(storedDelivery(n, { state: 'DELIVERED', answer: `answer ${n}` }));
      if (n % 5 === 4) await log.write();
    }
    await log.sync();
    if (end === 'stop') await log.close();
    return log;
  };
  await fill(0, 30, 'stop');
  cpSync(live, older, { recursive: true });
  await fill(30, 65, 'stop');
  const log = await fill(65, count, 'kill');
  cpSync(live, filled, { recursive: true });
  await log.close();
});
afterAll(() => root.remove());

const files = [
  'first.deliveries',
  'second.deliveries',
  'last.deliveries',
  'first.index',
  'second.index',
  'last.index',
  'manifest.json',
];
const places: Readonly<Record<string, number>> = { first: 0, second: 1, last: -1 };

function pathOf(folder: string, file: string): string {
  const [which = '', kind] = file.split('.');
  if (which === 'manifest') return join(folder, file);
  const names = readdirSync(folder)
    .filter((name) => name.endsWith(`.${kind}`))
    .sort();
  return join(folder, names.at(places[which]!)!);
}

const harms: Readonly<Record<string, (path: string) => boolean | void>> = {
  missing: (path) => rmSync(path),
  emptied: (path) => truncateSync(path, 0),
  'cut in half': (path) => truncateSync(path, statSync(path).size >> 1),
  'one bit flipped': (path) => {
    const bytes = readFileSync(path);
    bytes[bytes.length >> 1]! ^= 4;
    writeFileSync(path, bytes);
  },
  'an older copy': (path) => {
    const copy = join(older, basename(path));
    if (!existsSync(copy) || readFileSync(copy).equals(readFileSync(path))) return false;
    copyFileSync(copy, path);
    return true;
  },
};

describe.each(files)('%s', (file) => {
  test.each(Object.keys(harms))('%s', async (harm) => {
    const folder = join(root.directory, `${file}-${harm}`.replaceAll(' ', '-'));
    cpSync(filled, folder, { recursive: true });
    if (harms[harm]!(pathOf(folder, file)) === false) return;
    const before = readdirSync(folder);
    const verified = await verifyDeliveryLog(folder, true);
    const { log, damage } = await openTestLog(folder, { limits });
    const rows = [...(await log.endedOf('c')).values()];
    const found = [];
    for (const { place } of rows) {
      const record = await log.read(place);
      if (record !== undefined) found.push(record);
    }
    await log.close();
    for (const { sequence, answer } of found) expect(answer).toBe(`answer ${sequence}`);
    expect(new Set(found.map(({ sequence }) => sequence)).size).toBe(found.length);
    if (found.length < count) expect(damage, 'nothing reported').not.toEqual([]);
    if (damage.length > 0) expect(verified.damage, 'not found by verify').not.toEqual([]);
    if (verified.damage.length > 0) expect(damage, 'found by verify alone').not.toEqual([]);
    const gone = before.filter((name) => !readdirSync(folder).includes(name));
    expect(gone, 'deleted').toEqual([]);
    rmSync(folder, { recursive: true });
  });
});

test('an intact folder has no damage, nor has one with a torn end', async () => {
  expect(await verifyDeliveryLog(filled, true)).toEqual({ records: count, damage: [] });
  const torn = join(root.directory, 'torn');
  cpSync(filled, torn, { recursive: true });
  const path = pathOf(torn, 'last.deliveries');
  const { size } = statSync(path);
  writeFileSync(path, Buffer.concat([readFileSync(path), readFileSync(path).subarray(0, 40)]));
  expect((await verifyDeliveryLog(torn, true)).damage).toEqual([]);
  const { log, damage } = await openTestLog(torn, { limits });
  log.append(storedDelivery(count, { state: 'DEAD' }));
  await log.close();
  expect([damage, statSync(path).size > size]).toEqual([[], true]);
  expect(await verifyDeliveryLog(torn, true)).toEqual({ records: count + 1, damage: [] });
});

test('a file of a newer version is refused', async () => {
  const newer = join(root.directory, 'newer');
  cpSync(filled, newer, { recursive: true });
  const { replaceChecked } = await import('../log/durable-file.ts');
  await replaceChecked(join(newer, 'manifest.json'), '{"format":2,"segments":[]}');
  await expect(openTestLog(newer)).rejects.toThrow('newer version');
});

test('a folder that had files and is gone is reported, a new one is not', async () => {
  const lost = join(root.directory, 'lost');
  expect((await verifyDeliveryLog(lost, false)).damage).toEqual([]);
  const reason = 'the manifest is missing';
  expect((await verifyDeliveryLog(lost, true)).damage).toEqual([{ path: lost, reason }]);
  const { log, damage } = await openTestLog(lost, { expected: true });
  await log.close();
  expect(damage).toEqual([{ path: lost, reason }]);
  const again = await openTestLog(lost, { expected: true });
  await again.log.close();
  expect(again.damage).toEqual([]);
});
