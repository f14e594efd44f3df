// Contract 38: what asks more of the data is in the reference, the guide, both clients, the command line, the console, and the tools of assistants.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commands } from '../../clients/command-line/command-table.ts';
import { guidePages } from '../../tools/guide/guide-pages.ts';
import { startWorld, type World } from '../world/world.ts';

const root = join(import.meta.dirname, '..', '..');
const read = (...path: string[]) => readFileSync(join(root, ...path), 'utf8');

interface Feature {
  /** Of the document, each with its method. */
  readonly operations: readonly string[];
  /** Members of schemas of the document, as `Schema.member`. */
  readonly members?: readonly string[];
  readonly guide: string;
  /** With an option; none where the document of a workspace is what a command line works with. */
  readonly command?: readonly [name: string, option: string];
  /** Assistants read: they neither delete nor correct. */
  readonly tool?: readonly [name: string, input: string];
  /** What the sources of the console send or show. */
  readonly console: readonly string[];
  readonly journey: string;
}

const features: Readonly<Record<string, Feature>> = {
  payloads: {
    operations: ['POST /v3/run-script', 'POST /v3/device-types/{id}/replay'],
    members: ['RawUplink.payloadHex', 'RawUplink.encoding', 'DeviceConnectorDraft.encoding'],
    guide: 'payloads',
    tool: ['run_decoder', 'payload'],
    console: ['run-script', 'payloadHex', 'encoding'],
    journey: 'data-journeys',
  },
  'accumulators in the order of time': {
    operations: [
      'POST /v3/devices/{deviceId}/query/raw/kpi',
      'POST /v3/devices/query/batch/aggregated/hourly/time-series',
    ],
    members: ['MetricSeries.coverage'],
    guide: 'counters',
    command: ['summarize', 'per'],
    tool: ['summarize', 'per'],
    console: ['INCREASE', 'TIME_IN_STATE', 'maxGap'],
    journey: 'expected-range',
  },
  formulas: {
    operations: ['POST /v3/expressions/check', 'POST /v3/devices/query/batch/time-series'],
    members: ['ManySeriesBody.calculations', 'WantedSeries.expression'],
    guide: 'formulas',
    command: ['summarize', 'expression'],
    tool: ['summarize', 'expression'],
    console: ['expressions/check'],
    journey: 'charts',
  },
  'calculated keys': {
    operations: ['POST /v3/device-types/{id}/recalculate'],
    members: ['DeviceTypeDraft.calculatedKeys'],
    guide: 'formulas',
    command: ['types', 'dry-run'],
    tool: ['read_decoder', 'deviceTypeId'],
    console: ['recalculate', 'calculatedKeys'],
    journey: 'calculated-keys',
  },
  'deletions and corrections': {
    operations: ['POST /v3/samples/delete', 'POST /v3/devices/{deviceId}/samples/correct'],
    guide: 'corrections',
    command: ['samples', 'dry-run'],
    console: ['samples/delete', 'samples/correct'],
    journey: 'sample-changes',
  },
  conditions: {
    operations: ['POST /v3/rules', 'POST /v3/rules/simulate'],
    members: [
      'RuleLogicDraft.holdsFor',
      'RuleLogicDraft.clearsFor',
      'RuleLogicDraft.clearConditions',
    ],
    guide: 'conditions',
    tool: ['draft_rule', 'rule'],
    console: ['holdsFor', 'clearConditions', 'SILENCE', 'remindEvery'],
    journey: 'rules',
  },
  'group calculations': {
    operations: ['POST /v3/calculations', 'PUT /v3/calculations/{id}', 'GET /v3/calculations'],
    guide: 'groups',
    console: ['/v3/calculations'],
    journey: 'calculations',
  },
  'what is usual': {
    operations: ['POST /v3/devices/{deviceId}/query/expected'],
    members: ['ExpectedRange.lower', 'DashboardSeries.expected'],
    guide: 'usual',
    command: ['expected', 'sensitivity'],
    tool: ['expected_range', 'sensitivity'],
    console: ['query/expected', 'unusual'],
    journey: 'expected-range',
  },
  forecasts: {
    operations: ['POST /v3/devices/query/forecast'],
    members: ['Forecast.reachesAt'],
    guide: 'usual',
    command: ['forecast', 'horizon'],
    tool: ['forecast', 'target'],
    console: ['query/forecast'],
    journey: 'expected-range',
  },
};

let world: World;
let client: Client;
// oxlint-disable-next-line typescript/no-explicit-any
let document: any;
let tools: ReadonlyMap<string, object>;
const sources = sourcesBelow('console/src');
const types = read('clients/typescript/generated/interface-types.ts');

beforeAll(async () => {
  world = await startWorld();
  document = await (await fetch(`${world.base}/v3/openapi.json`)).json();
  client = new Client({ name: 'test', version: '1' });
  const requestInit = { headers: { 'x-api-key': world.apiKey } };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${world.base}/mcp`), { requestInit }),
  );
  const listed = await client.listTools();
  tools = new Map(
    listed.tools.map(({ name, inputSchema }) => [name, inputSchema.properties ?? {}]),
  );
});
afterAll(async () => {
  await client.close();
  await world.close();
});

function sourcesBelow(folder: string): string {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !name.includes('.test.'))
    .map((name) => read(folder, name))
    .join('\n');
}

/** Also of schemas that others are combined with. */
function hasMember(named: string): boolean {
  const [schema = '', member = ''] = named.split('.');
  return JSON.stringify(document.components.schemas[schema] ?? {}).includes(`"${member}":{`);
}

describe.each(Object.entries(features))('%s', (_, feature) => {
  test('are in the reference, with words and an example of each operation', () => {
    for (const operation of feature.operations) {
      const [method = '', path = ''] = operation.split(' ');
      const found = document.paths[path]?.[method.toLowerCase()];
      expect(found, operation).toMatchObject({
        summary: expect.any(String),
        description: expect.any(String),
      });
      if (method !== 'GET')
        expect(JSON.stringify(found.requestBody), operation).toContain('example');
    }
    for (const member of feature.members ?? []) expect(hasMember(member), member).toBe(true);
  });

  test('have a page of the guide', () => {
    const page = guidePages.find(({ slug }) => slug === feature.guide);
    expect(page).toBeDefined();
    expect(read(page?.source ?? '')).toMatch(/^# /);
  });

  test('are in the types of the TypeScript client; that for Python takes every path', () => {
    for (const operation of feature.operations)
      expect(types.includes(`"${operation.split(' ')[1]}": {`), operation).toBe(true);
  });

  test('are in the console, where a journey does it', () => {
    for (const sent of feature.console) expect(sources.includes(sent), sent).toBe(true);
    expect(existsSync(join(root, `console/journeys/${feature.journey}.test.ts`))).toBe(true);
  });

  test.runIf(feature.command !== undefined)('have a command', () => {
    const [name = '', option = ''] = feature.command ?? [];
    expect(commands[name]?.options).toHaveProperty(option);
    expect(read('docs/command-line.md')).toContain(`\`${name} `);
  });

  test.runIf(feature.tool !== undefined)('have a tool of assistants', () => {
    const [name = '', input = ''] = feature.tool ?? [];
    expect(tools.get(name)).toHaveProperty(input);
  });
});

test('no tool of assistants deletes or corrects', () => {
  expect([...tools.keys()].filter((name) => /delet|correct|recalc|remove/.test(name))).toEqual([]);
});
