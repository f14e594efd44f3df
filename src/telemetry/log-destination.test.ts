// The log's destination over a real pipe whose reader stands still: nothing waits, the bound holds, what is dropped is told.
import { spawnSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { LogDestination } from './log.ts';

let folder: string;
let reading: number;
let writing: number;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'log-'));
  const path = join(folder, 'pipe');
  spawnSync('mkfifo', [path]);
  reading = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  writing = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
});
afterEach(() => {
  closeSync(reading);
  rmSync(folder, { recursive: true });
});

function readAll(): string {
  const block = Buffer.alloc(1024 * 1024);
  let text = '';
  for (;;) {
    try {
      const bytes = readSync(reading, block);
      if (bytes === 0) return text;
      text += block.toString('utf8', 0, bytes);
    } catch {
      return text;
    }
  }
}

test('review reliability 15: lines beyond the bound are dropped and counted, the others come whole and in order', async () => {
  const log = new LogDestination(writing, 200_000, () => 0);
  const line = (i: number) => `${JSON.stringify({ i, text: 'x'.repeat(980) })}\n`;
  const total = 1_000;
  for (let i = 0; i < total; i++) log.write(line(i));
  const dropped = log.dropped();
  // A pipe holds 64 KiB, and the bound some two hundred lines.
  expect(dropped).toBeGreaterThan(600);
  let text = '';
  for (let i = 0; i < 50 && !text.includes('dropped'); i++) {
    text += readAll();
    await log.flush(1);
  }
  const lines = text
    .trimEnd()
    .split('\n')
    .map((one) => JSON.parse(one) as { i?: number });
  expect(lines.slice(0, -1).map(({ i }) => i)).toEqual(
    Array.from({ length: total - dropped }, (_, i) => i),
  );
  expect(lines.at(-1)).toEqual({
    level: 'warn',
    time: '1970-01-01T00:00:00.000Z',
    lines: dropped,
    msg: 'log lines dropped',
  });
});

test('review reliability 15: a flush ends when its time is over, and a reader that is gone takes nothing down', async () => {
  const log = new LogDestination(writing, 200_000);
  for (let i = 0; i < 100; i++) log.write('x'.repeat(1_500));
  const startedAt = performance.now();
  await log.flush(50);
  expect(performance.now() - startedAt).toBeLessThan(5_000);
  closeSync(reading);
  reading = openSync(join(folder, 'pipe'), constants.O_RDONLY | constants.O_NONBLOCK);
  closeSync(reading);
  expect(() => log.write('y')).not.toThrow();
  reading = openSync('/dev/null', 'r');
});
