// Rules: capture at a steady rate with and without many rules on the device, and the delay of their evaluation.
// node bench/rules.ts [--rules 1000] [--rate 1000] [--seconds 10] [--write]
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { httpRequest, inLanes, mustSucceed, openConnections } from './load/http.ts';
import { apiKey, createDevices, createFlow, type Platform, withPlatform } from './load/platform.ts';
import { figure, markdownTable, publish, summarize, type Summary } from './load/measure.ts';

const { values: flags } = parseArgs({
  options: {
    rules: { type: 'string', default: '1000' },
    rate: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '10' },
    write: { type: 'boolean', default: false },
  },
});
const rules = Number(flags.rules);
const rate = Number(flags.rate);
const seconds = Number(flags.seconds);
const decoder = "function consume(event) { emit('sample', { data: event.data }); }";
const tickMs = 5;
const lanes = 64;

interface Measured {
  readonly latency: Summary;
  readonly perSecond: number;
}

await withPlatform({}, async (platform, folder) => {
  const flow = await createFlow(platform, decoder);
  const [deviceId] = await createDevices(platform, flow, ['bench']);
  const path = `/v3/capture?secret=${flow.uplinkSecret}&deviceId=bench`;
  await paced(platform, path, 2);
  const without = await paced(platform, path, seconds);
  const ids = await createRules(platform, deviceId!);
  await paced(platform, path, 2);
  const beside = await paced(platform, path, seconds);
  const lagMs = await lag(platform, path, ids.at(-1)!);
  report(folder, without, beside, lagMs);
});

/** Each compares the same key with its own limit; half of them are true. */
async function createRules(platform: Platform, deviceId: string): Promise<string[]> {
  const connections = await openConnections(platform.target, 8);
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
  const ids: string[] = [];
  await inLanes(
    connections,
    Array.from({ length: rules }, (_, i) => i),
    async (connection, i) => {
      const source = {
        id: 's',
        inputIds: [deviceId],
        dataTopic: 'default',
        dataKey: 'a',
        valueType: 'NUMERICAL',
      };
      const operandFirst = { type: 'DATA_SOURCE', dataSourceId: 's' };
      const conditions = [
        {
          operandFirst,
          operator: 'GT',
          operandSecond: { type: 'CONSTANT', value: (i * 100) / rules },
        },
      ];
      const logic = {
        type: 'COMPARISON',
        dataSources: [source],
        logicBlocks: [{ conditions, actionIds: [] }],
      };
      const inputs = [{ id: deviceId, type: 'DEVICE' }];
      const body = {
        name: `rule ${i}`,
        workspaceId: platform.workspaceId,
        inputs,
        logic,
        actions: [],
      };
      const answer = await connection.send(
        httpRequest('POST', '/v3/rules', headers, JSON.stringify(body)),
      );
      ids[i] = (JSON.parse(mustSucceed(answer).toString()) as { id: string }).id;
    },
  );
  for (const connection of connections) connection.close();
  return ids;
}

/** Sends at the rate, independent of the answers, and times each answer. */
async function paced(platform: Platform, path: string, forSeconds: number): Promise<Measured> {
  const connections = await openConnections(platform.target, lanes);
  const idle = [...connections];
  const waiting: (() => void)[] = [];
  const durations: number[] = [];
  const under: Promise<void>[] = [];
  const startMs = performance.now();
  const send = async (n: number): Promise<void> => {
    const dueMs = startMs + (n * 1_000) / rate;
    while (idle.length === 0) await new Promise<void>((resolve) => waiting.push(resolve));
    const connection = idle.pop()!;
    const body = JSON.stringify({ a: n % 100, n });
    const answer = await connection.send(
      httpRequest('POST', path, { 'content-type': 'application/json' }, body),
    );
    mustSucceed(answer);
    // Measured from the due time: a generator that waits would hide a slow server.
    durations.push(performance.now() - dueMs);
    idle.push(connection);
    waiting.shift()?.();
  };
  const total = rate * forSeconds;
  for (let sent = 0; sent < total; ) {
    const due = Math.min(total, Math.floor(((performance.now() - startMs) * rate) / 1_000));
    for (; sent < due; sent++) under.push(send(sent));
    await wait(tickMs);
  }
  await Promise.all(under);
  const tookMs = performance.now() - startMs;
  for (const connection of connections) connection.close();
  return { latency: summarize(durations), perSecond: (total * 1_000) / tookMs };
}

/** From the answer to a sample until the last rule has evaluated it. */
async function lag(platform: Platform, path: string, ruleId: string): Promise<number> {
  const value = 1_000_000;
  const [connection] = await openConnections(platform.target, 1);
  const body = JSON.stringify({ a: value });
  mustSucceed(
    await connection!.send(httpRequest('POST', path, { 'content-type': 'application/json' }, body)),
  );
  const answeredMs = performance.now();
  for (;;) {
    type Runs = {
      readonly content: readonly { readonly inputs: readonly { readonly value: unknown }[] }[];
    };
    const { content } = await platform.call<Runs>('GET', `/v3/rules/${ruleId}/runs?size=1`);
    if (content[0]?.inputs[0]?.value === value) break;
    if (performance.now() - answeredMs > 60_000)
      throw new Error('the rule did not evaluate the sample within a minute');
  }
  connection!.close();
  return performance.now() - answeredMs;
}

function report(folder: string, without: Measured, beside: Measured, lagMs: number): void {
  const row = (name: string, { latency, perSecond }: Measured) => [
    name,
    figure(perSecond),
    figure(latency.p50Ms),
    figure(latency.p95Ms),
    figure(latency.p99Ms),
    figure(latency.maxMs),
    figure(latency.p50Ms / without.latency.p50Ms),
  ];
  const parts = [
    `One device sends ${figure(rate)} samples a second for ${seconds} s, each decoded by a script and fsynced before its answer; ` +
      'times are measured from the due time of a sample.',
    markdownTable(
      ['', 'answers/s', 'p50 ms', 'p95 ms', 'p99 ms', 'max ms', 'p50 by that without'],
      [row('no rules', without), row(`${figure(rules)} rules on the device`, beside)],
    ),
    `From the answer to the next sample until the last rule had evaluated it: ${figure(lagMs)} ms.`,
  ];
  publish('Rules during capture', parts, folder);
}
