// Script fairness: cost of one tenant's hostile scripts for another tenant's captures.
// node bench/script-fairness.ts [--seconds 12] [--write]
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { missing } from '../src/structures/missing.ts';
import { besidesPlatform, makeKey, makeOrganization } from '../tests/world/restricted-keys.ts';
import { feltCaptures } from './load/felt-captures.ts';
import { type Goal, tellGoals } from './load/goals.ts';
import { httpRequest } from './load/http.ts';
import { createDevices, createFlow, withPlatform } from './load/platform.ts';
import { runStorm } from './load/request-storm.ts';
import { figure, markdownTable, publish } from './load/measure.ts';

const { values: flags } = parseArgs({
  options: {
    seconds: { type: 'string', default: '12' },
    write: { type: 'boolean', default: false },
  },
});
const seconds = Number(flags.seconds);
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

await withPlatform({}, async (platform, folder) => {
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
  const devices = [
    { deviceId: 'scripted', secret: flow.uplinkSecret },
    { deviceId: 'plain', secret: plainFlow.uplinkSecret },
  ];
  const felt = () => feltCaptures(platform, devices, { seconds, pauseMs: 20 });
  const underLoad = async ({ name, inFlight, sources }: Load) => {
    if (inFlight === 0) return felt();
    const headers = { 'x-api-key': hostile, 'content-type': 'application/json' };
    const requests = sources().map((source) =>
      httpRequest('POST', '/v3/run-script', headers, JSON.stringify({ script: source, event: {} })),
    );
    const storm = runStorm({
      target: platform.target,
      requests,
      inFlight,
      warmSeconds: 2,
      seconds,
    });
    await delay(2_000);
    const found = await felt();
    const { accepted, refused } = await storm;
    console.log(`${name}: ${accepted} answered, refused ${JSON.stringify(refused)}`);
    return found;
  };
  await felt();
  const rows: string[][] = [];
  const goals: Goal[] = [];
  let quiet: number | undefined;
  for (const load of loads) {
    const [scripted = missing('captures'), plain = missing('captures')] = await underLoad(load);
    quiet ??= scripted.p50Ms;
    const figures = [scripted.p50Ms, scripted.p99Ms, scripted.p50Ms / quiet, plain.p50Ms];
    rows.push([load.name, ...figures.map(figure)]);
    if (load.name.startsWith('none')) continue;
    goals.push({
      what: `p50 of a scripted capture beside ${load.name} of another organization`,
      figure: scripted.p50Ms / quiet,
      of: 'the same without',
      goal: 3,
      best: 'low',
    });
  }
  tellGoals(goals);
  const head = [
    'load of another tenant',
    'scripted p50, ms',
    'p99, ms',
    'p50 by the quiet one',
    'pass-through p50, ms',
  ];
  const words = `One capture at a time, ${seconds} s for each load, generator on the same machine.`;
  publish('Captures during hostile scripts', [words, markdownTable(head, rows)], folder);
});
