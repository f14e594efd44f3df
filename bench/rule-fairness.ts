// Rule fairness: how long rules of one workspace wait while another one opens thousands of alarms.
// node bench/rule-fairness.ts [--alarms 9000] [--write]
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import {
  type HttpConnection,
  httpRequest,
  inLanes,
  mustSucceed,
  openConnection,
  openConnections,
} from './load/http.ts';
import { apiKey, type Platform, withPlatform } from './load/platform.ts';
import { figure, markdownTable, publish, summarize } from './load/measure.ts';

const { values: flags } = parseArgs({
  options: {
    alarms: { type: 'string', default: '9000' },
    write: { type: 'boolean', default: false },
  },
});
const alarms = Number(flags.alarms);
const lanes = 64;
const headers = { 'content-type': 'application/json' };

interface Side {
  readonly ruleId: string;
  readonly path: string;
}

type Made = { readonly id: string; readonly uplinkSecret: string };

/** A device whose rule opens an alarm for each value of `key`. */
async function createSide(platform: Platform, name: string): Promise<Side> {
  const { organizationId } = platform;
  const make = (path: string, body: object) => platform.call<Made>('POST', path, { name, ...body });
  const { id: workspaceId } = await make('/v3/workspaces', { organizationId });
  const alarm = await make('/v3/output-connectors', {
    workspaceId,
    scope: 'RULE_ACTION',
    type: 'ALARM',
    alarmProperties: { name: 'Alarm {{data.key}}', key: 'k-{{data.key}}', severity: 'MAJOR' },
  });
  const connector = await make('/v3/device-connectors', { workspaceId, connectivity: 'HTTP' });
  const flow = await make('/v3/data-flows', {
    workspaceId,
    deviceConnector: { id: connector.id },
    passThrough: true,
    outputConnectors: [{ id: '0900000000000000', topic: '*' }],
  });
  const device = { workspaceId, deviceId: name, dataFlowId: flow.id, connectivity: 'HTTP' };
  const { id: deviceId } = await make('/v3/devices', device);
  const source = { id: 's', inputIds: [deviceId], dataTopic: 'default', dataKey: 'key' };
  const condition = {
    operandFirst: { type: 'DATA_SOURCE', dataSourceId: 's' },
    operator: 'GT',
    operandSecond: { type: 'CONSTANT', value: -1 },
  };
  const { id: ruleId } = await make('/v3/rules', {
    workspaceId,
    inputs: [{ id: deviceId, type: 'DEVICE' }],
    actions: [{ id: alarm.id }],
    logic: {
      type: 'COMPARISON',
      dataSources: [{ ...source, valueType: 'NUMERICAL' }],
      logicBlocks: [{ conditions: [condition], actionIds: [alarm.id] }],
    },
  });
  const path = `/v3/capture?secret=${connector.uplinkSecret}&deviceId=${name}`;
  return { ruleId, path };
}

/** The value that the rule evaluated last. */
async function lastValue(connection: HttpConnection, ruleId: string): Promise<number> {
  type Runs = { readonly content: readonly { readonly inputs: readonly { value: number }[] }[] };
  const path = `/v3/rules/${ruleId}/runs?size=1`;
  const answer = await connection.send(httpRequest('GET', path, { 'x-api-key': apiKey }));
  const { content } = JSON.parse(mustSucceed(answer).toString()) as Runs;
  return content[0]?.inputs[0]?.value ?? -1;
}

/** From the answer to a sample until its rule has evaluated it, until it is over. */
async function delays(platform: Platform, side: Side, isOver: () => boolean): Promise<number[]> {
  const connection = await openConnection(platform.target);
  const found: number[] = [];
  for (let key = 0; !isOver() || found.length === 0; key++) {
    const body = JSON.stringify({ key: key % 10 });
    mustSucceed(await connection.send(httpRequest('POST', side.path, headers, body)));
    const answeredMs = performance.now();
    while ((await lastValue(connection, side.ruleId)) !== key % 10) await delay(2);
    found.push(performance.now() - answeredMs);
    await delay(50);
  }
  connection.close();
  return found;
}

async function storm(platform: Platform, side: Side): Promise<void> {
  const connections = await openConnections(platform.target, lanes);
  const keys = Array.from({ length: alarms }, (_, key) => key);
  await inLanes(connections, keys, async (connection, key) => {
    const body = JSON.stringify({ key });
    mustSucceed(await connection.send(httpRequest('POST', side.path, headers, body)));
  });
  for (const connection of connections) connection.close();
}

await withPlatform({}, async (platform, folder) => {
  const calm = await createSide(platform, 'calm');
  const stormy = await createSide(platform, 'stormy');
  const quietUntil = performance.now() + 3_000;
  const quiet = await delays(platform, calm, () => performance.now() > quietUntil);
  const startedMs = performance.now();
  const state = { over: false };
  const waited = delays(platform, calm, () => state.over);
  await storm(platform, stormy);
  const sentMs = performance.now() - startedMs;
  // The captures in flight were stored in any order.
  const connection = await openConnection(platform.target);
  while ((await lastValue(connection, stormy.ruleId)) < alarms - lanes) await delay(100);
  connection.close();
  const evaluatedMs = performance.now() - startedMs;
  state.over = true;
  const rows = [
    ['quiet', summarize(quiet)],
    ['storm', summarize(await waited)],
  ] as const;
  const words = `${alarms} alarms of one workspace, sent in ${figure(sentMs)} ms and evaluated after ${figure(evaluatedMs)} ms. Delay of a rule of another workspace, from the answer to the sample:`;
  const table = markdownTable(
    ['', 'p50 ms', 'p95 ms', 'max ms'],
    rows.map(([name, { p50Ms, p95Ms, maxMs }]) => [name, ...[p50Ms, p95Ms, maxMs].map(figure)]),
  );
  publish('Rules during a storm of alarms', [words, table], folder);
});
