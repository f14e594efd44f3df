// File backfill: CSV and NDJSON, unchanged exports, errors by line, and resuming after an interruption.
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  backfillFile,
  type FileFormat,
  placePathOf,
  reportPathOf,
} from '../../clients/file-backfill/file-backfill.ts';
import { createClient } from '../../clients/typescript/client.ts';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

let world: World;
const folder = mkdtempSync(join(tmpdir(), 'heliograph-file-backfill-'));
beforeAll(async () => {
  world = await startWorld();
});
afterAll(async () => {
  await world.close();
  rmSync(folder, { recursive: true, force: true });
});

const command = join(import.meta.dirname, '..', '..', 'clients', 'file-backfill', 'command.ts');
const at = (minute: number) => new Date(Date.UTC(2026, 0, 5, 0, minute)).toISOString();

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [command, ...args], (error, out, err) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, out, err });
    });
  });
}

async function samplesOf(
  device: TestDevice,
): Promise<{ topic: string; timestamp: string; data: unknown; meta?: unknown }[]> {
  return world.must('POST', `/v3/devices/${device.id}/query`, { topic: '*', limit: 10_000 });
}

async function exportOf(device: TestDevice, format: FileFormat): Promise<string> {
  const path = `${world.base}/v3/devices/${device.id}/export?format=${format}`;
  return (await fetch(path, { headers: { 'x-api-key': world.apiKey } })).text();
}

test('the command loads a CSV file: nested keys, quotes, both kinds of ids, errors by line', async () => {
  const [first, second] = [await world.device(), await world.device()];
  const path = file(
    'mixed.csv',
    [
      '\ufefftimestamp,deviceId,topic,temperature,place.floor,label,open',
      `${at(0)},${first.deviceId},climate,21.5,2,"two, words",true`,
      `${at(1)},${second.id},,-3,,007,false`,
      `${at(2)},unknown-device,,1,,,`,
      `not a time,${first.id},,1,,,`,
      '',
      `${at(3)},${first.id},default,,,"a ""quoted""\nline",`,
      `${at(4)},${first.id},default,4,,,`,
    ].join('\r\n'),
  );
  const { code, out } = await run(path, '--url', world.base, '--key', world.apiKey);
  expect(out).toContain('100 % 4 samples');
  expect(out).toContain('2 lines could not be stored');
  expect(code).toBe(1);
  const errors = readFileSync(reportPathOf(path), 'utf8').trim().split('\n');
  expect(errors.map((line) => JSON.parse(line))).toMatchObject([
    { line: 4, errorCode: 'NO_SUCH_DEVICE' },
    { line: 5, errorCode: '40003_TIMESTAMP_INVALID' },
  ]);
  expect(await samplesOf(first)).toMatchObject([
    { timestamp: at(4), data: { temperature: 4 } },
    { timestamp: at(3), topic: 'default', data: { label: 'a "quoted"\nline' } },
    {
      topic: 'climate',
      data: { temperature: 21.5, place: { floor: 2 }, label: 'two, words', open: true },
    },
  ]);
  expect(await samplesOf(second)).toMatchObject([
    { topic: 'default', data: { temperature: -3, label: '007', open: false } },
  ]);
  expect(existsSync(placePathOf(path))).toBe(false);
});

for (const format of ['csv', 'ndjson'] as const)
  test(`what an export writes as ${format} is loaded into another device as it is`, async () => {
    const [from, to] = [await world.device(), await world.device()];
    const odd = [
      {
        timestamp: at(0),
        data: { n: 1, text: '=1+1', list: [1, { a: 'b' }] },
        meta: { by: 'hand' },
      },
      {
        timestamp: at(1),
        topic: 'other',
        data: { nested: { deep: { yes: true } }, text: 'semi;colon, and "quotes"' },
      },
    ];
    await world.must('POST', `/v3/devices/${from.id}/backfill/bulk`, odd);
    const text = (await exportOf(from, format)).replaceAll(from.id, to.deviceId);
    const { code } = await run(
      file(`export.${format}`, text),
      '--url',
      world.base,
      '--key',
      world.apiKey,
    );
    expect(code).toBe(0);
    const plain = (samples: Awaited<ReturnType<typeof samplesOf>>) =>
      samples.map(({ topic, timestamp, data, meta }) => ({ topic, timestamp, data, meta }));
    expect(plain(await samplesOf(to))).toEqual(plain(await samplesOf(from)));
  });

test.each<[FileFormat, (ms: number) => string]>([
  ['csv', (ms) => `timestamp,a,b\n${ms},9007199254740993,"{""c"":-12345678901234567890}"\n5,1,2\n`],
  [
    'ndjson',
    (ms) =>
      `{"timestamp":${ms},"data":{"a":9007199254740993,"b":{"c":-12345678901234567890}}}\n{"timestamp":5,"data":{"a":1}}\n`,
  ],
])('review behaviour 13, 14: %s has exact integers and milliseconds', async (format, textOf) => {
  const device = await world.device();
  const ms = Date.parse(at(0));
  const path = file(`exact.${format}`, textOf(ms));
  await run(path, '--url', world.base, '--key', world.apiKey, '--device', device.id);
  const exact = { a: '9007199254740993', b: { c: '-12345678901234567890' } };
  expect(await samplesOf(device)).toMatchObject([{ timestamp: at(0), data: exact }]);
  expect(readFileSync(reportPathOf(path), 'utf8')).toContain('seconds? send milliseconds');
});

test('an interrupted run resumes after its last window, and nothing is stored twice', async () => {
  const device = await world.device();
  const lines = Array.from({ length: 2_500 }, (_, n) =>
    JSON.stringify({ timestamp: at(n), data: { n } }),
  );
  const path = file('long.ndjson', `${lines.join('\n')}\n{"broken\n`);
  const client = createClient({ url: world.base, apiKey: world.apiKey });
  const options = {
    path,
    format: 'ndjson',
    client,
    device: device.deviceId,
    windowRecords: 400,
  } as const;
  const stopping = new AbortController();
  const stopped = backfillFile({
    ...options,
    signal: stopping.signal,
    told: ({ accepted }) => {
      if (accepted >= 1_200) stopping.abort();
    },
  });
  await expect(stopped).rejects.toThrow();
  expect(JSON.parse(readFileSync(placePathOf(path), 'utf8'))).toMatchObject({ line: 1_200 });
  const rest = await backfillFile({
    ...options,
    signal: new AbortController().signal,
    told: () => undefined,
  });
  expect(rest).toMatchObject({ accepted: 1_300, duplicates: 0, errors: 1, resumedAtLine: 1_200 });
  expect(readFileSync(reportPathOf(path), 'utf8')).toContain('"line":2501,"errorCode":"NOT_JSON"');
  expect(await samplesOf(device)).toHaveLength(2_500);
  const again = await backfillFile({
    ...options,
    signal: new AbortController().signal,
    told: () => undefined,
  });
  expect(again).toMatchObject({ accepted: 0, duplicates: 2_500, resumedAtLine: 0 });
});

test('what cannot work is said: no arguments, no column timestamp, a key that is refused', async () => {
  expect(await run()).toMatchObject({
    code: 2,
    err: expect.stringContaining('usage: npm run backfill -- FILE'),
  });
  const path = file('odd.csv', 'time,value\n1,2\n');
  expect(await run(path, '--url', world.base, '--key', world.apiKey)).toMatchObject({
    code: 1,
    err: expect.stringContaining('has no column timestamp'),
  });
  const lines = file(
    'one.ndjson',
    `${JSON.stringify({ timestamp: at(0), deviceId: 'x', data: {} })}\n`,
  );
  expect(await run(lines, '--url', world.base, '--key', 'wrong.key')).toMatchObject({
    code: 1,
    err: expect.stringContaining('401'),
  });
});
