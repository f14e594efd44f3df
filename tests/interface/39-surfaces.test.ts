// Surfaces of sections 39.1 to 39.5: each endpoint in each place that serves it, and why it is absent elsewhere.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commands } from '../../clients/command-line/command-table.ts';
import { allEndpoints } from '../../src/contract/endpoint-table.ts';
import { routeCells } from '../access/route-cells.ts';
import { startWorld, type World } from '../world/world.ts';

const root = join(import.meta.dirname, '../..');
const textOf = (file: string) => readFileSync(join(root, file), 'utf8');

/** Where something is served, or the reason why it is not. */
type Place = { readonly in: string } | { readonly absent: string };

interface Row {
  /** Paths of the endpoints. */
  readonly paths: RegExp;
  /** A page of the guide, and what it says of them. */
  readonly guide: readonly [page: string, words: string];
  /** Member of the document of a workspace. */
  readonly configuration: Place;
  readonly command: Place;
  readonly tool: Place;
}

const noCommand = {
  absent:
    'the command line moves data and tells what is wrong; records are arranged in the console',
};
const noTool = { absent: 'assistants read data of devices, and arrange nothing' };
const ofData = { absent: 'belongs to the data of the workspace, not to how it is set up' };

const rows: Readonly<Record<string, Row>> = {
  'places and their plans': {
    paths: /^\/v3\/places(\/:id|\/:id\/devices|\/import|\/export)?$/,
    guide: ['places.md', '/v3/places/import'],
    configuration: { in: 'places' },
    command: noCommand,
    tool: noTool,
  },
  'queries of places': {
    paths: /^\/v3\/places\/(:placeId\/query|query)\//,
    guide: ['places.md', '/v3/places/query/values'],
    configuration: ofData,
    command: { absent: '`summarize` and `query` read one device' },
    tool: { absent: '`summarize` reads devices, which `find_devices` finds by place' },
  },
  'dashboards and their groups': {
    paths: /^\/v3\/(dashboards|dashboard-groups)(\/:id)?$/,
    guide: ['dashboards.md', 'POST /v3/dashboards'],
    configuration: { in: 'dashboards' },
    command: noCommand,
    tool: noTool,
  },
  'dashboards of device types': {
    paths: /^\/v3\/(devices|device-types)\/:id\/dashboard$/,
    guide: ['dashboards.md', '/v3/device-types/{id}/dashboard'],
    configuration: { in: 'dashboards' },
    command: noCommand,
    tool: noTool,
  },
  'dashboards of places': {
    paths: /^\/v3\/places\/:id\/dashboard$/,
    guide: ['places.md', '/v3/places/{id}/dashboard'],
    configuration: { in: 'dashboards' },
    command: noCommand,
    tool: noTool,
  },
  versions: {
    paths: /^\/v3\/dashboards\/:id\/versions/,
    guide: ['dashboards.md', '/v3/dashboards/{id}/versions'],
    configuration: { absent: 'a document has one version, its own' },
    command: noCommand,
    tool: noTool,
  },
  'import from Grafana': {
    paths: /^\/v3\/dashboards\/import$/,
    guide: ['dashboards.md', '## Import from Grafana'],
    configuration: { absent: 'what it creates is a dashboard' },
    command: {
      absent: '`import` takes over devices and data; the report of this one is looked at',
    },
    tool: noTool,
  },
  shares: {
    paths: /^\/v3\/dashboards\/:id\/shares?$/,
    guide: ['dashboards.md', '/v3/dashboards/{id}/share'],
    configuration: { absent: 'a link is a credential, and documents have none' },
    command: noCommand,
    tool: noTool,
  },
  documents: {
    paths: /^\/v3\/dashboards\/:id\/render$/,
    guide: ['documents.md', '/render'],
    configuration: { absent: 'a document is made when it is asked for' },
    command: { absent: '`export` writes samples; a document of a dashboard is one request' },
    tool: noTool,
  },
  reports: {
    paths: /^\/v3\/reports/,
    guide: ['documents.md', '/v3/reports'],
    configuration: {
      absent: 'sends mail to people in the name of its owner, which an applied document must not',
    },
    command: noCommand,
    tool: noTool,
  },
  annotations: {
    paths: /^\/v3\/annotations/,
    guide: ['dashboards.md', '/v3/annotations'],
    configuration: ofData,
    command: noCommand,
    tool: noTool,
  },
  mutes: {
    paths: /^\/v3\/(mutes(\/:id)?|alarms\/:id\/mute)$/,
    guide: ['rules.md', '/v3/mutes'],
    configuration: { in: 'mutes' },
    command: noCommand,
    tool: noTool,
  },
  'on-call orders': {
    paths: /^\/v3\/on-call/,
    guide: ['rules.md', '/v3/on-call'],
    configuration: { in: 'onCallOrders' },
    command: noCommand,
    tool: noTool,
  },
  maps: {
    paths: /^\/v3\/(workspaces\/:id\/map|map\/)/,
    guide: ['map.md', '/v3/map/tiles'],
    configuration: { in: 'workspace' },
    command: noCommand,
    tool: noTool,
  },
  traces: {
    paths: /^\/v3\/devices\/:id\/trace$/,
    guide: ['why.md', '/trace'],
    configuration: ofData,
    command: { in: 'why' },
    tool: { in: 'why' },
  },
  refusals: {
    paths: /\/refusals(\/|$)/,
    guide: ['why.md', '/refusals'],
    configuration: ofData,
    command: { absent: '`why` tells them by device' },
    tool: { absent: '`why` tells them by device' },
  },
  questions: {
    paths: /^\/v3\/ask$/,
    guide: ['api.md', '/v3/ask'],
    configuration: ofData,
    command: { absent: 'a reading is a link into the console' },
    tool: { absent: 'an assistant understands the question itself' },
  },
};

interface Operation {
  readonly summary?: string;
  readonly description?: string;
  readonly requestBody?: { readonly content: Contents };
  readonly responses: Readonly<Record<string, { readonly content?: Contents }>>;
}
type Contents = Readonly<Record<string, { readonly example?: unknown }>>;

let world: World;
let paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
let documented: Readonly<Record<string, unknown>>;
let tools: readonly string[];
beforeAll(async () => {
  world = await startWorld();
  const document = JSON.parse(await (await fetch(`${world.base}/v3/openapi.json`)).text());
  ({ paths } = document);
  documented = document.components.schemas.ConfigurationDocument.properties;
  const client = new Client({ name: 'test', version: '1' });
  const requestInit = { headers: { 'x-api-key': world.apiKey } };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${world.base}/mcp`), { requestInit }),
  );
  tools = (await client.listTools()).tools.map(({ name }) => name);
  await client.close();
});
afterAll(() => world.close());

const endpoints = allEndpoints.map(({ method, path }) => ({
  method,
  path,
  written: path.replaceAll(/:(\w+)/g, '{$1}'),
}));
const types = textOf('clients/typescript/generated/interface-types.ts');

test('every endpoint of places, dashboards, maps and refusals is in one row', () => {
  const tags = new Set(['Places', 'Dashboards', 'Maps', 'Refusals']);
  const all = allEndpoints.filter(({ tag }) => tags.has(tag));
  const counted = all.map(({ method, path }) => [
    `${method} ${path}`,
    Object.values(rows).filter((row) => row.paths.test(path)).length,
  ]);
  expect(counted.filter(([, count]) => count !== 1)).toEqual([]);
});

describe.each(Object.entries(rows))('%s', (_, row) => {
  const mine = endpoints.filter(({ path }) => row.paths.test(path));

  test('the interface document says what they do, with examples', () => {
    expect(mine.length).toBeGreaterThan(0);
    const lacking = mine.flatMap(({ method, written }) => {
      const operation = paths[written]?.[method.toLowerCase()];
      if (operation === undefined) return [`${method} ${written}: not described`];
      const { summary, description, requestBody, responses } = operation;
      const answers = Object.entries(responses).filter(([status]) => status.startsWith('2'));
      const jsonOf = (content: Contents | undefined) => content?.['application/json'] ?? [];
      const body = [jsonOf(requestBody?.content)].flat();
      // An operation has one example, that of its usual answer.
      const json = answers.flatMap(([, { content }]) => jsonOf(content));
      const has = ({ example }: { readonly example?: unknown }) => example !== undefined;
      return [
        ...(summary && description ? [] : ['no words']),
        ...(body.every(has) ? [] : ['no example of the request']),
        ...(json.length === 0 || json.some(has) ? [] : ['no example of the answer']),
      ].map((what) => `${method} ${written}: ${what}`);
    });
    expect(lacking).toEqual([]);
  });

  test('the permission matrix and the TypeScript client have them', () => {
    const lacking = mine.flatMap(({ method, path, written }) => [
      ...(routeCells[`${method} ${path}`] === undefined ? [`${method} ${path}: no cell`] : []),
      ...(types.includes(`'${written}': {`) || types.includes(`"${written}": {`)
        ? []
        : [`${written}: no types`]),
    ]);
    expect(lacking).toEqual([]);
  });

  test('the guide explains them', () => {
    const [page, words] = row.guide;
    expect(textOf(`docs/guide/${page}`)).toContain(words);
  });

  test('documents of workspaces, commands and tools: there, or absent for a reason', () => {
    const { configuration, command, tool } = row;
    if ('in' in configuration) expect(documented).toHaveProperty(configuration.in);
    if ('in' in command) expect(commands).toHaveProperty(command.in);
    if ('in' in tool) expect(tools).toContain(tool.in);
    for (const place of [configuration, command, tool])
      if ('absent' in place) expect(place.absent).not.toBe('');
  });
});

test('the Python client calls any path, and so has no list of them', () => {
  const client = textOf('clients/python/src/heliograph/client.py');
  for (const verb of ['get', 'post', 'put', 'delete', 'pages'])
    expect(client).toMatch(new RegExp(`def ${verb}\\(\\s*self,\\s*address: str`));
});
