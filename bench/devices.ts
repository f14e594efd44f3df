// Registered devices: start, memory, lists, and first and second uplinks of up to 1,000,000 devices.
// node bench/devices.ts [--devices 1000000] [--senders 200000] [--rounds 3] [--folder PATH]
// [--skip lists,captures,bulk] [--write]; a folder keeps the devices for the next run.
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { addStatus, fleetDevice, multiplyDevices } from './load/device-copies.ts';
import { bulkSamples, captures, uplinkRounds } from './load/device-uplinks.ts';
import { createFlow, type Platform, startPlatform } from './load/platform.ts';
import { inTemporaryFolder } from './load/server-process.ts';
import {
  conditions,
  figure,
  markdownTable,
  summarize,
  writeMeasurement,
  verdict,
} from './load/measure.ts';

const { values: flags } = parseArgs({
  options: {
    devices: { type: 'string', default: '100000' },
    senders: { type: 'string', default: '20000' },
    rounds: { type: 'string', default: '3' },
    folder: { type: 'string' },
    skip: { type: 'string', default: '' },
    'in-flight': { type: 'string', default: '64' },
    write: { type: 'boolean', default: false },
  },
});
const total = Number(flags.devices);
const senders = Math.min(Number(flags.senders), total);
const rounds = Number(flags.rounds);
const templatesTotal = Math.min(1_000, total);
const passThrough = 'function consume(event) { emit("sample", { data: event.data }); }';
const restMs = 10_000;
const goals = { startSeconds: 1, listMs: 20, firstOfSecond: 0.5 };

const uplinks = {
  senders,
  rounds,
  step: Math.max(1, Math.floor(total / senders)),
  inFlight: Number(flags['in-flight']),
  firstOfSecond: goals.firstOfSecond,
};

interface Setup {
  readonly workspaceId: string;
  readonly dataFlowId: string;
  readonly secret: string;
  readonly tags: readonly string[];
  readonly fields: Readonly<Record<string, string>>;
}

const run = async (folder: string): Promise<void> => {
  const setup = await prepare(folder);
  const texts = [conditions(folder)];
  const tell = (text: string): void => {
    texts.push(text);
    console.log(`\n${text}`);
  };
  console.log(texts[0]);
  await onFolder(folder, async (platform, startSeconds) => {
    const bytes = statSync(join(folder, 'data', 'records.sqlite')).size;
    tell(
      `${total.toLocaleString('en-US')} devices with two tags and three custom fields each, ${figure(bytes / 2 ** 20)} MiB of records. Ready after ${figure(startSeconds)} s (goal ${goals.startSeconds} s), RSS ${residentMiB(platform)}.`,
    );
    if (isSkipped('lists')) return;
    tell(await lists(platform, setup));
    tell(`RSS after the lists: ${residentMiB(platform)}.`);
  });
  // The first uplinks of a start are those of devices that are not in memory yet.
  for (const [name, kind] of [
    ['captures', captures(setup.secret)],
    ['bulk', bulkSamples()],
  ] as const) {
    if (isSkipped(name)) continue;
    await onFolder(folder, async (platform) => {
      tell(await uplinkRounds(platform, kind, uplinks));
      tell(`RSS ${residentMiB(platform)}, at rest after 10 s ${await atRestMiB(platform)}.`);
    });
  }
  if (flags.write) writeMeasurement('Registered devices', texts.join('\n\n'));
};

const isSkipped = (part: string): boolean => flags.skip.split(',').includes(part);
const residentMiB = ({ server }: Platform): string =>
  `${figure(server.residentBytes() / 2 ** 20)} MiB`;

async function atRestMiB(platform: Platform): Promise<string> {
  await delay(restMs);
  return residentMiB(platform);
}

/** The platform on the folder, and how long its start took. */
async function onFolder(
  folder: string,
  work: (platform: Platform, startSeconds: number) => Promise<void>,
): Promise<void> {
  const startMs = performance.now();
  const platform = await startPlatform(folder);
  try {
    await work(platform, (performance.now() - startMs) / 1_000);
  } finally {
    await platform.stop();
  }
}

/** Makes the devices, unless the folder has them from an earlier run. */
async function prepare(folder: string): Promise<Setup> {
  const data = join(folder, 'data');
  const isNew = !existsSync(join(data, 'records.sqlite'));
  const platform = await startPlatform(folder);
  const setup = await (isNew ? makeTemplates(platform) : readSetup(platform));
  await platform.stop();
  if (isNew) {
    multiplyDevices(data, templatesTotal, total);
    addStatus(data, 10, Date.now());
  }
  return setup;
}

async function idsByName(platform: Platform, path: string): Promise<Record<string, string>> {
  type Named = { readonly name: string; readonly id: string };
  const { content } = await platform.call<{ readonly content: readonly Named[] }>(
    'GET',
    `${path}?workspaceId=${platform.workspaceId}&size=100`,
  );
  return Object.fromEntries(content.map(({ name, id }) => [name, id]));
}

async function readSetup(platform: Platform): Promise<Setup> {
  const connectors = await idsByName(platform, '/v3/device-connectors');
  const { uplinkSecret } = await platform.call<{ readonly uplinkSecret: string }>(
    'GET',
    `/v3/device-connectors/${connectors['bench']}`,
  );
  const tags = await idsByName(platform, '/v3/tags');
  return {
    workspaceId: platform.workspaceId,
    dataFlowId: (await idsByName(platform, '/v3/data-flows'))['bench']!,
    secret: uplinkSecret,
    tags: Array.from({ length: 20 }, (_, n) => tags[`Tag ${n}`]!),
    fields: await idsByName(platform, '/v3/custom-fields/meta'),
  };
}

async function makeTemplates(platform: Platform): Promise<Setup> {
  const { workspaceId } = platform;
  const flow = await createFlow(platform, passThrough);
  for (let n = 0; n < 20; n++)
    await platform.call('POST', '/v3/tags', { workspaceId, name: `Tag ${n}` });
  for (const [name, type] of [
    ['serial', 'STRING'],
    ['floor', 'NUMBER'],
    ['installed', 'DATE'],
  ] as const)
    await platform.call('POST', '/v3/custom-fields/meta', { workspaceId, name, type });
  const setup = { ...(await readSetup(platform)), secret: flow.uplinkSecret };
  const { tags, fields, dataFlowId } = setup;
  const devices = Array.from({ length: templatesTotal }, (_, n) => {
    const { name, deviceId, serial } = fleetDevice(n);
    return {
      name,
      deviceId,
      dataFlowId,
      tags: [{ id: tags[n % 20] }, { id: tags[(n * 7 + Math.floor(n / 20)) % 20] }],
      customFields: [
        { fieldMetaId: fields['serial'], STRING: serial },
        { fieldMetaId: fields['floor'], NUMBER: n % 50 },
        { fieldMetaId: fields['installed'], DATE: new Date(1.7e12 + n * 60_000).toISOString() },
      ],
    };
  });
  const body = { workspaceId, devices };
  const { id } = await platform.call<{ id: string }>('POST', '/v3/devices/bulk/create', body);
  type Operation = { readonly completed: string | null; readonly succeeded: boolean };
  for (;;) {
    const path = `/v3/operations/${id}?actions=none`;
    const operation = await platform.call<Operation>('GET', path);
    if (operation.completed === null) continue;
    if (!operation.succeeded) throw new Error('the bulk create failed');
    return setup;
  }
}

type ListCase = readonly [label: string, method: string, query: string, body?: object];

function listCases({ workspaceId, tags }: Setup): ListCase[] {
  const last = Math.ceil(total / 25) - 1;
  const all = `/v3/assets?workspaceId=${workspaceId}&size=25`;
  const custom = (customFieldName: string, predicate: string, value: string) => ({
    expression: {
      operator: 'FILTER',
      field: 'customFields',
      customFieldName,
      predicate,
      stringValues: [value],
    },
  });
  const middle = fleetDevice(Math.floor(total / 2));
  const find = '/v3/assets/list?size=25';
  return [
    ['first page', 'GET', `${all}&page=0`],
    ['last page', 'GET', `${all}&page=${last}`],
    ['page in the middle', 'GET', `${all}&page=${last >> 1}`],
    ['by time of creation, newest first', 'GET', `${all}&sort=created,desc`],
    ['by last uplink', 'GET', `${all}&sort=uplinkMetrics.timestamp,desc`],
    ['search, 1 in 100', 'GET', `${all}&search=${encodeURIComponent('sensor 77')}`],
    ['search, one device', 'GET', `${all}&search=${encodeURIComponent(middle.deviceId)}`],
    ['search, none', 'GET', `${all}&search=nothing-like-it`],
    ['tag, 1 in 10', 'GET', `${all}&tags.ids=${tags[3]}`],
    ['tag, 1 in 10, page 1,000', 'GET', `${all}&tags.ids=${tags[3]}&page=1000`],
    ['online', 'GET', `${all}&state=ONLINE`],
    ['never heard', 'GET', `${all}&state=UNKNOWN`],
    ['custom field: text', 'POST', find, custom('serial', 'EQUALS', middle.serial)],
    ['custom field: number, 1 in 50', 'POST', find, custom('floor', 'EQUALS', '7')],
    ['custom field: text CONTAINS', 'POST', find, custom('serial', 'CONTAINS', '4711')],
    [
      'name CONTAINS, 1 in 4',
      'POST',
      find,
      { expression: { field: 'name', predicate: 'CONTAINS', values: ['roof'] } },
    ],
  ].map(([label, method, path, body]) => [
    label as string,
    method as string,
    path as string,
    method === 'POST' ? { workspaceIds: [workspaceId], ...(body as object) } : undefined,
  ]) as ListCase[];
}

async function lists(platform: Platform, setup: Setup): Promise<string> {
  const rows: string[][] = [];
  const { content } = await platform.call<{ content: { id: string }[] }>(
    'GET',
    `/v3/assets?workspaceId=${setup.workspaceId}&size=1`,
  );
  const change = () =>
    platform.call('PUT', `/v3/devices/${content[0]!.id}`, { description: `${performance.now()}` });
  for (const [label, method, path, body] of listCases(setup)) {
    const ask = () => platform.call<{ totalElements: number }>(method, path, body);
    const timed = async (times: number, before?: () => Promise<unknown>) => {
      const durations: number[] = [];
      for (let i = 0; i < times; i++) {
        await before?.();
        const from = performance.now();
        await ask();
        durations.push(performance.now() - from);
      }
      return durations;
    };
    await change();
    const [cold] = await timed(1);
    const warm = summarize(await timed(10 * rounds));
    const written = summarize(await timed(rounds, change));
    const { totalElements } = await ask();
    rows.push([
      label,
      totalElements.toLocaleString('en-US'),
      figure(cold!),
      figure(warm.p50Ms),
      figure(warm.maxMs),
      figure(written.p50Ms),
      verdict(warm.p50Ms < goals.listMs),
    ]);
  }
  const head = ['list of 25', 'found', 'first, ms', 'warm p50', 'warm max', 'after a write', ''];
  return `${markdownTable(head, rows)}\n\nGoal: warm under ${goals.listMs} ms.`;
}

if (flags.folder === undefined) await inTemporaryFolder('devices', run);
else {
  mkdirSync(flags.folder, { recursive: true });
  await run(flags.folder);
}
