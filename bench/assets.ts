// Asset lists of 100,000 devices with tags and custom fields, and a bulk creation of 10,000, over HTTP.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startWorld, type World } from '../tests/world/world.ts';
import { figure, markdownTable, publish, summarize } from './load/measure.ts';

const numbers = process.argv.slice(2).filter((argument) => /^\d+$/.test(argument));
const devicesTotal = Number(numbers[0] ?? 100_000);
const bulkTotal = Math.min(10_000, devicesTotal);
const rounds = 40;
const firstRounds = 10;
// `--folder=PATH` keeps the created records for the next run: creating 100,000 devices takes
// minutes.
const kept = process.argv
  .find((argument) => argument.startsWith('--folder='))
  ?.slice('--folder='.length);

async function main(): Promise<void> {
  const directory = kept ?? mkdtempSync(join(tmpdir(), 'bench-assets-'));
  const world = await startWorld({ directory });
  try {
    const setup = await prepare(world);
    const filled = await fill(world, setup);
    if (process.argv.includes('--fill-only')) return;
    const rows = await lists(world, setup, filled);
    const bulk = await bulkCreate(world);
    const head = ['list of 25', 'found', 'p50 ms', 'p99 ms', 'p50 ms after a write'];
    publish(
      'Asset lists',
      [
        `${filled} devices, each with two tags and three custom fields, over HTTP with an API key: ${rounds} requests a row, and ${firstRounds} more each behind a change of a device, which invalidates the cached lists.`,
        markdownTable(head, rows),
        `Bulk create of ${bulkTotal} devices: ${figure(bulk.seconds)} s, progress seen ${bulk.seen} times on the way.`,
      ],
      directory,
    );
  } finally {
    await world.platform.close('bench');
    if (kept === undefined) rmSync(directory, { recursive: true, force: true });
  }
}

type Setup = Awaited<ReturnType<typeof prepare>>;

async function prepare(world: World) {
  const { workspaceId } = world;
  const idsByName = async (path: string): Promise<Record<string, string>> => {
    const { content } = await world.must('GET', `${path}?workspaceId=${workspaceId}&size=100`);
    return Object.fromEntries(
      content.map(({ name, id }: { name: string; id: string }) => [name, id]),
    );
  };
  if ((await idsByName('/v3/tags'))['Tag 0'] === undefined) {
    await world.device({ name: 'bench' });
    for (let n = 0; n < 20; n++)
      await world.must('POST', '/v3/tags', { workspaceId, name: `Tag ${n}` });
    for (const [name, type] of [
      ['serial', 'STRING'],
      ['floor', 'NUMBER'],
      ['installed', 'DATE'],
    ] as const) {
      await world.must('POST', '/v3/custom-fields/meta', { workspaceId, name, type });
    }
  }
  const tags = await idsByName('/v3/tags');
  return {
    workspaceId,
    dataFlowId: Object.values(await idsByName('/v3/data-flows'))[0]!,
    tags: Array.from({ length: 20 }, (_, n) => tags[`Tag ${n}`]!),
    fields: await idsByName('/v3/custom-fields/meta'),
  };
}

/** How many devices there are then. */
async function fill(world: World, setup: Setup): Promise<number> {
  const count = async () =>
    (await world.must('GET', `/v3/assets?workspaceId=${setup.workspaceId}&size=1`)).totalElements -
    1;
  for (let from = await count(); from < devicesTotal; from += 25_000) {
    await create(world, setup, { from, count: Math.min(25_000, devicesTotal - from) });
  }
  return count();
}

async function bulkCreate(world: World) {
  const { organizationId } = world;
  const { id: workspaceId } = await world.must('POST', '/v3/workspaces', {
    name: 'bulk',
    organizationId,
  });
  const { dataFlowId } = await world.device({ workspaceId, name: `bulk ${Date.now()}` });
  const tags: string[] = [];
  for (let n = 0; n < 20; n++)
    tags.push((await world.must('POST', '/v3/tags', { workspaceId, name: `Tag ${n}` })).id);
  const fields: Record<string, string> = {};
  for (const name of ['serial', 'floor', 'installed'] as const) {
    const type = { serial: 'STRING', floor: 'NUMBER', installed: 'DATE' }[name];
    fields[name] = (
      await world.must('POST', '/v3/custom-fields/meta', { workspaceId, name, type })
    ).id;
  }
  return create(
    world,
    { workspaceId, dataFlowId, tags, fields },
    { from: 0, count: bulkTotal, prefix: `${Date.now()}-` },
  );
}

async function create(
  world: World,
  setup: Setup,
  { from, count, prefix = 'EUI-' }: { from: number; count: number; prefix?: string },
) {
  const { workspaceId, dataFlowId, tags, fields } = setup;
  const devices = Array.from({ length: count }, (_, at) => {
    const n = from + at;
    return {
      name: `Sensor ${(n * 7_919) % 100_003} ${['roof', 'cellar', 'hall', 'office'][n % 4]}`,
      deviceId: `${prefix}${String(n).padStart(8, '0')}`,
      dataFlowId,
      tags: [{ id: tags[n % 20] }, { id: tags[(n * 7 + Math.floor(n / 20)) % 20] }],
      customFields: [
        { fieldMetaId: fields['serial'], STRING: `SN-${n}` },
        { fieldMetaId: fields['floor'], NUMBER: n % 50 },
        {
          fieldMetaId: fields['installed'],
          DATE: new Date(1_700_000_000_000 + n * 60_000).toISOString(),
        },
      ],
    };
  });
  const startedAt = performance.now();
  const body = { workspaceId, devices };
  const { id } = await world.must('POST', '/v3/devices/bulk/create', body);
  const seen = new Set<number>();
  for (;;) {
    const operation = await world.must('GET', `/v3/operations/${id}?actions=none`);
    seen.add(operation.actionsCompleted);
    if (operation.completed !== null) {
      if (!operation.succeeded) throw new Error('the bulk create failed');
      break;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return { seconds: (performance.now() - startedAt) / 1_000, seen: seen.size };
}

/** Label, query and body of each list. */
function listCases(setup: Setup, filled: number): [string, string, object][] {
  const custom = (customFieldName: string, predicate: string, ...stringValues: string[]) => ({
    operator: 'FILTER',
    field: 'customFields',
    customFieldName,
    predicate,
    stringValues,
  });
  const name = { field: 'name', predicate: 'CONTAINS', values: ['roof'] };
  const tagged = { field: 'tags.id', predicate: 'CONTAINS_ANY', values: [setup.tags[3]] };
  const untagged = { ...tagged, predicate: 'CONTAINS_NONE' };
  const both = { operator: 'AND', expressions: [name, tagged] };
  const rare = { operator: 'AND', expressions: [{ ...name, values: ['77 roof'] }, tagged] };
  const last = Math.floor(filled / 25) - 2;
  return [
    ['no filter, page 1', 'page=0', {}],
    [`no filter, page ${last}`, `page=${last}`, {}],
    ['search, page 1', 'page=0', { search: 'sensor 77' }],
    ['name CONTAINS and tags.id, page 1', 'page=0', { expression: both }],
    ['name CONTAINS and tags.id, page 90', 'page=90', { expression: both }],
    ['tags.id CONTAINS_NONE, page 1', 'page=0', { expression: untagged }],
    ['tags.id CONTAINS_NONE, page 3000', 'page=3000', { expression: untagged }],
    ['rare name and tags.id, page 1', 'page=0', { expression: rare }],
    [
      'onlineState EQUALS UNKNOWN, page 1',
      'page=0',
      { expression: { field: 'onlineState', predicate: 'EQUALS', values: ['UNKNOWN'] } },
    ],
    ['custom text EQUALS, page 1', 'page=0', { expression: custom('serial', 'EQUALS', 'SN-4711') }],
    [
      'custom text IN 20, page 1',
      'page=0',
      {
        expression: custom('serial', 'IN', ...Array.from({ length: 20 }, (_, n) => `SN-${n * 31}`)),
      },
    ],
    [
      'custom number EQUALS (1 in 50), page 1',
      'page=0',
      { expression: custom('floor', 'EQUALS', '7') },
    ],
    [
      'custom number EQUALS (1 in 50), page 70',
      'page=70',
      { expression: custom('floor', 'EQUALS', '7') },
    ],
    [
      'custom text CONTAINS, page 1',
      'page=0',
      { expression: custom('serial', 'CONTAINS', '4711') },
    ],
    [
      'custom date BETWEEN (1 in 100), page 1',
      'page=0',
      {
        expression: custom(
          'installed',
          'BETWEEN',
          '1700000000000',
          String(1_700_000_000_000 + 600 * 60_000 * 1.66),
        ),
      },
    ],
  ];
}

async function lists(world: World, setup: Setup, filled: number): Promise<string[][]> {
  const rows: string[][] = [];
  for (const [label, query, body] of listCases(setup, filled)) {
    const ask = () =>
      world.must('POST', `/v3/assets/list?${query}`, {
        workspaceIds: [setup.workspaceId],
        ...body,
      });
    const { totalElements } = await ask();
    const often = await timed(rounds, ask, async () => {});
    const first = await timed(firstRounds, ask, () => changeSomething(world, setup));
    const { p50Ms, p99Ms } = summarize(often);
    rows.push([
      label,
      String(totalElements),
      figure(p50Ms),
      figure(p99Ms),
      figure(summarize(first).p50Ms),
    ]);
  }
  return rows;
}

async function timed(
  times: number,
  ask: () => Promise<unknown>,
  before: () => Promise<void>,
): Promise<number[]> {
  const durations: number[] = [];
  for (let round = 0; round < times + 3; round++) {
    await before();
    const startedAt = performance.now();
    await ask();
    if (round >= 3) durations.push(performance.now() - startedAt);
  }
  return durations;
}

async function changeSomething(world: World, { workspaceId }: Setup): Promise<void> {
  const { content } = await world.must('GET', `/v3/assets?workspaceId=${workspaceId}&size=1`);
  await world.must('PUT', `/v3/devices/${content[0].id}`, {
    description: `changed ${performance.now()}`,
  });
}

await main();
