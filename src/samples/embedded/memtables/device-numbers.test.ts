// Device numbers outlive restarts, crashes in the middle of a batch, and harmed files are told.
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { DamagedChunk } from '../chunks/chunk.ts';
import { openDeviceNumbers } from './device-numbers.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'heliograph-device-numbers-'));
  path = join(folder, 'devices.bin');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('numbers go up, stay, and are the same after a restart', () => {
  const numbers = openDeviceNumbers(path, 0);
  expect(['a', 'b', 'a', 'c'].map(numbers.assign)).toEqual([0, 1, 0, 2]);
  numbers.save();
  numbers.assign('d"\n');
  numbers.save();
  numbers.assign('never saved');
  const again = openDeviceNumbers(path, 4);
  expect([0, 1, 2, 3, 4].map(again.idOf)).toEqual(['a', 'b', 'c', 'd"\n', undefined]);
  expect(again.numberOf('c')).toBe(2);
  expect(again.numberOf('never saved')).toBeUndefined();
});

test('what was written behind the last commit does not count, and is written over', () => {
  const numbers = openDeviceNumbers(path, 0);
  numbers.assign('a');
  numbers.save();
  numbers.assign('lost');
  numbers.save();
  appendFileSync(path, 'half a batch');
  const again = openDeviceNumbers(path, 1);
  expect(again.assign('b')).toBe(1);
  again.save();
  expect(openDeviceNumbers(path, 2).idOf(1)).toBe('b');
});

test('a device that is deleted and comes back has another number', () => {
  const numbers = openDeviceNumbers(path, 0);
  numbers.assign('a');
  expect(numbers.retire('a')).toBe(0);
  expect(numbers.numberOf('a')).toBeUndefined();
  expect(numbers.assign('a')).toBe(1);
});

test('harm is told', () => {
  const numbers = openDeviceNumbers(path, 0);
  for (let i = 0; i < 100; i++) numbers.assign(`device ${i}`);
  numbers.save();
  const whole = readFileSync(path);
  for (let at = 0; at < whole.length; at += 11) {
    const harmed = Buffer.from(whole);
    harmed[at] = harmed[at]! ^ 4;
    writeFileSync(path, harmed);
    expect(() => openDeviceNumbers(path, 100), `byte ${at}`).toThrow(DamagedChunk);
  }
  writeFileSync(path, whole.subarray(0, 50));
  expect(() => openDeviceNumbers(path, 100)).toThrow(DamagedChunk);
});
