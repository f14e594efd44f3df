// Retention and restarts: what was hidden does not come back, and new origins follow the rules immediately.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { dayMs } from '../../../../model/instant.ts';
import { keepAll, keeping } from '../../conformance/retention-times.ts';
import { allSamples, entryOf } from '../../conformance/sample-entries.ts';
import { openTestSamples, type TestSamples } from '../../testing-samples.ts';
import type { StoreLimits } from '../store-limits.ts';

const expired = keeping({ w1: 10 * dayMs });
const rowsEach = 200;

describe.each<[string, Partial<StoreLimits>]>([
  ['chunks', { chunkRowsMin: 1 }],
  ['runs', {}],
])('%s', (_, ofKind) => {
  let directory: string;
  let store: TestSamples;
  const open = () => openTestSamples({ directory, now: () => 1, limits: ofKind });
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'heliograph-retention-'));
    store = await open();
  });
  afterEach(async () => {
    await store.close();
    rmSync(directory, { recursive: true });
  });

  async function send(device: string, day: number, rows = rowsEach): Promise<number> {
    const samples = Array.from({ length: rows }, (__, i) => ({
      at: day * dayMs + i,
      data: { value: i },
    }));
    return (await store.append(entryOf(device, samples))).duplicates;
  }

  async function count(device: string): Promise<number> {
    return (await allSamples(store, device)).length;
  }

  test('a preview counts what the rules would drop, also of blocks that are partly older, and drops nothing', async () => {
    for (let day = 1; day <= 20; day++) await send('d0', day);
    await store.append(entryOf('kept', [{ at: dayMs, data: { value: 1 }, dataFlowId: 'f' }]));
    const half = keeping({ w1: 11 * dayMs }, { f: 0 });
    for (const isSealed of [false, true]) {
      if (isSealed) await store.sealAll();
      const { samples, bytes } = await store.previewExpiry('w1', half);
      expect(samples, `sealed: ${isSealed}`).toBeGreaterThan(9 * rowsEach);
      expect(samples, `sealed: ${isSealed}`).toBeLessThan(11 * rowsEach);
      expect(bytes).toBeGreaterThan(100);
      expect(await store.previewExpiry('w2', half)).toEqual({ samples: 0, bytes: 0 });
      expect(await store.previewExpiry('w1', keepAll)).toEqual({ samples: 0, bytes: 0 });
      expect(await store.previewExpiry('w1', keeping({ w1: 99 * dayMs }, { f: 0 }))).toMatchObject({
        samples: 20 * rowsEach,
      });
    }
    expect(await count('d0')).toBe(20 * rowsEach);
    await store.retain(keeping({ w1: 99 * dayMs }, { f: 0 }));
    expect((await store.previewExpiry('w1', keeping({ w1: 99 * dayMs }, { f: 0 }))).samples).toBe(
      0,
    );
  });

  async function restart(): Promise<void> {
    await store.close();
    store = await open();
  }

  test('samples that expired do not come back by a restart, and are not there twice when they are sent again', async () => {
    for (let i = 0; i < 20; i++) await send(`d${i}`, i === 0 ? 1 : 20);
    await store.sealAll();
    await store.retain(expired);
    expect(await count('d0')).toBe(0);
    await store.retain(keepAll);
    const before = await count('d0');
    await restart();
    expect(await count('d0')).toBe(before);
    await store.retain(expired);
    await store.retain(keepAll);
    await send('d0', 1);
    await restart();
    expect(await count('d0')).toBe(rowsEach);
  });

  test('a sample of a data flow that sends for the first time is hidden immediately when it is too old', async () => {
    await send('d0', 20);
    await store.retain(keeping({ w1: 10 * dayMs }, { lenient: 0, strict: 30 * dayMs }));
    const flows = { other: 1, lenient: 2, strict: 20, 'strict and new': 20 };
    for (const [dataFlowId, day] of Object.entries(flows))
      await store.append(
        entryOf(dataFlowId, [{ at: day * dayMs, data: { value: 1 }, dataFlowId }]),
      );
    for (const isSealed of [false, true]) {
      if (isSealed) await store.sealAll();
      const found = await Promise.all(Object.keys(flows).map(count));
      expect(found, `sealed: ${isSealed}`).toEqual([0, 1, 0, 1]);
    }
  });
});
