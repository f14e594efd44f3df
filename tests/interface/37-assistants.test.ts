// Contract 37: assistants use the platform by MCP, with the permissions of their credential and nothing else.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AccessWorld, startAccessWorld } from '../access/access-world.ts';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

const script = `function consume(event) {
  emit('sample', { data: { temperature: event.data.raw / 10 }, topic: 'default', timestamp: new Date(0) });
}`;
const minute = (n: number) => new Date(Date.UTC(2026, 0, 5, 0, n)).toISOString();

let of: AccessWorld;
let world: World;
let device: TestDevice;
let elsewhere: TestDevice;
const open: Client[] = [];

beforeAll(async () => {
  of = await startAccessWorld();
  world = of.world;
  device = await world.device({ name: 'pump', script });
  elsewhere = await world.device({ name: 'secret', workspaceId: of.secondWorkspaceId });
  const samples = [1, 2, 3].map((n) => ({
    deviceId: device.id,
    timestamp: minute(n),
    data: { n },
  }));
  const other = { deviceId: elsewhere.id, timestamp: minute(1), data: { n: 100 } };
  await world.must('POST', '/v3/samples/bulk', [...samples, other]);
}, 240_000);
afterAll(async () => {
  for (const client of open) await client.close();
  await of.close();
});

/** `auto` speaks the newest generation of the protocol, `old` the one before. */
async function connected(key: string, generation: 'auto' | 'old' = 'auto') {
  const options = generation === 'auto' ? { versionNegotiation: { mode: 'auto' as const } } : {};
  const client = new Client({ name: 'test', version: '1' }, options);
  const requestInit = { headers: { 'x-api-key': key } };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${world.base}/mcp`), { requestInit }),
  );
  open.push(client);
  return client;
}

async function used(client: Client, name: string, input: Record<string, unknown>) {
  const result = await client.callTool({ name, arguments: input });
  const [first] = result.content as { readonly text: string }[];
  const text = first?.text ?? '';
  return {
    isError: result.isError === true,
    text,
    value: result.isError ? undefined : JSON.parse(text),
  };
}

describe.each(['auto', 'old'] as const)('a client of generation %s', (generation) => {
  let client: Client;
  beforeAll(async () => {
    client = await connected(world.apiKey, generation);
  });

  test('finds tools, which only read', async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      'list_workspaces',
      'find_devices',
      'describe_device',
      'read_log',
      'why',
      'query_samples',
      'latest_samples',
      'summarize',
      'expected_range',
      'forecast',
      'read_decoder',
      'run_decoder',
      'draft_rule',
    ]);
    for (const { annotations } of tools)
      expect(annotations).toMatchObject({ readOnlyHint: true, destructiveHint: false });
  });

  test('finds devices and their samples', async () => {
    const { value: found } = await used(client, 'find_devices', { search: 'pump' });
    expect(found).toMatchObject({ total: 1, devices: [{ id: device.id, name: 'pump' }] });
    const { value: all } = await used(client, 'list_workspaces', {});
    expect(all.workspaces.map((one: { id: string }) => one.id)).toContain(world.workspaceId);
    const { value: described } = await used(client, 'describe_device', { deviceId: device.id });
    expect(described.schemas.default.properties).toHaveProperty('n');
    const asked = { deviceId: device.id, from: minute(2), limit: 1 };
    const { value: samples } = await used(client, 'query_samples', asked);
    expect(samples).toMatchObject([{ timestamp: minute(3), data: { n: 3 } }]);
    const { value: latest } = await used(client, 'latest_samples', { deviceIds: [device.id] });
    expect(latest).toMatchObject([{ deviceId: device.id, samples: [{ data: { n: 3 } }] }]);
  });

  test('summarizes', async () => {
    const what = { deviceId: device.id, dataKey: 'n', accumulator: 'AVG' };
    const range = { from: minute(0), to: minute(10) };
    expect((await used(client, 'summarize', { ...what, ...range })).value).toMatchObject({
      kpi: 2,
    });
    const series = await used(client, 'summarize', { ...what, ...range, bucketInterval: 'PT5M' });
    expect(series.value.dataPoints).toEqual([2, null]);
    const counted = { ...what, ...range, accumulator: 'INCREASE' };
    expect((await used(client, 'summarize', counted)).value).toMatchObject({ kpi: 2 });
    const state = { ...what, ...range, accumulator: 'TIME_IN_STATE', state: 2 };
    expect((await used(client, 'summarize', state)).value).toMatchObject({ kpi: 60 });
  });

  test('says what is usual and when a target is reached, or why not', async () => {
    const what = { deviceId: device.id, dataKey: 'n' };
    const day = { from: minute(0), to: minute(60) };
    const usual = await used(client, 'expected_range', { ...what, ...day, sensitivity: 'HIGH' });
    expect(usual.value).toMatchObject({ method: 'NONE', expected: [null] });
    const asked = { deviceIds: [device.id], dataKey: 'n', target: 5 };
    const { value } = await used(client, 'forecast', asked);
    expect(value).toMatchObject([{ deviceId: device.id, reason: 'TOO_FEW' }]);
  });

  test('reads and runs a decoder, and reads what it did', async () => {
    const { value: decoder } = await used(client, 'read_decoder', { deviceId: device.id });
    expect(decoder.uplinkScript.code).toBe(script);
    const tried = { script: decoder.uplinkScript.code, event: { data: { raw: 215 } } };
    const { value: emitted } = await used(client, 'run_decoder', tried);
    expect(emitted).toMatchObject([{ event: { data: { temperature: 21.5 } } }]);
    const echo = 'function consume(e) { emit("log", { got: e.data }); }';
    const payload = { hex: '01ff', port: 3 };
    const { value: got } = await used(client, 'run_decoder', { script: echo, payload });
    expect(got).toMatchObject([{ event: { got: { payloadHex: '01ff', port: 3 } } }]);
    const { value: trace } = await used(client, 'why', { deviceId: device.id });
    expect(trace).toMatchObject({
      device: { id: device.id },
      verdict: { code: expect.any(String) },
    });
    const log = await used(client, 'read_log', { deviceId: device.id });
    expect(log.value).toMatchObject({ entries: expect.any(Array) });
  });
});

describe('a rule that is drafted', () => {
  const rule = (deviceId = device.id, actionIds: readonly string[] = []) => ({
    name: 'warm',
    workspaceId: world.workspaceId,
    inputs: [{ id: deviceId, type: 'DEVICE' }],
    actions: actionIds.map((id) => ({ id })),
    logic: {
      type: 'COMPARISON',
      dataSources: [
        {
          id: 's',
          inputIds: [deviceId],
          dataTopic: 'default',
          dataKey: 'n',
          valueType: 'NUMERICAL',
          triggerOnUplink: true,
        },
      ],
      logicBlocks: [
        {
          conditions: [
            {
              operandFirst: { type: 'DATA_SOURCE', dataSourceId: 's' },
              operator: 'GT',
              operandSecond: { type: 'CONSTANT', valueType: 'NUMERICAL', value: 1 },
            },
          ],
          actionIds,
        },
      ],
    },
  });
  const range = { from: minute(0), to: minute(10) };

  test('is simulated, and not stored', async () => {
    const client = await connected(world.apiKey);
    const action = await world.must('POST', '/v3/output-connectors', {
      name: 'Note',
      workspaceId: world.workspaceId,
      scope: 'RULE_ACTION',
      type: 'CUSTOM_DATABASE',
      customDatabaseProperties: { topic: 'notes', useCurrentDevice: true },
    });
    const draft = { rule: rule(device.id, [action.id]), ...range };
    const { value } = await used(client, 'draft_rule', draft);
    expect(value).toMatchObject({ samples: 3, runs: 3, fired: 1 });
    const without = await used(client, 'draft_rule', { rule: rule(), ...range });
    expect(without.value).toMatchObject({ samples: 3, runs: 3, fired: 0 });
    const rules = await world.must('GET', `/v3/rules?workspaceId=${world.workspaceId}&search=warm`);
    expect(rules.totalElements).toBe(0);
  });

  test('is refused with what is wrong', async () => {
    const client = await connected(world.apiKey);
    const wrong = { rule: rule(elsewhere.id), ...range };
    const { isError, text } = await used(client, 'draft_rule', wrong);
    expect([isError, text]).toEqual([true, expect.stringContaining('inputs.0.id')]);
  });

  test('needs the permissions to read rules and assets', async () => {
    const reader = await of.key({ permissions: { rule: ['read'] } });
    const body = { rule: rule(), ...range };
    expect((await reader.call('POST', '/v3/rules/simulate', body)).status).toBe(403);
    const both = await of.key({ permissions: { rule: ['read'], asset: ['read'] } });
    expect((await both.call('POST', '/v3/rules/simulate', body)).status).toBe(200);
  });
});

describe('a key for another workspace', () => {
  test('sees nothing of this one', async () => {
    const key = await of.key({
      permissions: { asset: ['read'], rule: ['read'] },
      workspaces: [{ id: of.secondWorkspaceId }],
    });
    const client = await connected(key.secret);
    const { value: found } = await used(client, 'find_devices', {});
    expect(found.devices.map(({ id }: { id: string }) => id)).toEqual([elsewhere.id]);
    for (const [name, input] of [
      ['find_devices', { workspaceId: world.workspaceId }],
      ['describe_device', { deviceId: device.id }],
      ['read_log', { deviceId: device.id }],
      ['why', { deviceId: device.id }],
      ['query_samples', { deviceId: device.id }],
      ['latest_samples', { deviceIds: [device.id] }],
      ['read_decoder', { deviceId: device.id }],
    ] as const) {
      const { isError, text } = await used(client, name, input);
      expect([name, isError, text]).toEqual([name, true, expect.stringMatching(/^40[34] /)]);
    }
    const own = await used(client, 'query_samples', { deviceId: elsewhere.id });
    expect(own.value).toMatchObject([{ data: { n: 100 } }]);
  });
});

test('the list of tools is the same for all, each with the id of its request', async () => {
  const accept = { accept: 'application/json, text/event-stream' };
  const listed = async (body: object) => {
    const answer = await fetch(`${world.base}/mcp`, {
      method: 'POST',
      headers: { 'x-api-key': world.apiKey, 'content-type': 'application/json', ...accept },
      body: JSON.stringify({ jsonrpc: '2.0', method: 'tools/list', ...body }),
    });
    const text = await answer.text();
    const json = /^data: (.*)$/m.exec(text)?.[1] ?? text;
    const type = answer.headers.get('content-type');
    return { status: answer.status, type, ...(JSON.parse(json) as Record<string, unknown>) };
  };
  const first = await listed({ id: 1 });
  expect(first).toMatchObject({ status: 200, id: 1 });
  expect(
    (first as unknown as { result: { tools: unknown[] } }).result.tools.length,
  ).toBeGreaterThan(5);
  for (const id of [2, 'text "quoted"', 'id of a request for the list of tools', ''])
    expect(await listed({ id })).toEqual({ ...first, id });
  // One that says more is answered by itself.
  expect(await listed({ id: 3, params: { _meta: { progressToken: 1 } } })).toEqual({
    ...first,
    id: 3,
  });
  expect(await listed({ id: 4, params: {} })).toEqual({ ...first, id: 4 });
});

test('a tool is used with one request', async () => {
  const params = { name: 'find_devices', arguments: { search: 'none' } };
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
  const accept = { accept: 'application/json, text/event-stream' };
  const answer = await world.call('POST', '/mcp', body, accept);
  expect([answer.status, JSON.stringify(answer.body)]).toEqual([
    200,
    expect.stringContaining('content'),
  ]);
});

describe('a request is refused', () => {
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  const accept = { accept: 'application/json, text/event-stream' };

  test.each([
    ['without a credential', { 'x-api-key': '' }, 401],
    ['of a page of another origin', { origin: 'https://evil.example' }, 403],
    ['of a page without an origin', { origin: 'null' }, 403],
  ])('%s', async (_, headers, status) => {
    const answer = await world.call('POST', '/mcp', body, { ...accept, ...headers });
    expect(answer.status).toBe(status);
  });

  test.each([
    ['x-api-key', 'wrong'],
    ['authorization', 'Bearer wrong'],
    ['x-api-key', ''],
  ])('behaviour 33: by %s %j, with what to send instead of a sign-in', async (name, value) => {
    const answer = await of.nobody.call('POST', '/mcp', body, { ...accept, [name]: value });
    expect([answer.status, answer.body.errorCode]).toEqual([401, '40107_ASSISTANT_CREDENTIAL']);
    expect(answer.body.message).toContain('no sign-in for assistants');
  });

  test('behaviour 33: a tool without permission names it', async () => {
    const { secret } = await of.owner.must('POST', '/v3/api-keys', {
      name: 'Few',
      organizationId: world.organizationId,
      permissions: { rule: ['read'] },
    });
    const { isError, text } = await used(await connected(secret), 'read_decoder', {
      deviceTypeId: '33ffffffffffffff',
    });
    expect([isError, text]).toEqual([true, expect.stringMatching(/`deviceType` `read`|404/)]);
    const found = await used(await connected(secret), 'find_devices', {});
    expect(found.text).toContain('`asset` `read`');
  });

  test.each([
    ['describe_device', 'deviceId', '.'],
    ['describe_device', 'deviceId', '..'],
    ['read_decoder', 'deviceTypeId', '..'],
    ['query_samples', 'deviceId', '..'],
  ])('security 9, ASVS 1.2.2: %s with %s %j names no other path', async (name, member, id) => {
    const client = await connected(world.apiKey);
    const { isError, text } = await used(client, name, { [member]: id });
    expect([isError, text]).toEqual([true, expect.stringContaining(member)]);
  });

  test('with the session of a user', async () => {
    const answer = await of.owner.call('POST', '/mcp', body, accept);
    expect([answer.status, answer.body.errorCode]).toEqual([403, '40391_ASSISTANT_SESSION']);
  });

  test('by another method', async () => {
    expect((await world.call('GET', '/mcp')).status).toBe(405);
  });

  test('with arguments that do not match, or a device that is a path', async () => {
    const client = await connected(world.apiKey);
    const refused = async (name: string, input: Record<string, unknown>) => {
      const answer = await used(client, name, input).catch(() => ({ isError: true }));
      expect([name, answer.isError]).toEqual([name, true]);
    };
    await refused('query_samples', { deviceId: device.id, limit: 100_000 });
    await refused('query_samples', { deviceId: '../workspaces', limit: 1 });
    await refused('summarize', { deviceId: device.id, dataKey: 'n', accumulator: 'DROP' });
    await refused('delete_device', { deviceId: device.id });
  });

  test('when the server is switched off', async () => {
    const off = await startWorld({ environment: { MCP: 'off' } });
    try {
      expect((await off.call('POST', '/mcp', body, accept)).status).toBe(404);
    } finally {
      await off.close();
    }
  });
});
