// Places: the newest samples of a floor, lists by place and the dashboard of a place, with 100,000 devices at 20,000 places.
// node bench/places.ts [--devices 100000] [--places 20000] [--rounds 50] [--folder PATH] [--write]; a folder keeps them for the next run.
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { fleetDevice, multiplyDevices } from './load/device-copies.ts';
import { figure, markdownTable, publish, summarize, verdict } from './load/measure.ts';
import { apiKey, createFlow, type Platform, startPlatform } from './load/platform.ts';
import { inTemporaryFolder } from './load/server-process.ts';

const { values: flags } = parseArgs({
  options: {
    devices: { type: 'string', default: '100000' },
    places: { type: 'string', default: '20000' },
    rounds: { type: 'string', default: '50' },
    folder: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});
const total = Number(flags.devices);
const rounds = Number(flags.rounds);
const ofFloor = 200;
const templatesTotal = Math.min(1_000, total);
const floors = Math.max(1, Math.floor(total / ofFloor));
/** The rest of the places are rooms below the floors, without devices of their own. */
const rooms = Math.max(0, Number(flags.places) - floors - 1);
const samplesOfRequest = 10_000;
const goalMs = { latest: 100, list: 50, dashboard: 1_000 };

type Page<T> = { readonly content: readonly T[]; readonly totalElements: number };
interface Named {
  readonly id: string;
  readonly name: string;
}

async function prepare(folder: string): Promise<void> {
  const data = join(folder, 'data');
  if (existsSync(join(data, 'records.sqlite'))) return;
  const platform = await startPlatform(folder);
  await makePlaces(platform);
  await makeTemplates(platform);
  await platform.stop();
  // Each copy is at the place of its template, so that each floor has as many devices.
  multiplyDevices(data, templatesTotal, total);
  const filled = await startPlatform(folder);
  await sendSamples(filled);
  await filled.stop();
}

const floorName = (n: number): string => `Floor ${String(n).padStart(5, '0')}`;

async function makePlaces(platform: Platform): Promise<void> {
  const lines = ['externalId,parentExternalId,name,kind', 'site,,Site,SITE'];
  for (let n = 0; n < floors; n++) lines.push(`f${n},site,${floorName(n)},FLOOR`);
  for (let n = 0; n < rooms; n++) lines.push(`r${n},f${n % floors},Room ${n},ROOM`);
  const { host, port } = platform.target;
  const path = `/v3/places/import?workspaceId=${platform.workspaceId}`;
  const answer = await fetch(`http://${host}:${port}${path}`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': 'text/csv' },
    body: lines.join('\n'),
  });
  const { created } = (await answer.json()) as { readonly created: number };
  if (created !== floors + rooms + 1) throw new Error(`${created} places were created`);
}

async function makeTemplates(platform: Platform): Promise<void> {
  const { workspaceId } = platform;
  const { dataFlowId } = await createFlow(platform, 'function consume() {}');
  const ids = await floorIds(platform);
  const devices = Array.from({ length: templatesTotal }, (_, n) => {
    const { name, deviceId } = fleetDevice(n);
    return { name, deviceId, dataFlowId, placeId: ids[n % ids.length] };
  });
  const body = { workspaceId, devices };
  const { id } = await platform.call<{ id: string }>('POST', '/v3/devices/bulk/create', body);
  for (;;) {
    const { completed, succeeded } = await platform.call<{
      readonly completed: string | null;
      readonly succeeded: boolean;
    }>('GET', `/v3/operations/${id}?actions=none`);
    if (completed === null) continue;
    if (!succeeded) throw new Error('the bulk create failed');
    return;
  }
}

/** Of the floors that have devices. */
async function floorIds({ call, workspaceId }: Platform): Promise<readonly string[]> {
  const ids: string[] = [];
  const wanted = Math.min(floors, templatesTotal);
  for (let page = 0; ids.length < wanted; page++) {
    const path = `/v3/places?workspaceId=${workspaceId}&search=Floor&size=1000&sort=name,asc&page=${page}`;
    const { content } = await call<Page<Named>>('GET', path);
    if (content.length === 0) throw new Error('the floors are not there');
    ids.push(...content.map(({ id }) => id));
  }
  return ids.slice(0, wanted);
}

/** Two samples of each device, a minute apart. */
async function sendSamples(platform: Platform): Promise<void> {
  const now = Date.now();
  let waiting: object[] = [];
  const send = async () => {
    await platform.call('POST', '/v3/samples/bulk', waiting);
    waiting = [];
  };
  for (let page = 0; page * 1_000 < total; page++) {
    const path = `/v3/assets?workspaceId=${platform.workspaceId}&fields=id&size=1000&page=${page}`;
    const { content } = await platform.call<Page<Named>>('GET', path);
    for (const { id } of content)
      for (const minutes of [1, 2]) {
        const timestamp = new Date(now - minutes * 60_000).toISOString();
        waiting.push({ deviceId: id, timestamp, data: { temperature: 20 + minutes, open: true } });
      }
    if (waiting.length >= samplesOfRequest) await send();
  }
  if (waiting.length > 0) await send();
}

interface Case {
  readonly what: string;
  readonly goal: number;
  readonly ask: (floorId: string) => Promise<number>;
}

function casesOf({ call, workspaceId }: Platform): readonly Case[] {
  const rowsOf = async (method: string, path: string, body?: object) =>
    (await call<Page<unknown>>(method, path, body)).content.length;
  const latest = '/v3/devices/query/latest';
  const then = new Date(Date.now() - 30_000).toISOString();
  return [
    {
      what: `latest of a floor of ${ofFloor} devices`,
      goal: goalMs.latest,
      ask: (placeId) => rowsOf('POST', latest, { placeId, size: 1_000 }),
    },
    {
      what: 'latest of a floor, one key',
      goal: goalMs.latest,
      ask: (placeId) => rowsOf('POST', latest, { placeId, keys: ['temperature'], size: 1_000 }),
    },
    {
      what: 'latest of a floor at an earlier moment',
      goal: goalMs.latest,
      ask: (placeId) => rowsOf('POST', latest, { placeId, at: then, size: 1_000 }),
    },
    {
      what: 'list of the devices of a floor, 25 rows',
      goal: goalMs.list,
      ask: (placeId) =>
        rowsOf('GET', `/v3/assets?workspaceId=${workspaceId}&places.ids=${placeId}&size=25`),
    },
    {
      what: 'generated dashboard of a floor',
      goal: goalMs.dashboard,
      async ask(placeId) {
        type Shown = { readonly configuration: { readonly tiles: readonly unknown[] } };
        const shown = await call<Shown>('GET', `/v3/places/${placeId}/dashboard`);
        return shown.configuration.tiles.length;
      },
    },
  ];
}

async function run(folder: string): Promise<void> {
  await prepare(folder);
  const platform = await startPlatform(folder);
  const rows: string[][] = [];
  try {
    const ids = await floorIds(platform);
    for (const { what, goal, ask } of casesOf(platform)) {
      const durations: number[] = [];
      let found = 0;
      for (let n = 0; n < rounds; n++) {
        // Another floor each time, so that none is warm.
        const floorId = ids[(n * 37) % ids.length] ?? '';
        const from = performance.now();
        found = await ask(floorId);
        durations.push(performance.now() - from);
      }
      const { p50Ms, p99Ms } = summarize(durations);
      rows.push([what, `${found}`, figure(p50Ms), figure(p99Ms), `${goal}`, verdict(p99Ms < goal)]);
    }
  } finally {
    await platform.stop();
  }
  const head = `${total.toLocaleString('en-US')} devices, ${(floors + rooms + 1).toLocaleString('en-US')} places, ${rounds} floors each.`;
  const table = markdownTable(['what', 'rows', 'p50, ms', 'p99, ms', 'goal, ms', ''], rows);
  publish('Places', [head, table], folder);
}

if (flags.folder === undefined) await inTemporaryFolder('bench-places-', run);
else {
  mkdirSync(flags.folder, { recursive: true });
  await run(flags.folder);
}
