// Power rounds: captures, rules and webhooks during edits of records and steps of the clock, with power failures; all promises are checked.
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type HttpConnection, httpRequest, openConnection } from '../../bench/load/http.ts';
import { databaseConnectorId } from '../../src/model/ids.ts';
import { call } from '../load/kill-checks.ts';
import { apiKey, type PlatformProcess, startProcess } from '../load/platform-process.ts';
import { type SteppingClock, steppingClock } from '../servers/preloaded.ts';
import { type CutMode, powerWorld } from './power-world.ts';

export interface PowerReport {
  acknowledged: number;
  /** Captures that were in flight at a cut and sent again with their key. */
  retried: number;
  edits: number;
  /** Steps of the clock, forth and back. */
  clockSteps: number;
  readonly violations: string[];
}

interface Sender {
  readonly id: string;
  readonly deviceId: string;
  readonly path: string;
  sent: number;
  /** The last one was not answered. */
  isOpen: boolean;
}

/** Of each device, the sequence numbers in the order they came first. */
type Arrivals = Map<string, Set<number>>;

const devicesCount = 4;
const acknowledgedEachRound = 60;
const cutDelayMsMax = 30;
/** How far the clock may be ahead, in milliseconds: as after NTP, and as after hours of a suspended machine. */
const clockAheadMs = [0, 5_000, -5_000, 6 * 3_600_000, -6 * 3_600_000];
const acknowledgedEachStep = 20;
/** How long nothing may arrive before what is missing counts as lost; a busy machine is slow, but goes on. */
const stuckAfterMs = 60_000;
const counting = `function consume(event) {
  const count = (event.state.count || 0) + 1;
  emit('state', { count });
  emit('sample', { data: { ...event.data, count } });
}`;

export async function powerRounds(
  library: string,
  rounds: number,
  modeOf: (round: number) => CutMode,
  random: () => number,
): Promise<PowerReport> {
  const root = mkdtempSync(join(tmpdir(), 'heliograph-power-'));
  const world = powerWorld(root, library);
  const clock = steppingClock(root);
  const settings = {
    ...world.settings,
    ...clock.settings,
    EGRESS_ALLOW: '127.0.0.0/8',
    LD_PRELOAD: `${library}:${clock.settings.LD_PRELOAD}`,
  };
  const sink = await startSink();
  const report: PowerReport = {
    acknowledged: 0,
    retried: 0,
    edits: 0,
    clockSteps: 0,
    violations: [],
  };
  let platform = await startProcess(world.data, settings);
  try {
    const made = await makeRecords(platform, sink.url);
    for (let round = 0; round < rounds; round++) {
      await loadUntilCut(platform, made, clock, report, random);
      world.cut(modeOf(round), random);
      platform = await startProcess(world.data, settings);
      await retryOpen(platform, made.senders, report);
    }
    await untilNone(
      () => missing(sink.delivered, made.senders) + missing(sink.fired, made.senders),
    );
    await check(platform, made, sink, report);
  } finally {
    await platform.end('SIGKILL');
    await sink.close();
    rmSync(root, { recursive: true, force: true });
  }
  return report;
}

async function startSink() {
  const delivered: Arrivals = new Map();
  const fired: Arrivals = new Map();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('error', () => undefined);
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as {
        deviceId: string;
        data: { sequence: number };
      };
      const arrivals = request.url === '/fired' ? fired : delivered;
      const ofDevice = arrivals.get(body.deviceId) ?? new Set();
      arrivals.set(body.deviceId, ofDevice.add(body.data.sequence));
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    delivered,
    fired,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Made {
  readonly workspaceId: string;
  readonly ruleId: string;
  readonly senders: readonly Sender[];
}

async function makeRecords(platform: PlatformProcess, url: string): Promise<Made> {
  type Record = { readonly id: string; readonly uplinkSecret: string };
  const connection = await openConnection(platform.target);
  const workspaceId = platform.idOf('Workspace')!;
  const organizationId = platform.idOf('Organization');
  const make = (path: string, body: object) =>
    call<Record>(connection, 'POST', `/v3/${path}`, { name: 'power', workspaceId, ...body });
  const hook = (uri: string, more: object = {}) =>
    make('output-connectors', { type: 'WEBHOOK', webhookProperties: { uri }, ...more });
  const output = await hook(`${url}/delivered`);
  const action = await hook(`${url}/fired`, { scope: 'RULE_ACTION', sendConsecutiveAlerts: true });
  const connector = await make('device-connectors', { connectivity: 'HTTP' });
  const type = await make('device-types', {
    organizationId,
    type: 'manual',
    meta: {},
    uplinkScript: { code: counting },
  });
  const flow = await make('data-flows', {
    deviceConnector: { id: connector.id },
    deviceType: { id: type.id },
    outputConnectors: [output.id, databaseConnectorId].map((id) => ({ id, topic: '*' })),
  });
  const senders: Sender[] = [];
  for (let i = 0; i < devicesCount; i++) {
    const deviceId = `power-${i}`;
    const { id } = await make('devices', { deviceId, dataFlowId: flow.id, connectivity: 'HTTP' });
    const path = `/v3/capture?secret=${connector.uplinkSecret}&deviceId=${deviceId}`;
    senders.push({ id, deviceId, path, sent: 0, isOpen: false });
  }
  const ids = senders.map(({ id }) => id);
  const rule = await make('rules', {
    inputs: ids.map((id) => ({ id, type: 'DEVICE' })),
    logic: {
      type: 'COMPARISON',
      dataSources: [
        {
          id: 's',
          inputIds: ids,
          dataTopic: 'default',
          dataKey: 'sequence',
          valueType: 'NUMERICAL',
        },
      ],
      logicBlocks: [
        {
          actionIds: [action.id],
          conditions: [
            {
              operandFirst: { type: 'DATA_SOURCE', dataSourceId: 's' },
              operator: 'GT',
              operandSecond: { type: 'CONSTANT', value: 0 },
              order: 0,
            },
          ],
        },
      ],
    },
    actions: [{ id: action.id }],
  });
  connection.close();
  return { workspaceId, ruleId: rule.id, senders };
}

async function loadUntilCut(
  platform: PlatformProcess,
  made: Made,
  clock: SteppingClock,
  report: PowerReport,
  random: () => number,
): Promise<void> {
  const stopping = new AbortController();
  const before = report.acknowledged;
  const work = [
    ...made.senders.map((sender) => keepSending(platform, sender, report, stopping.signal)),
  ];
  work.push(keepEditing(platform, made, report, stopping.signal));
  for (let step = 0; step * acknowledgedEachStep < acknowledgedEachRound; step++) {
    clock.set(clockAheadMs[Math.floor(random() * clockAheadMs.length)] ?? 0);
    report.clockSteps += 1;
    const wanted = before + (step + 1) * acknowledgedEachStep;
    await untilNone(() => Math.max(0, wanted - report.acknowledged));
  }
  await delay(random() * cutDelayMsMax);
  stopping.abort();
  await platform.end('SIGKILL');
  await Promise.all(work);
}

async function send(
  connection: HttpConnection,
  sender: Sender,
  report: PowerReport,
): Promise<void> {
  const headers = {
    'content-type': 'application/json',
    'idempotency-key': `${sender.deviceId} ${sender.sent}`,
  };
  const body = JSON.stringify({ sequence: sender.sent });
  const answer = await connection.send(httpRequest('POST', sender.path, headers, body));
  if (answer.status !== 201) {
    report.violations.push(
      `${sender.deviceId} ${sender.sent}: ${answer.status} ${answer.body.toString()}`,
    );
  } else report.acknowledged++;
  sender.isOpen = false;
}

async function keepSending(
  platform: PlatformProcess,
  sender: Sender,
  report: PowerReport,
  stop: AbortSignal,
) {
  const connection = await openConnection(platform.target);
  try {
    while (!stop.aborted) {
      sender.sent++;
      sender.isOpen = true;
      await send(connection, sender, report);
    }
  } catch (error) {
    if (!stop.aborted) throw error;
  } finally {
    connection.close();
  }
}

/** Tags come and go, devices and the rule change: none of it may cost a rule a sample. */
async function keepEditing(
  platform: PlatformProcess,
  made: Made,
  report: PowerReport,
  stop: AbortSignal,
) {
  const connection = await openConnection(platform.target);
  const { workspaceId, ruleId, senders } = made;
  const ask = async (method: string, path: string, body?: object): Promise<{ id: string }> => {
    const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
    const text = body === undefined ? '' : JSON.stringify(body);
    const answer = await connection.send(httpRequest(method, path, headers, text));
    if (answer.status >= 300)
      throw new Error(`${method} ${path}: ${answer.status} ${answer.body.toString()}`);
    report.edits++;
    return (answer.body.length === 0 ? {} : JSON.parse(answer.body.toString())) as { id: string };
  };
  try {
    for (let turn = 0; !stop.aborted; turn++) {
      const tag = await ask('POST', '/v3/tags', { name: `tag ${turn}`, workspaceId });
      await ask('PUT', `/v3/devices/${senders[turn % senders.length]!.id}`, {
        name: `device ${turn}`,
      });
      await ask('PUT', `/v3/rules/${ruleId}`, { name: `rule ${turn}` });
      await ask('DELETE', `/v3/tags/${tag.id}`);
    }
  } catch (error) {
    if (!stop.aborted) throw error;
  } finally {
    connection.close();
  }
}

async function retryOpen(
  platform: PlatformProcess,
  senders: readonly Sender[],
  report: PowerReport,
): Promise<void> {
  const connection = await openConnection(platform.target);
  for (const sender of senders) {
    if (!sender.isOpen) continue;
    report.retried++;
    await send(connection, sender, report);
  }
  connection.close();
}

function missing(arrivals: Arrivals, senders: readonly Sender[]): number {
  return senders.reduce(
    (sum, { deviceId, sent }) => sum + Math.max(0, sent - (arrivals.get(deviceId)?.size ?? 0)),
    0,
  );
}

/** Waits until nothing is left, or until what is left has not become less for a while. */
async function untilNone(left: () => number): Promise<void> {
  let least = left();
  let changedAt = performance.now();
  while (least > 0 && performance.now() - changedAt < stuckAfterMs) {
    await delay(5);
    const now = left();
    if (now < least) {
      least = now;
      changedAt = performance.now();
    }
  }
}

async function check(
  platform: PlatformProcess,
  { senders }: Made,
  { delivered, fired }: { readonly delivered: Arrivals; readonly fired: Arrivals },
  { violations }: PowerReport,
): Promise<void> {
  const connection = await openConnection(platform.target);
  for (const { id, deviceId, sent } of senders) {
    const path = `/v3/devices/${id}/query`;
    type Found = { readonly data: { readonly sequence: number; readonly count: number } };
    const found = await call<Found[]>(connection, 'POST', path, { limit: 10_000 });
    const wanted = Array.from({ length: sent }, (_, i) => i + 1);
    const compare = (what: string, numbers: readonly number[]): void => {
      const times = Map.groupBy(numbers, (one) => one);
      for (const one of wanted)
        if (!times.has(one)) violations.push(`${deviceId} ${one}: no ${what}`);
      for (const [one, list] of times)
        if (list.length > 1) violations.push(`${deviceId} ${one}: ${what} twice`);
    };
    compare(
      'sample',
      found.map(({ data }) => data.sequence),
    );
    compare(
      'run of its decoder',
      found.map(({ data }) => data.count),
    );
    const came = [...(delivered.get(deviceId) ?? [])];
    compare('delivery', came);
    compare('run of the rule', [...(fired.get(deviceId) ?? [])]);
    if (came.some((one, i) => i > 0 && one < came[i - 1]!))
      violations.push(`${deviceId}: deliveries out of order`);
  }
  connection.close();
}
