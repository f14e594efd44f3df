// Device numbers outlive restarts, crashes in the middle of a batch, and the loss of one copy; harm is reported.
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { DamagedChunk } from '../chunks/chunk.ts';
import { DeviceNumbers } from './device-numbers.ts';

let folder: string;
let paths: readonly [string, string];
let damage: string[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'heliograph-device-numbers-'));
  paths = [join(folder, 'devices.bin'), join(folder, 'devices-copy.bin')];
  damage = [];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function open(needed = 0): DeviceNumbers {
  return new DeviceNumbers(paths, needed, (path, reason) =>
    damage.push(`${path.slice(folder.length + 1)}: ${reason}`),
  );
}

test('numbers go up, stay, and are the same after a restart', async () => {
  const numbers = open();
  expect(['a', 'b', 'a', 'c'].map((id) => numbers.assign(id))).toEqual([0, 1, 0, 2]);
  await numbers.save();
  numbers.assign('d"\n');
  await numbers.save();
  numbers.assign('never saved');
  const again = open(4);
  expect([0, 1, 2, 3, 4].map((number) => again.idOf(number))).toEqual([
    'a',
    'b',
    'c',
    'd"\n',
    undefined,
  ]);
  expect(again.numberOf('c')).toBe(2);
  expect(again.numberOf('never saved')).toBeUndefined();
  expect(damage).toEqual([]);
});

test('fleet 6: 300,000 devices that one save wrote are read at the next start', async () => {
  const devices = 300_000;
  const numbers = open();
  for (let i = 0; i < devices; i++) numbers.assign(`02${i}`);
  await numbers.save();
  const again = open(devices);
  expect(again.count()).toBe(devices);
  expect(again.numberOf(`02${devices - 1}`)).toBe(devices - 1);
  expect(damage).toEqual([]);
});

test('a batch that a crash cut off does not count, and is written over', async () => {
  const numbers = open();
  numbers.assign('a');
  await numbers.save();
  for (const path of paths) appendFileSync(path, 'half a batch');
  const again = open(1);
  expect(again.assign('b')).toBe(1);
  await again.save();
  expect(open(2).idOf(1)).toBe('b');
});

test('a device that is deleted and comes back has another number, also after restarts', async () => {
  const numbers = open();
  numbers.assign('a');
  numbers.assign('b');
  expect(numbers.retire('a')).toBe(0);
  expect(numbers.retire('unknown')).toBeUndefined();
  await numbers.save();
  const again = open(2);
  expect(again.numberOf('a')).toBeUndefined();
  expect([...again.retired]).toEqual([0]);
  expect(again.assign('a')).toBe(2);
  await again.save();
  const last = open(3);
  expect(last.numberOf('a')).toBe(2);
  expect([...last.retired]).toEqual([0]);
});

test.each([0, 1])('copy %i can be lost or harmed: the other one has everything', async (copy) => {
  const numbers = open();
  for (let i = 0; i < 100; i++) numbers.assign(`device ${i}`);
  await numbers.save();
  const whole = readFileSync(paths[copy]!);
  for (let at = 0; at < whole.length; at += 29) {
    const harmed = Buffer.from(whole);
    harmed[at] = harmed[at]! ^ 4;
    writeFileSync(paths[copy]!, harmed);
    expect(open(100).idOf(99), `byte ${at}`).toBe('device 99');
    expect(damage.splice(0)).toEqual([
      `devices${copy === 0 ? '' : '-copy'}.bin: It cannot be read from byte 0 on`,
    ]);
  }
  rmSync(paths[copy]!);
  const repaired = open(100);
  expect(damage).toEqual([`devices${copy === 0 ? '' : '-copy'}.bin: The file is missing`]);
  repaired.assign('one more');
  await repaired.save();
  expect(readFileSync(paths[0])).toEqual(readFileSync(paths[1]));
});

test('a crash between the two copies is no damage as long as the runs need no more', async () => {
  const numbers = open();
  numbers.assign('a');
  await numbers.save();
  const before = readFileSync(paths[1]);
  numbers.assign('b');
  await numbers.save();
  writeFileSync(paths[1], before);
  expect(open(1).idOf(1)).toBe('b');
  expect(damage).toEqual([]);
  expect(open(2).idOf(1)).toBe('b');
  expect(damage).toEqual(['devices-copy.bin: It has fewer devices than its copy']);
});

test('without either copy nothing is guessed', async () => {
  const numbers = open();
  numbers.assign('a');
  await numbers.save();
  for (const path of paths) rmSync(path);
  expect(() => open(1)).toThrow(DamagedChunk);
  expect(open(0).count()).toBe(0);
});
