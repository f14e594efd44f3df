// Intake fairness: what 16 senders of one organization cost the captures of another one.
// node bench/intake-fairness.ts [--seconds 8] [--only NAME] [--write]
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import process from 'node:process';
import { gzipSync } from 'node:zlib';
import { missing } from '../src/structures/missing.ts';
import { everyPermission } from '../src/model/principal.ts';
import {
  besidesPlatform,
  makeKey,
  makeOrganization,
  type OtherOrganization,
} from '../tests/world/restricted-keys.ts';
import { feltCaptures } from './load/felt-captures.ts';
import { type Goal, tellGoals } from './load/goals.ts';
import { httpRequest, mustSucceed, openConnection } from './load/http.ts';
import { longGarbageMs, probeVariable, type Turns } from './load/loop-probe.ts';
import { createDevices, createFlow, type Platform, withPlatform } from './load/platform.ts';
import { runStorm } from './load/request-storm.ts';
import { inTemporaryFolder } from './load/server-process.ts';
import { figure, markdownTable, publish, type Summary } from './load/measure.ts';

const { values: flags } = parseArgs({
  options: {
    seconds: { type: 'string', default: '8' },
    only: { type: 'string', default: '' },
    write: { type: 'boolean', default: false },
  },
});
const seconds = Number(flags.seconds);
const senders = 16;
const pauseMs = 20;
const script =
  'function consume(event) { emit("sample", { data: { double: event.data.value * 2 } }); }';

/** What the sending organization uses. */
interface Attacker {
  readonly apiKey: string;
  readonly secret: string;
  readonly pointsSecret: string;
}

type Load = (attacker: Attacker) => readonly Buffer[];

const json = { 'content-type': 'application/json' };
const many = <T>(count: number, make: (i: number) => T) =>
  Array.from({ length: count }, (_, i) => make(i));
const capture = ({ secret }: Attacker, type: string, body: string) =>
  httpRequest(
    'POST',
    `/v3/capture?secret=${secret}&deviceId=plain`,
    { 'content-type': type },
    body,
  );
const script1Mb = (i: number) => `function consume(){} ${i};${'0;'.repeat(499_000)}`;

const loads: Readonly<Record<string, Load>> = {
  'line protocol, 20,000 measurements': ({ pointsSecret }) =>
    many(4, (n) => {
      const body = many(20_000, (i) => `m${n}x${i},device=points v=${i}`).join('\n');
      return httpRequest('POST', '/api/v2/write', { authorization: `Token ${pointsSecret}` }, body);
    }),
  'gzip, 24 MB of lines from 24 kB': ({ pointsSecret }) => {
    const body = gzipSync(Buffer.alloc(24_000_000, 'm,device=points v=1\n'));
    const headers = { authorization: `Token ${pointsSecret}`, 'content-encoding': 'gzip' };
    return [httpRequest('POST', '/api/v2/write', headers, body)];
  },
  'SenML, 0.9 MB of names': (attacker) =>
    many(4, (n) => {
      const pack = many(900, (i) => ({ n: `${n}-${i}-`.padEnd(450, 'n'), v: i }));
      const more = many(900, (i) => ({ n: `${n}-${i}-`.padEnd(450, 'n'), v: i, t: -1 }));
      return capture(attacker, 'application/senml+json', JSON.stringify([...pack, ...more]));
    }),
  'NDJSON bulk': ({ apiKey }) =>
    many(4, (n) => {
      const lines = many(20_000, (i) =>
        JSON.stringify({
          deviceId: 'plain',
          timestamp: 1_700_000_000_000 + n * 1e8 + i,
          data: { a: i, b: 'text', c: { d: true } },
        }),
      );
      const headers = { 'x-api-key': apiKey, 'content-type': 'application/x-ndjson' };
      return httpRequest('POST', '/v3/samples/bulk', headers, lines.join('\n'));
    }),
  'JSON of 55,000 keys': (attacker) =>
    many(4, (n) =>
      capture(
        attacker,
        'application/json',
        JSON.stringify(Object.fromEntries(many(55_000, (i) => [`k${n}x${i}`, i]))),
      ),
    ),
  'run-script, sources of 1 MB': ({ apiKey }) =>
    many(24, (i) =>
      httpRequest(
        'POST',
        '/v3/run-script',
        { 'x-api-key': apiKey, ...json },
        JSON.stringify({ script: script1Mb(i), event: {} }),
      ),
    ),
  'MCP, tools/list': ({ apiKey }) => [
    httpRequest(
      'POST',
      '/mcp',
      { 'x-api-key': apiKey, ...json, accept: 'application/json, text/event-stream' },
      JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    ),
  ],
  'endless scripts': ({ apiKey }) => [
    httpRequest(
      'POST',
      '/v3/run-script',
      { 'x-api-key': apiKey, ...json },
      JSON.stringify({ script: 'function consume() { for (;;); }', event: {} }),
    ),
  ],
  'plain captures': (attacker) =>
    many(100, (i) => capture(attacker, 'application/json', `{"value":${i}}`)),
};

async function attackerIn(
  platform: Platform,
  { organizationId, workspaceId }: OtherOrganization,
  apiKey: string,
): Promise<Attacker> {
  const connection = await openConnection(platform.target);
  const headers = { 'x-api-key': apiKey, ...json };
  const make = async (path: string, body: object) => {
    const sent = { name: 'bench', organizationId, workspaceId, connectivity: 'HTTP', ...body };
    const answer = await connection.send(httpRequest('POST', path, headers, JSON.stringify(sent)));
    return JSON.parse(mustSucceed(answer).toString()) as { id: string; uplinkSecret: string };
  };
  const flowOf = async (deviceId: string, settings: object): Promise<string> => {
    const { id, uplinkSecret } = await make('/v3/device-connectors', {
      name: deviceId,
      ...settings,
    });
    const flow = await make('/v3/data-flows', {
      name: deviceId,
      deviceConnector: { id },
      passThrough: true,
      outputConnectors: [{ id: '0900000000000000', topic: '*' }],
    });
    await make('/v3/devices', { deviceId, dataFlowId: flow.id });
    return uplinkSecret;
  };
  const secret = await flowOf('plain', {});
  const pointsSecret = await flowOf('points', { lineProtocol: { topic: '{measurement}' } });
  connection.close();
  return { apiKey, secret, pointsSecret };
}

await inTemporaryFolder('intake', async (probeFolder) => {
  const probeFile = join(probeFolder, 'longest-turn');
  const settings = {
    NODE_OPTIONS: `--import ${new URL('load/loop-probe.ts', import.meta.url).href}`,
    [probeVariable]: probeFile,
  };
  await withPlatform(settings, (platform, folder) => measure(platform, folder, probeFile));
});

/** Of the platform's main thread since the last call. */
async function turnsOf({ server }: Platform, probeFile: string): Promise<Turns> {
  rmSync(probeFile, { force: true });
  process.kill(server.pid, 'SIGUSR2');
  while (!existsSync(probeFile)) await delay(10);
  return JSON.parse(readFileSync(probeFile, 'utf8')) as Turns;
}

async function measure(platform: Platform, folder: string, probeFile: string): Promise<void> {
  const directory = join(folder, 'data');
  const made = await besidesPlatform({ directory }, async (records) => {
    const other = await makeOrganization(records);
    const { organizationId } = other;
    const key = await makeKey(records, other, { organizationId, permissions: everyPermission });
    return { other, key };
  });
  const attacker = await attackerIn(platform, made.other, made.key);
  const flow = await createFlow(platform, script);
  await createDevices(platform, flow, ['scripted']);
  const devices = [{ deviceId: 'scripted', secret: flow.uplinkSecret }];
  const felt = async (): Promise<{ readonly felt: Summary; readonly turns: Turns }> => {
    await turnsOf(platform, probeFile);
    const [found = missing('captures')] = await feltCaptures(platform, devices, {
      seconds,
      pauseMs,
    });
    return { felt: found, turns: await turnsOf(platform, probeFile) };
  };
  await felt();
  const rows: string[][] = [];
  const goals: Goal[] = [];
  const add = (name: string, felt: Summary, idle: Summary, turns: Turns, answers: string) => {
    const row = [
      name,
      figure(felt.p50Ms),
      figure(felt.p99Ms),
      figure(felt.p99Ms / idle.p99Ms),
      figure(turns.metMs),
      figure(turns.longestMs),
      figure(turns.garbage.sumMs),
      figure(turns.garbage.longestMs),
      String(turns.garbage.longOnes),
      answers,
    ];
    console.log(row.join(' | '));
    rows.push(row);
  };
  for (const [name, load] of Object.entries(loads)) {
    if (!name.includes(flags.only)) continue;
    const requests = load(attacker);
    // The machine is not the same from minute to minute.
    const idle = await felt();
    add('idle', idle.felt, idle.felt, idle.turns, '');
    const storm = runStorm({
      target: platform.target,
      requests,
      inFlight: senders,
      warmSeconds: 1,
      seconds: seconds + 1,
    });
    await delay(1_000);
    const beside = await felt();
    const { accepted, refused } = await storm;
    const answers = `${accepted}, refused ${JSON.stringify(refused)}`;
    add(name, beside.felt, idle.felt, beside.turns, answers);
    goals.push({
      what: `p99 of a capture beside ${senders} senders of another organization: ${name}`,
      figure: beside.felt.p99Ms / idle.felt.p99Ms,
      of: 'the same just before',
      goal: 5,
      best: 'low',
    });
  }
  tellGoals(goals);
  const head = [
    '16 senders of another organization',
    'p50, ms',
    'p99, ms',
    'p99 by that of idle before',
    'turn of the main thread that a request meets, ms of processor time',
    'longest turn',
    'collections of garbage, ms',
    'longest',
    `longer than ${longGarbageMs} ms`,
    'answers to the senders',
  ];
  const words = `A scripted capture every ${pauseMs} ms, ${seconds} s for each load, generator on the same machine.`;
  const table = markdownTable(head, rows);
  publish('Captures beside 16 senders of another organization', [words, table], folder);
}
