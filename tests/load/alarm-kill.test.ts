// Alarm kills: SIGKILL while rules trigger alarms; each sample counts once, and notifications keep their order.
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import {
  type HttpConnection,
  httpRequest,
  mustSucceed,
  openConnection,
} from '../../bench/load/http.ts';
import { call } from './kill-checks.ts';
import { apiKey, type PlatformProcess, startProcess } from './platform-process.ts';

const rounds = 3;
const answersEachRound = 60;
const settings = { EGRESS_ALLOW: '127.0.0.0/8' };
const settledWithinMs = 60_000;
type Made = { readonly id: string; readonly uplinkSecret: string };
type Alarm = { readonly state: string; readonly count: number; readonly firstTriggered: string };

const above20 = (inputId: string, actionId: string) => ({
  inputs: [{ id: inputId, type: 'DEVICE' }],
  logic: {
    type: 'COMPARISON',
    dataSources: [
      { id: 's', inputIds: [inputId], dataTopic: '*', dataKey: 't', valueType: 'NUMERICAL' },
    ],
    logicBlocks: [
      {
        conditions: [
          {
            operandFirst: { type: 'DATA_SOURCE', dataSourceId: 's' },
            operator: 'GT',
            operandSecond: { type: 'CONSTANT', value: 20 },
            order: 0,
          },
        ],
        actionIds: [actionId],
      },
    ],
  },
  actions: [{ id: actionId }],
});

async function setUp(platform: PlatformProcess, uri: string) {
  const connection = await openConnection(platform.target);
  const workspaceId = platform.idOf('Workspace');
  const make = (path: string, body: object) =>
    call<Made>(connection, 'POST', path, { name: 'kill', workspaceId, ...body });
  const action = { scope: 'RULE_ACTION' };
  const hook = await make('/v3/output-connectors', {
    ...action,
    type: 'WEBHOOK',
    webhookProperties: { uri },
    useCustomPayload: true,
    customPayload: '{"id":{{alarm.id}},"change":{{change}}}',
  });
  const notify = ['OPENED', 'CLEARED'].map((on) => ({ on, outputConnectorId: hook.id }));
  const alarmProperties = { name: 'Hot', severity: 'MAJOR', notify };
  const alarm = await make('/v3/output-connectors', { ...action, type: 'ALARM', alarmProperties });
  const connector = await make('/v3/device-connectors', { connectivity: 'HTTP' });
  const flow = await make('/v3/data-flows', {
    deviceConnector: { id: connector.id },
    outputConnectors: [{ id: '0900000000000000', topic: '*' }],
    passThrough: true,
  });
  const device = async (deviceId: string) => {
    const { id } = await make('/v3/devices', {
      deviceId,
      dataFlowId: flow.id,
      connectivity: 'HTTP',
    });
    await make('/v3/rules', above20(id, alarm.id));
    return { id, path: `/v3/capture?secret=${connector.uplinkSecret}&deviceId=${deviceId}` };
  };
  const devices = { steady: await device('steady'), flapping: await device('flapping') };
  connection.close();
  return { ...devices, workspaceId };
}

/** One sample after the other until the platform is gone; `sent` is called for each answer. */
async function keepSending(
  platform: PlatformProcess,
  path: string,
  of: (n: number) => number,
  sent: () => void,
) {
  const connection = await openConnection(platform.target);
  const headers = { 'content-type': 'application/json' };
  try {
    for (let n = 0; ; n++) {
      await connection.send(httpRequest('POST', path, headers, JSON.stringify({ t: of(n) })));
      sent();
    }
  } catch {
    // The kill ends the connection.
  } finally {
    connection.close();
  }
}

async function valuesOf(connection: HttpConnection, id: string): Promise<number[]> {
  const path = `/v3/devices/${id}/export?format=ndjson&from=2020-01-01T00:00:00Z`;
  const answer = await connection.send(httpRequest('GET', path, { 'x-api-key': apiKey }));
  const lines = mustSucceed(answer).toString().trim().split('\n');
  return lines.map((line) => (JSON.parse(line) as { data: { t: number } }).data.t);
}

const risesIn = (values: readonly number[]) =>
  values.filter((value, i) => value > 20 && (values[i - 1] ?? 0) <= 20).length;

test('3 kills while rules trigger alarms: every stored sample counts once, opened and cleared are notified in order', {
  timeout: 240_000,
}, async () => {
  const told: { id: string; change: string }[] = [];
  const sink = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      told.push(JSON.parse(Buffer.concat(chunks).toString()) as (typeof told)[number]);
      response.end();
    });
  });
  await new Promise<void>((resolve) => sink.listen(0, '127.0.0.1', resolve));
  const directory = mkdtempSync(join(tmpdir(), 'heliograph-alarm-kill-'));
  let platform = await startProcess(directory, settings);
  try {
    const uri = `http://127.0.0.1:${(sink.address() as AddressInfo).port}/`;
    const { steady, flapping, workspaceId } = await setUp(platform, uri);
    for (let round = 0; round < rounds; round++) {
      let answers = 0;
      const sent = () => void answers++;
      const senders = [
        keepSending(platform, steady.path, () => 30, sent),
        keepSending(platform, flapping.path, (n) => (n % 2 === 0 ? 30 : 10), sent),
      ];
      while (answers < answersEachRound) await delay(1);
      await delay(30 * round);
      await platform.end('SIGKILL');
      await Promise.all(senders);
      platform = await startProcess(directory, settings);
    }
    const connection = await openConnection(platform.target);
    const alarmsOf = async (id: string) => {
      const path = `/v3/alarms?workspaceId=${workspaceId}&deviceId=${id}&size=1000&sort=firstTriggered,asc`;
      return (await call<{ content: (Alarm & { id: string })[] }>(connection, 'GET', path)).content;
    };
    const stored = await valuesOf(connection, steady.id);
    expect(stored.length).toBeGreaterThan(answersEachRound);
    await expect
      .poll(() => alarmsOf(steady.id), { timeout: settledWithinMs })
      .toMatchObject([{ state: 'OPEN', count: stored.length }]);
    const values = await valuesOf(connection, flapping.id);
    await expect
      .poll(async () => (await alarmsOf(flapping.id)).length, { timeout: settledWithinMs })
      .toBe(Math.min(1_000, risesIn(values)));
    const alarms = await alarmsOf(flapping.id);
    const triggers = alarms.reduce((sum, { count }) => sum + count, 0);
    expect(triggers).toBe(values.filter((value) => value > 20).length);
    const changesOf = ({ id, state }: (typeof alarms)[number]) => [
      `${id} OPENED`,
      ...(state === 'CLEARED' ? [`${id} CLEARED`] : []),
    ];
    const known = new Set(alarms.flatMap(changesOf));
    const first = () => [...new Set(told.map(({ id, change }) => `${id} ${change}`))];
    const ofFlapping = () => first().filter((one) => known.has(one));
    await expect.poll(() => ofFlapping().length, { timeout: settledWithinMs }).toBe(known.size);
    // The list does not say which of two alarms of one millisecond was the first.
    const place = new Map(ofFlapping().map((one, i) => [one, i]));
    const inOrder = alarms.toSorted(
      (one, other) =>
        Date.parse(one.firstTriggered) - Date.parse(other.firstTriggered) ||
        place.get(`${one.id} OPENED`)! - place.get(`${other.id} OPENED`)!,
    );
    expect(ofFlapping()).toEqual(inOrder.flatMap(changesOf));
    connection.close();
  } finally {
    await platform.end('SIGKILL');
    sink.closeAllConnections();
    sink.close();
    rmSync(directory, { recursive: true, force: true });
  }
});
