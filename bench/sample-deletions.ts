// Sample deletions: captures while a day of 1,000 devices is deleted and 5,000 samples per second arrive.
// node bench/sample-deletions.ts [--devices 1000] [--rate 5000] [--seconds 10] [--write]
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { missing } from '../src/structures/missing.ts';
import { feltCaptures } from './load/felt-captures.ts';
import { type HttpConnection, httpRequest, mustSucceed, openConnection } from './load/http.ts';
import { figure, markdownTable, publish, type Summary, verdict } from './load/measure.ts';
import { apiKey, createDevices, createFlow, type Platform, withPlatform } from './load/platform.ts';

const { values: flags } = parseArgs({
  options: {
    devices: { type: 'string', default: '1000' },
    rate: { type: 'string', default: '5000' },
    seconds: { type: 'string', default: '10' },
    write: { type: 'boolean', default: false },
  },
});
const deviceCount = Number(flags.devices);
const rate = Number(flags.rate);
const seconds = Number(flags.seconds);
const minutes = 1_440;
const dayStart = Date.parse('2026-05-04T00:00:00Z');
const pauseMs = 20;
/** The p99 of captures may be at most this much higher than before. */
const ratioMax = 2;
const felt = 'felt';

const headers = { 'x-api-key': apiKey };
const nameOf = (n: number): string => `d${n}`;

interface Counted {
  readonly samples: number;
  readonly devices: number;
}

interface Deletion {
  readonly id: string;
  readonly completed: string | null;
  readonly actionsFailed: number;
}

/** A sample a minute of each device. */
async function fill(connection: HttpConnection): Promise<void> {
  const type = { ...headers, 'content-type': 'application/x-ndjson' };
  for (let n = 0; n < deviceCount; n += 5) {
    const lines: string[] = [];
    for (let device = n; device < Math.min(n + 5, deviceCount); device++)
      for (let minute = 0; minute < minutes; minute++)
        lines.push(
          JSON.stringify({
            deviceId: nameOf(device),
            timestamp: dayStart + minute * 60_000,
            data: { value: minute, flag: minute % 2 === 0 },
          }),
        );
    const request = httpRequest('POST', '/v3/samples/bulk', type, lines.join('\n'));
    mustSucceed(await connection.send(request));
  }
}

/** Samples of all devices in turn, at the rate, until the signal; returns how many were stored. */
async function arrive({ target }: Platform, signal: AbortSignal): Promise<number> {
  const connection = await openConnection(target);
  const startedAt = performance.now();
  const type = { ...headers, 'content-type': 'application/json' };
  let sent = 0;
  while (!signal.aborted) {
    const due = Math.floor(((performance.now() - startedAt) / 1_000) * rate);
    const samples = Array.from({ length: Math.min(1_000, due - sent) }, (_, i) => ({
      deviceId: nameOf((sent + i) % deviceCount),
      timestamp: Date.now() + i,
      data: { value: sent + i, flag: true },
    }));
    if (samples.length > 0) {
      const body = JSON.stringify(samples);
      mustSucceed(await connection.send(httpRequest('POST', '/v3/samples/bulk', type, body)));
      sent += samples.length;
    }
    await delay(pauseMs);
  }
  connection.close();
  return sent;
}

async function measure(platform: Platform, folder: string): Promise<void> {
  const connection = await openConnection(platform.target);
  const script = "function consume(event) { emit('sample', { data: event.data }); }";
  const flow = await createFlow(platform, script, { passThrough: true });
  const names = Array.from({ length: deviceCount }, (_, n) => nameOf(n));
  const deviceIds = (await createDevices(platform, flow, [...names, felt])).slice(0, -1);
  await fill(connection);
  const { workspaceId, call } = platform;
  const range = { from: new Date(dayStart).toISOString(), to: '2026-05-05T00:00:00Z' };
  const wanted = { workspaceId, deviceIds, ...range };
  const path = '/v3/samples/delete';
  const counted = await call<Counted>('POST', path, { ...wanted, dryRun: true });
  const devices = [{ deviceId: felt, secret: flow.uplinkSecret }];
  const captures = async (s: number): Promise<Summary> => {
    const [found = missing('captures')] = await feltCaptures(platform, devices, {
      seconds: s,
      pauseMs,
    });
    return found;
  };
  const stop = new AbortController();
  const arriving = arrive(platform, stop.signal);
  await captures(3);
  const before = await captures(seconds);
  const startedAt = performance.now();
  const { id } = await call<Deletion>('POST', path, wanted);
  const during = await captures(seconds);
  const look = () => call<Deletion>('GET', `/v3/operations/${id}?actions=none`);
  let operation = await look();
  while (operation.completed === null) {
    await delay(200);
    operation = await look();
  }
  const tookS = (performance.now() - startedAt) / 1_000;
  stop.abort();
  const arrived = await arriving;
  connection.close();
  const ratio = during.p99Ms / before.p99Ms;
  const table = markdownTable(
    ['captures', 'p50, ms', 'p99, ms', 'p99 by that before', `at most ${ratioMax}`],
    [
      ['before', figure(before.p50Ms), figure(before.p99Ms), '1', ''],
      [
        'while samples are deleted',
        figure(during.p50Ms),
        figure(during.p99Ms),
        figure(ratio),
        verdict(ratio <= ratioMax),
      ],
    ],
  );
  const words = `${counted.samples} samples of ${counted.devices} devices deleted within ${figure(tookS)} s, ${operation.actionsFailed} failed; ${arrived} samples arrived. A capture every ${pauseMs} ms for ${seconds} s, generator on the same machine.`;
  publish('Captures while samples are deleted', [words, table], folder);
}

await withPlatform({}, measure);
