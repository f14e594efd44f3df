// Script fairness: cost of one tenant's hostile scripts for another tenant's captures.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { besidesPlatform, makeKey, makeOrganization } from '../tests/world/restricted-keys.ts';
import { httpRequest, mustSucceed, openConnection } from './load/http.ts';
import { createDevices, createFlow, type Platform, startPlatform } from './load/platform.ts';
import { runStorm } from './load/request-storm.ts';
import {
  conditions,
  figure,
  markdownTable,
  summarize,
  type Summary,
  writeMeasurement,
} from './measure.ts';

const secondsPerLoad = Number(process.env['SECONDS_PER_LOAD'] ?? 12);
const pauseMs = 20;
const script =
  'function consume(event) { emit("sample", { data: { double: event.data.value * 2 } }); }';

interface Load {
  readonly name: string;
  readonly inFlight: number;
  /** Scripts that are sent in turn. */
  readonly sources: () => readonly string[];
}

const loop = () => ['function consume() { for (;;); }'];
const long = () =>
  Array.from({ length: 24 }, (_, i) => `function consume(){} ${i};${'0;'.repeat(499_000)}`);

const loads: readonly Load[] = [
  { name: 'none', inFlight: 0, sources: () => [] },
  { name: '12 endless loops', inFlight: 12, sources: loop },
  { name: '200 endless loops', inFlight: 200, sources: loop },
  { name: '12 sources of 1 MB', inFlight: 12, sources: long },
  {
    name: '12 stuck builtins',
    inFlight: 12,
    sources: () => ['function consume() { const a = []; a.length = 2 ** 32 - 1; a.indexOf(1); }'],
  },
  { name: 'none again', inFlight: 0, sources: () => [] },
];

interface Felt {
  readonly scripted: Summary;
  readonly plain: Summary;
}

/** One capture after the other, of a scripted and a pass-through device in turn. */
async function captures(platform: Platform, secrets: readonly [string, string]): Promise<Felt> {
  const connection = await openConnection(platform.target);
  const durations: [number[], number[]] = [[], []];
  const until = performance.now() + secondsPerLoad * 1_000;
  for (let n = 0; performance.now() < until; n++) {
    for (const which of [0, 1] as const) {
      const path = `/v3/capture?secret=${secrets[which]}&deviceId=${['scripted', 'plain'][which]}`;
      const request = httpRequest(
        'POST',
        path,
        { 'content-type': 'application/json' },
        JSON.stringify({ value: n }),
      );
      const startedAt = performance.now();
      mustSucceed(await connection.send(request));
      durations[which].push(performance.now() - startedAt);
    }
    await delay(pauseMs);
  }
  connection.close();
  return { scripted: summarize(durations[0]), plain: summarize(durations[1]) };
}

async function measured(
  platform: Platform,
  load: Load,
  key: string,
  secrets: readonly [string, string],
): Promise<Felt> {
  if (load.inFlight === 0) return captures(platform, secrets);
  const headers = { 'x-api-key': key, 'content-type': 'application/json' };
  const requests = load
    .sources()
    .map((source) =>
      httpRequest('POST', '/v3/run-script', headers, JSON.stringify({ script: source, event: {} })),
    );
  const storm = runStorm({
    target: platform.target,
    requests,
    inFlight: load.inFlight,
    warmSeconds: 2,
    seconds: secondsPerLoad,
  });
  await delay(2_000);
  const felt = await captures(platform, secrets);
  const { accepted, refused } = await storm;
  console.log(`${load.name}: ${accepted} answered, refused ${JSON.stringify(refused)}`);
  return felt;
}

const folder = mkdtempSync(join(tmpdir(), 'heliograph-fairness-'));
const platform = await startPlatform(folder);
try {
  const directory = join(folder, 'data');
  const hostile = await besidesPlatform({ directory }, async (records) => {
    const { organizationId } = await makeOrganization(records);
    return makeKey(records, { organizationId }, { permissions: { deviceType: ['read'] } });
  });
  const flow = await createFlow(platform, script);
  await createDevices(platform, flow, ['scripted']);
  const plainFlow = await createFlow(
    platform,
    'function consume(event) { emit("sample", event); }',
  );
  await platform.call('PUT', `/v3/data-flows/${plainFlow.dataFlowId}`, {
    deviceType: null,
    isPassThrough: true,
  });
  await createDevices(platform, plainFlow, ['plain']);
  const secrets = [flow.uplinkSecret, plainFlow.uplinkSecret] as const;
  await captures(platform, secrets);
  const rows: string[][] = [];
  let quiet: number | undefined;
  for (const load of loads) {
    const { scripted, plain } = await measured(platform, load, hostile, secrets);
    quiet ??= scripted.p50Ms;
    const ratio = figure(scripted.p50Ms / quiet);
    rows.push([
      load.name,
      ...[scripted.p50Ms, scripted.p99Ms].map(figure),
      ratio,
      figure(plain.p50Ms),
    ]);
  }
  const head = [
    'load of another tenant',
    'scripted p50, ms',
    'p99, ms',
    'p50 by the quiet one',
    'pass-through p50, ms',
  ];
  const text = `${conditions(folder)}\n\nOne capture at a time, ${secondsPerLoad} s for each load, generator on the same machine.\n\n${markdownTable(head, rows)}`;
  console.log(text);
  if (process.argv.includes('--write')) writeMeasurement('Captures during hostile scripts', text);
} finally {
  await platform.stop();
  rmSync(folder, { recursive: true, force: true });
}
