// Wrong sign-ins: cost of passwords that a stranger guesses for the captures of devices.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { httpRequest, mustSucceed, openConnection } from './load/http.ts';
import { createDevices, createFlow, type Platform, startPlatform } from './load/platform.ts';
import { runStorm } from './load/request-storm.ts';
import { conditions, figure, markdownTable, summarize, writeMeasurement } from './measure.ts';

const secondsPerLoad = Number(process.env['SECONDS_PER_LOAD'] ?? 10);
const pauseMs = 5;
/** Of sign-ins at once. Each is measured between two quiet ones. */
const loads = [0, 8, 0, 16, 0];

/** From an address each, because one address may soon fail no more. */
const guesses = Array.from({ length: 5_000 }, (_, n) =>
  httpRequest(
    'POST',
    '/v3/auth/login',
    {
      'content-type': 'application/json',
      'x-forwarded-for': `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`,
    },
    JSON.stringify({ email: `nobody${n}@example.org`, password: 'not the password' }),
  ),
);

async function captures(platform: Platform, secret: string) {
  const connection = await openConnection(platform.target);
  const durations: number[] = [];
  const until = performance.now() + secondsPerLoad * 1_000;
  for (let n = 0; performance.now() < until; n++) {
    const path = `/v3/capture?secret=${secret}&deviceId=device`;
    const headers = { 'content-type': 'application/json' };
    const request = httpRequest('POST', path, headers, JSON.stringify({ value: n }));
    const startedAt = performance.now();
    mustSucceed(await connection.send(request));
    durations.push(performance.now() - startedAt);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  connection.close();
  return summarize(durations);
}

const folder = mkdtempSync(join(tmpdir(), 'heliograph-sign-in-'));
const platform = await startPlatform(folder, { TRUSTED_PROXIES: '127.0.0.1' });
try {
  const flow = await createFlow(platform, 'function consume(event) { emit("sample", event); }');
  await createDevices(platform, flow, ['device']);
  await captures(platform, flow.uplinkSecret);
  const rows: string[][] = [];
  for (const inFlight of loads) {
    const storm =
      inFlight === 0
        ? undefined
        : runStorm({
            target: platform.target,
            requests: guesses,
            inFlight,
            warmSeconds: 0,
            seconds: secondsPerLoad,
          });
    const { p50Ms, p99Ms } = await captures(platform, flow.uplinkSecret);
    const { refused = {} } = (await storm) ?? {};
    const perSecond = (refused['401'] ?? 0) / secondsPerLoad;
    rows.push([String(inFlight), ...[p50Ms, p99Ms].map(figure), figure(perSecond)]);
  }
  const head = ['wrong sign-ins at once', 'capture p50, ms', 'p99, ms', 'passwords per second'];
  const text = `${conditions(folder)}\n\nOne capture at a time, ${secondsPerLoad} s for each load, generator on the same machine.\n\n${markdownTable(head, rows)}`;
  console.log(text);
  if (process.argv.includes('--write')) writeMeasurement('Captures during wrong sign-ins', text);
} finally {
  await platform.stop();
  rmSync(folder, { recursive: true, force: true });
}
