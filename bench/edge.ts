// Cost of a request at the edge: hot routes at one client, compared with a bare node:http server.
// node bench/edge.ts [--rounds 6] [--requests 400] [--seconds 5] [--in-flight 64] [--write]
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type BareAnswers, bareAnswersCommand, caseHeader } from './load/bare-answers.ts';
import {
  type HttpConnection,
  httpRequest,
  type HttpTarget,
  mustSucceed,
  openPatientConnection,
} from './load/http.ts';
import { apiKey, createDevices, createFlow, type Platform, withPlatform } from './load/platform.ts';
import { runStorm } from './load/request-storm.ts';
import {
  freePort,
  type RunningServer,
  startServer,
  untilListening,
} from './load/server-process.ts';
import { figure, markdownTable, publish } from './load/measure.ts';
import { dataJsonAt, deviceColumns, deviceName, endMsOf, workloadW } from './load/workload.ts';

const { values: flags } = parseArgs({
  options: {
    rounds: { type: 'string', default: '6' },
    requests: { type: 'string', default: '400' },
    seconds: { type: 'string', default: '5' },
    'in-flight': { type: 'string', default: '64' },
    write: { type: 'boolean', default: false },
  },
});
const rounds = Number(flags.rounds);
const requestsPerRound = Number(flags.requests);
const goalOverBareMs = 0.15;
const days = 7;
const bulkMax = 1_000;
const capturingDevices = 100;
const ticksPerSecond = 100;
const shape = { ...workloadW, devices: 1, days };
const columns = deviceColumns(shape, 0);
const json = { 'content-type': 'application/json' };
const [health, capture] = ['GET /health/live', 'capture, pass-through'];

interface Case {
  readonly name: string;
  /** Whole requests, sent in turn. */
  readonly requests: readonly Buffer[];
  /** How many times less often than others it is sent. */
  readonly share?: number;
}

/** A server with the one client that asks it. */
interface Asked {
  readonly server: RunningServer;
  readonly target: HttpTarget;
  readonly connection: HttpConnection;
}

interface Cost {
  readonly durationsMs: number[];
  cpuMs: number;
}

await withPlatform({}, async (platform, folder) => {
  const cases = await casesOf(platform);
  const ours = await asked(platform.server, platform.target);
  const answers = join(folder, 'answers.json');
  writeFileSync(answers, JSON.stringify(await answersTo(cases, ours.connection)));
  const target = { host: '127.0.0.1', port: await freePort() };
  const server = startServer(bareAnswersCommand(folder, target.port, answers));
  await untilListening(server, target.port);
  const bare = await asked(server, target);
  try {
    const rows: string[][] = [];
    for (const one of cases) rows.push(await compared(one, bare, ours));
    const storms = [];
    for (const one of cases.filter(({ name }) => name === capture || name === health))
      storms.push(await stormed(one, bare, ours));
    report(rows, storms);
  } finally {
    bare.connection.close();
    ours.connection.close();
    await server.stop();
  }
});

async function asked(server: RunningServer, target: HttpTarget): Promise<Asked> {
  return { server, target, connection: await openPatientConnection(target) };
}

async function casesOf(platform: Platform): Promise<Case[]> {
  const flow = await createFlow(platform, 'function consume() {}', { passThrough: true });
  const names = Array.from({ length: capturingDevices }, (_, i) => deviceName(i));
  const [deviceId] = await createDevices(platform, flow, names);
  await fill(platform, deviceId!);
  const whole = interval(shape.startMs, endMsOf(shape));
  const day = interval(shape.startMs + 90 * 60_000, shape.startMs + 90 * 60_000 + 86_400_000);
  const hours = interval(shape.startMs + 3_600_000, shape.startMs + 25 * 3_600_000);
  const average = { topic: 'default', dataKey: 'temperature', accumulator: 'AVG' };
  const query = (name: string, path: string, body: object): Case => {
    const headers = { ...json, [caseHeader]: name, 'x-api-key': apiKey };
    const target = `/v3/devices/${deviceId}/query${path}`;
    return { name, requests: [httpRequest('POST', target, headers, JSON.stringify(body))] };
  };
  const captures = names.map((name) => {
    const target = `/v3/capture?secret=${flow.uplinkSecret}&deviceId=${name}`;
    return httpRequest('POST', target, { ...json, [caseHeader]: capture }, dataJsonAt(columns, 0));
  });
  return [
    { name: health, requests: [httpRequest('GET', '/health/live', { [caseHeader]: health })] },
    { name: capture, requests: captures },
    query('last 100 samples', '', { topic: 'default', limit: 100 }),
    { ...query('last 10,000 samples', '', { topic: 'default', limit: 10_000 }), share: 20 },
    query('raw AVG over 24 h', '/raw/kpi', { ...average, interval: day }),
    query('raw AVG over 24 h by PT1H', '/raw/time-series', {
      ...average,
      interval: hours,
      bucketInterval: 'PT1H',
    }),
    query('hourly AVG over all', '/aggregated/hourly/kpi', { ...average, interval: whole }),
    query('hourly AVG over all by P1D', '/aggregated/hourly/time-series', {
      ...average,
      interval: whole,
      bucketInterval: 'P1D',
    }),
  ];
}

function interval(from: number, to: number) {
  return { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
}

/** Seven days of minutes. */
async function fill(platform: Platform, deviceId: string): Promise<void> {
  for (let from = 0; from < columns.length; from += bulkMax) {
    const items = [];
    for (let i = from; i < Math.min(columns.length, from + bulkMax); i++)
      items.push({
        timestamp: new Date(columns.timestamp[i]!).toISOString(),
        data: JSON.parse(dataJsonAt(columns, i)) as object,
      });
    await platform.call('POST', `/v3/devices/${deviceId}/backfill/bulk`, items);
  }
}

/** What the platform answers, for the bare server to answer the same. */
async function answersTo(cases: readonly Case[], connection: HttpConnection): Promise<BareAnswers> {
  const answers: Record<string, { status: number; body: string }> = {};
  for (const { name, requests } of cases) {
    const answer = await connection.send(requests[0]!);
    answers[name] = { status: answer.status, body: mustSucceed(answer).toString() };
  }
  return answers;
}

/** In alternation, so that both see the same state of the machine. */
async function compared(one: Case, bare: Asked, ours: Asked): Promise<string[]> {
  const [ofBare, ofOurs] = [emptyCost(), emptyCost()];
  await timed(one, bare, emptyCost());
  await timed(one, ours, emptyCost());
  for (let round = 0; round < rounds; round++) {
    await timed(one, bare, ofBare);
    await timed(one, ours, ofOurs);
  }
  const [bareP50, oursP50] = [rank(ofBare, 0.5), rank(ofOurs, 0.5)];
  const over = oursP50 - bareP50;
  return [
    one.name,
    ms(bareP50),
    ms(oursP50),
    ms(over),
    ms(rank(ofBare, 0.9)),
    ms(rank(ofOurs, 0.9)),
    ...[ofBare, ofOurs].map(({ cpuMs, durationsMs }) => us(cpuMs / durationsMs.length)),
  ];
}

function emptyCost(): Cost {
  return { durationsMs: [], cpuMs: 0 };
}

async function timed(
  { requests, share = 1 }: Case,
  { server, connection }: Asked,
  cost: Cost,
): Promise<void> {
  const cpuBefore = cpuMsOf(server.pid);
  const count = requestsPerRound / share;
  for (let i = 0; i < count; i++) {
    const startMs = performance.now();
    const { status } = await connection.send(requests[i % requests.length]!);
    cost.durationsMs.push(performance.now() - startMs);
    if (status > 299) throw new Error(`answered ${status}`);
  }
  cost.cpuMs += cpuMsOf(server.pid) - cpuBefore;
}

/** Processor time of all threads, to a hundredth of a second. */
function cpuMsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ');
  return ((Number(fields[11]) + Number(fields[12])) / ticksPerSecond) * 1_000;
}

async function stormed(one: Case, bare: Asked, ours: Asked): Promise<string[]> {
  const cells: string[] = [];
  for (const { server, target } of [bare, ours]) {
    const cpuBefore = cpuMsOf(server.pid);
    const { perSecond, accepted } = await runStorm({
      target,
      requests: one.requests,
      inFlight: Number(flags['in-flight']),
      warmSeconds: 2,
      seconds: Number(flags.seconds),
    });
    cells.push(figure(perSecond), us((cpuMsOf(server.pid) - cpuBefore) / accepted));
  }
  return [one.name, ...cells];
}

function rank({ durationsMs }: Cost, share: number): number {
  return durationsMs.toSorted((a, b) => a - b)[Math.floor(durationsMs.length * share)]!;
}

function ms(value: number): string {
  return `${figure(value)} ms`;
}

function us(value: number): string {
  return `${figure(value * 1_000)} us`;
}

function report(rows: readonly string[][], storms: readonly string[][]): void {
  const head = ['one client', 'bare p50', 'p50', 'over bare', 'bare p90', 'p90', 'bare CPU', 'CPU'];
  const stormHead = [
    `${flags['in-flight']} in flight`,
    'bare per second',
    'bare CPU',
    'per second',
    'CPU',
  ];
  publish('Single requests', [
    `${rounds} rounds of ${requestsPerRound} requests over one connection, in alternation with a bare node:http server that answers the same body. CPU: of all threads of the server, a request. Goal: at most ${goalOverBareMs} ms over the bare server.`,
    markdownTable(head, rows),
    markdownTable(stormHead, storms),
  ]);
}
