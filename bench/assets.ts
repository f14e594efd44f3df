// Asset lists of 100,000 devices with tags and custom fields, and a bulk create of 10,000, over HTTP (figures: asset list).
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startWorld, type World } from '../tests/world/world.ts';
import { conditions, figure, markdownTable, summarize, writeMeasurement } from './measure.ts';

const devicesTotal = Number(process.argv[2] ?? 100_000);
const bulkTotal = Math.min(10_000, devicesTotal);
const rounds = 40;

async function main(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'bench-assets-'));
  const world = await startWorld({ directory });
  try {
    const setup = await prepare(world);
    const bulk = await create(world, setup, 0, bulkTotal);
    for (let from = bulkTotal; from < devicesTotal; from += 25_000) {
      await create(world, setup, from, Math.min(25_000, devicesTotal - from));
    }
    const rows = await lists(world, setup);
    const table = markdownTable(['list of 25', 'found', 'p50 ms', 'p99 ms'], rows);
    const text = [
      conditions(directory),
      `${devicesTotal} devices, each with two tags and three custom fields; ${rounds} requests a row, over HTTP with an API key.`,
      table,
      `Bulk create of ${bulkTotal} devices: ${figure(bulk.seconds)} s, progress seen ${bulk.seen} times on the way.`,
    ].join('\n\n');
    console.log(text);
    if (process.argv.includes('--write')) writeMeasurement('Asset lists', text);
  } finally {
    await world.platform.close('bench');
    rmSync(directory, { recursive: true, force: true });
  }
}

type Setup = Awaited<ReturnType<typeof prepare>>;

async function prepare(world: World) {
  const { workspaceId } = world;
  const { dataFlowId } = await world.device();
  const tags: string[] = [];
  for (let n = 0; n < 20; n++) tags.push((await world.must('POST', '/v3/tags', { workspaceId, name: `Tag ${n}` })).id);
  const fields: Record<string, string> = {};
  for (const [name, type] of [
    ['serial', 'STRING'],
    ['floor', 'NUMBER'],
    ['installed', 'DATE'],
  ] as const) {
    fields[name] = (await world.must('POST', '/v3/custom-fields/meta', { workspaceId, name, type })).id;
  }
  return { dataFlowId, tags, fields };
}

async function create(world: World, setup: Setup, from: number, count: number) {
  const { dataFlowId, tags, fields } = setup;
  const devices = Array.from({ length: count }, (_, at) => {
    const n = from + at;
    return {
      name: `Sensor ${(n * 7_919) % 100_003} ${['roof', 'cellar', 'hall', 'office'][n % 4]}`,
      deviceId: `EUI-${String(n).padStart(8, '0')}`,
      dataFlowId,
      tags: [{ id: tags[n % 20] }, { id: tags[(n * 7 + Math.floor(n / 20)) % 20] }],
      customFields: [
        { fieldMetaId: fields['serial'], STRING: `SN-${n}` },
        { fieldMetaId: fields['floor'], NUMBER: n % 50 },
        { fieldMetaId: fields['installed'], DATE: new Date(1_700_000_000_000 + n * 60_000).toISOString() },
      ],
    };
  });
  const startedAt = performance.now();
  const body = { workspaceId: world.workspaceId, devices };
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

async function lists(world: World, setup: Setup): Promise<string[][]> {
  const custom = (customFieldName: string, predicate: string, ...stringValues: string[]) => ({
    operator: 'FILTER',
    field: 'customFields',
    customFieldName,
    predicate,
    stringValues,
  });
  const name = { field: 'name', predicate: 'CONTAINS', values: ['roof'] };
  const tagged = { field: 'tags.id', predicate: 'CONTAINS_ANY', values: [setup.tags[3]] };
  const both = { operator: 'AND', expressions: [name, tagged] };
  const rare = { operator: 'AND', expressions: [{ ...name, values: ['77 roof'] }, tagged] };
  const last = Math.floor(devicesTotal / 25) - 2;
  const cases: [string, string, object][] = [
    ['no filter, page 1', 'page=0', {}],
    [`no filter, page ${last}`, `page=${last}`, {}],
    ['search, page 1', 'page=0', { search: 'sensor 77' }],
    ['name CONTAINS and tags.id, page 1', 'page=0', { expression: both }],
    ['name CONTAINS and tags.id, page 90', 'page=90', { expression: both }],
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
      { expression: custom('serial', 'IN', ...Array.from({ length: 20 }, (_, n) => `SN-${n * 31}`)) },
    ],
    ['custom number EQUALS (1 in 50), page 1', 'page=0', { expression: custom('floor', 'EQUALS', '7') }],
    ['custom number EQUALS (1 in 50), page 70', 'page=70', { expression: custom('floor', 'EQUALS', '7') }],
    ['custom text CONTAINS, page 1', 'page=0', { expression: custom('serial', 'CONTAINS', '4711') }],
    [
      'custom date BETWEEN (1 in 100), page 1',
      'page=0',
      { expression: custom('installed', 'BETWEEN', '1700000000000', String(1_700_000_000_000 + 600 * 60_000 * 1.66)) },
    ],
  ];
  const rows: string[][] = [];
  for (const [label, query, body] of cases) {
    const durations: number[] = [];
    let total = 0;
    for (let round = 0; round < rounds + 3; round++) {
      const startedAt = performance.now();
      const answer = await world.must('POST', `/v3/assets/list?${query}`, {
        workspaceIds: [world.workspaceId],
        ...body,
      });
      if (round >= 3) durations.push(performance.now() - startedAt);
      total = answer.totalElements;
    }
    const { p50Ms, p99Ms } = summarize(durations);
    rows.push([label, String(total), figure(p50Ms), figure(p99Ms)]);
  }
  return rows;
}

await main();
