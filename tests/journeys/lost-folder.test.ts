// Lost records, key or journal end: the start fails with one message, or serves, reports and continues.
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readConfig } from '../../src/app/config/config.ts';
import { verifyDataFolder } from '../../src/app/commands/verify.ts';
import { apiKey, startProcess, startRefused } from '../load/platform-process.ts';
import { startWorld } from '../world/world.ts';

const root = mkdtempSync(join(tmpdir(), 'heliograph-lost-'));
const sound = join(root, 'sound');
let copies = 0;

beforeAll(async () => {
  const world = await startWorld({ directory: sound });
  const device = await world.device();
  for (let i = 0; i < 5; i++) await world.capture(device, { i });
  await world.close();
});

afterAll(() => rmSync(root, { recursive: true }));

function copy(): string {
  const folder = join(root, `copy-${++copies}`);
  cpSync(sound, folder, { recursive: true });
  return folder;
}

/** Names of all files and folders, but for those that SQLite makes while it reads. */
const tree = (folder: string): string[] =>
  readdirSync(folder, { recursive: true })
    .map(String)
    .filter((name) => !/-(shm|wal)$/.test(name))
    .sort();

/** What the start says when it refuses; an error when it does not. */
async function refusal(
  directory: string,
  environment: Record<string, string> = {},
): Promise<string> {
  try {
    const world = await startWorld({ directory, environment });
    await world.close();
  } catch (error) {
    expect((error as Error).name).toBe('DataFolderError');
    return (error as Error).message;
  }
  throw new Error('the platform started');
}

const records = (folder: string) => join(folder, 'records.sqlite');
const key = (folder: string) => join(folder, 'secrets.key');

function makeUnreleased(folder: string): void {
  const database = new DatabaseSync(records(folder));
  database.exec('create table schemaVersion (version integer primary key)');
  database.close();
}

describe.each([
  [
    'reliability 6: secrets.key is missing',
    (folder: string) => rmSync(key(folder)),
    /^The encryption key for stored secrets is missing: restore .*secrets\.key from a backup/,
  ],
  [
    'reliability 6: secrets.key is another',
    (folder: string) => writeFileSync(key(folder), 'ab'.repeat(32)),
    /secrets\.key is not the key that/,
  ],
  [
    'reliability 6: secrets.key is short',
    (folder: string) => truncateSync(key(folder), 20),
    /secrets\.key contains no key: restore .* from a backup/,
  ],
  [
    'reliability 8: records.sqlite is missing',
    (folder: string) => rmSync(records(folder)),
    /contains samples, but the record database .*records\.sqlite is missing\. /,
  ],
  [
    'reliability 8: records.sqlite is empty',
    (folder: string) => truncateSync(records(folder), 0),
    /contains samples, but the record database .*records\.sqlite is empty\. /,
  ],
  [
    'reliability 21: records.sqlite is no database',
    (folder: string) => writeFileSync(records(folder), 'x'.repeat(9_000)),
    /^The record database .*records\.sqlite is corrupted \(.*\)\. /,
  ],
  [
    'house 2: records.sqlite is of a development version from before the first release',
    makeUnreleased,
    /^The records were written by a development version before release 0\.2\.0, .*\. Set DATA_DIR/,
  ],
] as const)('review %s', (_, harm, sentence) => {
  test('the start refuses with one sentence that says what to do, makes nothing, and verify says the same', async () => {
    const folder = copy();
    harm(folder);
    const before = tree(folder);
    const said = await refusal(folder);
    expect(said).toMatch(sentence);
    expect(tree(folder)).toEqual(before);
    const findings = await verifyDataFolder(readConfig({ DATA_DIR: folder }));
    expect([findings.sound, findings.records.damage[0]]).toEqual([false, said]);
  });
});

test('review reliability 6: another SECRETS_KEY, or one where none was set, is refused, and the right one is not', async () => {
  expect(await refusal(copy(), { SECRETS_KEY: 'another' })).toMatch(
    /^SECRETS_KEY is not the key .*: set SECRETS_KEY to its previous value, or unset it/,
  );
  const folder = join(root, 'given');
  const environment = { SECRETS_KEY: 'one' };
  await (await startWorld({ directory: folder, environment })).close();
  expect(existsSync(key(folder))).toBe(false);
  expect(await refusal(folder)).toMatch(/^The encryption key for stored secrets is missing/);
  expect(existsSync(key(folder))).toBe(false);
  await (await startWorld({ directory: folder, environment })).close();
});

test('review reliability 21: the process says the sentence, not a stack', async () => {
  const folder = copy();
  rmSync(key(folder));
  const { code, output } = await startRefused(folder);
  expect([code, output.trim().split('\n')]).toEqual([
    1,
    [expect.stringMatching(/^heliograph: The encryption key for stored secrets/)],
  ]);
});

test('review reliability 20, security 12: only the owner can read the folder, also one that was open', async () => {
  const folder = join(root, 'modes');
  await (await startProcess(folder)).end('SIGTERM');
  const open = tree(folder).filter((name) => (statSync(join(folder, name)).mode & 0o077) !== 0);
  expect([open, statSync(folder).mode & 0o777]).toEqual([[], 0o700]);
  chmodSync(folder, 0o755);
  const platform = await startProcess(folder, { LOG_LEVEL: 'warn' });
  const { output } = await platform.end('SIGTERM');
  expect(output).toContain(
    'was accessible to other users (mode 755); permissions were restricted to its owner',
  );
  expect(statSync(folder).mode & 0o777).toBe(0o700);
});

test('review reliability 5: after the journal lost its end, every new capture reaches its webhook and its rule', {
  timeout: 240_000,
}, async () => {
  const received: string[] = [];
  const target = createServer((request, response) => {
    request.on('data', (text) => received.push(String(text)));
    request.on('end', () => response.end());
  }).listen(0, '127.0.0.1');
  await once(target, 'listening');
  const url = `http://127.0.0.1:${(target.address() as AddressInfo).port}/`;
  const folder = join(root, 'journal-end');
  const settings = { EGRESS_ALLOW: '127.0.0.0/8' };
  const count = 40;
  let platform = await startProcess(folder, settings);
  const call = async (method: string, path: string, body?: object) => {
    const answer = await fetch(`http://127.0.0.1:${platform.target.port}${path}`, {
      method,
      headers: {
        'x-api-key': apiKey,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text === '' ? {} : JSON.parse(text);
  };
  const workspaceId = platform.idOf('Workspace');
  const webhook = (name: string, scope: string) =>
    call('POST', '/v3/output-connectors', {
      name,
      workspaceId,
      scope,
      type: 'WEBHOOK',
      webhookProperties: { uri: url },
      sendConsecutiveAlerts: true,
      customPayload: `{"from":"${name}","i":{{data.i}}}`,
      useCustomPayload: true,
    });
  const output = await webhook('flow', 'DATA_FLOW');
  const action = await webhook('rule', 'RULE_ACTION');
  const connector = await call('POST', '/v3/device-connectors', {
    name: 'c',
    workspaceId,
    connectivity: 'HTTP',
  });
  const flow = await call('POST', '/v3/data-flows', {
    name: 'f',
    workspaceId,
    deviceConnector: { id: connector.id },
    outputConnectors: [{ id: output.id, topic: '*' }],
    passThrough: true,
  });
  const device = await call('POST', '/v3/devices', {
    name: 'd',
    deviceId: 'd',
    workspaceId,
    dataFlowId: flow.id,
    connectivity: 'HTTP',
  });
  await call('POST', '/v3/rules', { name: 'r', workspaceId, ...ruleOn(device.id, action.id) });
  const capture = async (i: number) =>
    call('POST', `/v3/capture?secret=${connector.uplinkSecret}&deviceId=d`, { i });
  const toldFrom = async (first: number) => {
    const wanted = ['flow', 'rule'].flatMap((from) =>
      Array.from({ length: count }, (_, k) => JSON.stringify({ from, i: first + k })),
    );
    await expect
      .poll(() => wanted.filter((text) => !received.includes(text)), { timeout: 60_000 })
      .toEqual([]);
  };
  for (let i = 0; i < count; i++) await capture(i);
  await toldFrom(0);
  await platform.end('SIGKILL');
  const journal = join(folder, 'samples', 'journal');
  const file = join(journal, readdirSync(journal).find((name) => name.endsWith('.journal'))!);
  truncateSync(file, statSync(file).size >> 1);
  expect(
    (await verifyDataFolder(readConfig({ DATA_DIR: folder }))).store.damage.map(({ kind }) => kind),
  ).toContain('journal');
  platform = await startProcess(folder, settings);
  for (let i = count; i < 2 * count; i++) await capture(i);
  await toldFrom(count);
  const { output: log } = await platform.end('SIGTERM');
  target.close();
  const reasons = errorsOf(log).map(({ msg, reason }) => `${msg}: ${reason}`);
  expect(reasons.at(-1)).toMatch(
    /^data corruption detected: \d+ journal entries are missing from position \d+$/,
  );
  // Half of the file ends within an entry, unless it happens to end behind one.
  expect(reasons.slice(0, -1).join('\n')).toMatch(
    /^(?:data corruption detected: \d+ bytes from \d+ on cannot be read)?$/,
  );
  expect(readFileSync(file).length).toBeGreaterThan(0);
});

interface ErrorLine {
  readonly msg: string;
  readonly reason?: string;
}

function errorsOf(log: string): readonly ErrorLine[] {
  const lines = log.split('\n').filter((line) => line.startsWith('{"level":"error"'));
  return lines.map((line) => JSON.parse(line) as ErrorLine);
}

/** A comparison that holds for every sample. */
function ruleOn(deviceId: string, actionId: string): object {
  const source = {
    id: 's',
    inputIds: [deviceId],
    dataTopic: 'default',
    dataKey: 'i',
    valueType: 'NUMERICAL',
  };
  const operandFirst = { type: 'DATA_SOURCE', dataSourceId: 's' };
  const conditions = [
    { operandFirst, operator: 'GT', operandSecond: { type: 'CONSTANT', value: -1 } },
  ];
  return {
    inputs: [{ id: deviceId, type: 'DEVICE' }],
    logic: {
      type: 'COMPARISON',
      dataSources: [source],
      logicBlocks: [{ conditions, actionIds: [actionId] }],
    },
    actions: [{ id: actionId }],
  };
}
