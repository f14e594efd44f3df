// A file that was cut anywhere, as by a crash, continues behind the last part that is whole.
import { mkdtempSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type ExportProgress, openExportFile } from './export-file.ts';

const head = Buffer.from('HEAD');
const parts = ['one', 'second', '', '3'].map((text, i) => ({
  bytes: Buffer.from(text),
  footer: Buffer.from(`f${i}`),
}));
const progressOf = (devices: number): ExportProgress => ({
  cursor: { deviceId: `d${devices}`, behind: null },
  devices,
  samples: 0,
  unreadable: 0,
});
const sizeOf = (path: string) => readFileSync(path).length;

test('parts after a crash', async () => {
  const property = fc.asyncProperty(
    fc.integer({ min: 0, max: parts.length }),
    fc.nat(400),
    fc.nat(20),
    async (written, logCut, fileCut) => {
      const folder = mkdtempSync(join(tmpdir(), 'export-file-'));
      const [log, growing] = [join(folder, 'parts.ndjson'), join(folder, 'growing')];
      const before = await openExportFile(folder, head);
      for (const [i, part] of parts.slice(0, written).entries())
        await before.append(part, progressOf(i + 1));
      truncateSync(log, Math.max(0, sizeOf(log) - logCut));
      truncateSync(growing, Math.max(0, sizeOf(growing) - fileCut));
      const file = await openExportFile(folder, head);
      const { devices } = file.progress();
      expect(devices).toBeLessThanOrEqual(written);
      if (logCut === 0 && fileCut === 0) expect(devices).toBe(written);
      for (const [i, part] of parts.entries())
        if (i >= devices) await file.append(part, progressOf(i + 1));
      expect((await file.footers()).map(String)).toEqual(['f0', 'f1', 'f2', 'f3']);
      const bytes = await file.complete(Buffer.from('TAIL'), 'done');
      expect(readFileSync(join(folder, 'done'), 'utf8')).toBe('HEADonesecond3TAIL');
      expect(bytes).toBe(18);
    },
  );
  await fc.assert(property, { numRuns: 60 });
});

test('reliability 5: a line of the log of which a power cut left only the end is not read', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'export-file-'));
  const log = join(folder, 'parts.ndjson');
  const before = await openExportFile(folder, head);
  for (const i of [0, 1]) await before.append(parts[i]!, progressOf(i + 1));
  const bytes = readFileSync(log);
  const first = bytes.indexOf('\n') + 1;
  // Pages that were not written are zeros, and those behind them may be there.
  writeFileSync(log, bytes.fill(0, first, bytes.length - 20));
  const file = await openExportFile(folder, head);
  expect(file.progress().devices).toBe(1);
  for (const i of [1, 2, 3]) await file.append(parts[i]!, progressOf(i + 1));
  expect((await file.footers()).map(String)).toEqual(['f0', 'f1', 'f2', 'f3']);
  await file.complete(Buffer.from('TAIL'), 'done');
  expect(readFileSync(join(folder, 'done'), 'utf8')).toBe('HEADonesecond3TAIL');
});
