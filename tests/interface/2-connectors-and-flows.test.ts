// Contract 8, 9, 10 and 34: connectors and data flows with every field, and the names of older clients.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { anyId, anyTime, expectRefusal } from '../world/expectations.ts';
import { startWorld, type World } from '../world/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

const database = '0900000000000000';
const vendor = { 'akenza-client': 'java/3' };
const connectorDraft = (more: object = {}) => ({
  name: 'Gate',
  workspaceId: world.workspaceId,
  connectivity: 'HTTP',
  ...more,
});
const wholeConnector = (known: object = {}) => ({
  id: anyId('07'),
  version: 0,
  created: anyTime,
  updated: null,
  name: 'Gate',
  description: null,
  workspaceId: world.workspaceId,
  readOnly: false,
  global: false,
  connectivity: 'HTTP',
  carrier: null,
  provider: null,
  integrationId: null,
  lineProtocol: null,
  sparkplug: null,
  integrationDeleted: false,
  authType: 'BASIC',
  uplinkSecret: expect.stringMatching(/^\S{16,}$/),
  decodingType: 'NONE',
  encoding: null,
  pushConfigurationAutomatically: false,
  yanziProperties: null,
  spacetiProperties: null,
  ...known,
});
const wholeDatabase = (known: object = {}) => ({
  id: database,
  version: 0,
  created: anyTime,
  updated: null,
  name: expect.any(String),
  workspaceId: null,
  deleted: false,
  global: true,
  scope: 'DATA_FLOW',
  type: 'DATABASE',
  sendConsecutiveAlerts: false,
  invokeRuleEngine: false,
  useCustomPayload: false,
  customPayload: null,
  customDatabaseProperties: null,
  customAkenzaDbProperties: null,
  webhookProperties: null,
  mailProperties: null,
  smsProperties: null,
  downlinkProperties: null,
  azureProperties: null,
  gcpProperties: null,
  alarmProperties: null,
  amazonKinesisProperties: null,
  influxProperties: null,
  kafkaProperties: null,
  msTeamsProperties: null,
  slackProperties: null,
  sqlProperties: null,
  mqttProperties: null,
  amqpProperties: null,
  natsProperties: null,
  ...known,
});

describe('contract 8: device connectors', () => {
  const path = '/v3/device-connectors';

  test('created (201) with defaults, read, listed, changed, deleted (204)', async () => {
    const { status, body: made } = await world.call('POST', path, connectorDraft());
    expect(status).toBe(201);
    expect(made).toEqual(wholeConnector());
    expect(await world.must('GET', `${path}/${made.id}`)).toEqual(made);
    const listed = await world.must('GET', `${path}?workspaceId=${world.workspaceId}&search=gate`);
    expect(listed.content).toEqual([made]);
    const sent = {
      id: made.id,
      name: 'Gate 2',
      description: 'iron',
      pushConfigurationAutomatically: true,
    };
    const changed = await world.must('PUT', `${path}/${made.id}`, {
      ...sent,
      connectivity: 'MQTT',
    });
    expect(changed).toEqual({ ...made, ...sent, version: 1, updated: anyTime });
    const gone = await world.call('DELETE', `${path}/${made.id}`);
    expect({ status: gone.status, body: gone.body }).toEqual({ status: 204, body: '' });
  });

  for (const [what, sent, known] of [
    [
      'MQTT with device credentials has no secret',
      { connectivity: 'MQTT', authType: 'DEVICE_CREDENTIALS' },
      { uplinkSecret: null },
    ],
    ['COAP', { connectivity: 'COAP', description: 'slow' }, {}],
    ['with a decoding type', { decodingType: 'CHIRP_STACK', authType: 'BASIC' }, {}],
    [
      'nulls',
      {
        description: null,
        authType: null,
        decodingType: null,
        pushConfigurationAutomatically: null,
      },
      { authType: 'BASIC', decodingType: 'NONE', pushConfigurationAutomatically: false },
    ],
  ] as const)
    test(what, async () => {
      expect(await world.must('POST', path, connectorDraft(sent))).toEqual(
        wholeConnector({ ...sent, ...known }),
      );
    });

  for (const sent of [
    { connectivity: 'LORA' },
    { connectivity: 'WIFI' },
    { connectivity: undefined },
    { authType: 'X' },
    { decodingType: 'X' },
  ])
    test(`refused: ${JSON.stringify(sent)}`, async () => {
      expectRefusal(
        await world.call('POST', path, connectorDraft(sent)),
        400,
        '40001_INVALID_REQUEST',
        { path },
      );
    });

  test('one that a data flow uses cannot be deleted: 409', async () => {
    const device = await world.device({ name: 'holds it' });
    const used = `${path}/${device.connectorId}`;
    expectRefusal(await world.call('DELETE', used), 409, '40902_IN_USE', { path: used });
  });
});

describe('contract 9: output connectors', () => {
  const path = '/v3/output-connectors';

  test('the database connector has its fixed id, is global, and every property object is present and null', async () => {
    expect(await world.must('GET', `${path}/${database}`)).toEqual(wholeDatabase());
    for (const query of [
      '',
      '&global=true',
      '&scope=DATA_FLOW',
      '&type=DATABASE',
      '&type=AKENZA_DATABASE',
    ])
      expect(
        (await world.must('GET', `${path}?workspaceId=${world.workspaceId}${query}`)).content,
      ).toEqual([wholeDatabase()]);
    for (const query of ['&scope=RULE_ACTION', '&global=false', '&type=WEBHOOK'])
      expect(
        (await world.must('GET', `${path}?workspaceId=${world.workspaceId}${query}`)).content,
      ).toEqual([]);
  });

  test('contract 34: towards the vendor client its type has the vendor name', async () => {
    const one = await world.call('GET', `${path}/${database}`, undefined, vendor);
    expect(one.body).toEqual(wholeDatabase({ type: 'AKENZA_DATABASE' }));
    const list = await world.call(
      'GET',
      `${path}?workspaceId=${world.workspaceId}`,
      undefined,
      vendor,
    );
    expect(list.body.content).toEqual([wholeDatabase({ type: 'AKENZA_DATABASE' })]);
  });

  test('no caller changes or deletes it: 403', async () => {
    const one = `${path}/${database}`;
    expectRefusal(await world.call('DELETE', one), 403, '40300_PERMISSION_DENIED', { path: one });
    expectRefusal(await world.call('PUT', one, { name: 'x' }), 403, '40300_PERMISSION_DENIED', {
      path: one,
    });
  });

  test('a type that is not known is refused with 400', async () => {
    const sent = { name: 'x', workspaceId: world.workspaceId, type: 'CARRIER_PIGEON' };
    expectRefusal(await world.call('POST', path, sent), 400, '40011_OUTPUT_NOT_AVAILABLE', {
      path,
    });
  });
});

describe('contract 10: data flows', () => {
  const path = '/v3/data-flows';
  const code = 'function consume(event) { emit("sample", { data: event.data }); }';
  const parts = async () => ({
    connector: await world.must('POST', '/v3/device-connectors', connectorDraft()),
    type: await world.must('POST', '/v3/device-types', {
      name: 'Meter',
      organizationId: world.organizationId,
      type: 'manual',
      meta: {},
      schemas: { default: { type: 'object' } },
      uplinkScript: { code },
      pictureUrl: 'https://maker.test/a.png',
    }),
  });
  const head = (connector: object, known: object = {}) => ({
    id: anyId('08'),
    version: 0,
    created: anyTime,
    updated: null,
    name: 'Flow',
    description: null,
    deviceConnector: connector,
    workspaceId: world.workspaceId,
    organizationId: world.organizationId,
    passThrough: false,
    isPassThrough: false,
    retentionDays: null,
    ...known,
  });

  test('detail has whole records, the list has names; both have passThrough and isPassThrough', async () => {
    const { connector, type } = await parts();
    const { status, body: made } = await world.call('POST', path, {
      name: 'Flow',
      workspaceId: world.workspaceId,
      deviceConnector: { id: connector.id },
      deviceType: { id: type.id },
      outputConnectors: [{ id: database, topic: '*' }],
      isPassThrough: false,
    });
    expect(status).toBe(201);
    expect(made).toEqual({
      ...head(connector),
      deviceType: type,
      outputConnectors: [{ ...wholeDatabase(), topic: '*' }],
    });
    expect(made.deviceType.schemas).toEqual({ default: '{"type":"object"}' });
    expect(await world.must('GET', `${path}/${made.id}`)).toEqual(made);
    const asked = await world.call('GET', `${path}/${made.id}`, undefined, vendor);
    expect(asked.body.outputConnectors).toEqual([
      { ...wholeDatabase({ type: 'AKENZA_DATABASE' }), topic: '*' },
    ]);
    const { content } = await world.must(
      'GET',
      `${path}?workspaceId=${world.workspaceId}&search=flow`,
    );
    const { id, name, pictureUrl } = type;
    expect(content).toEqual([
      {
        ...head(connector, { id: made.id }),
        deviceType: { id, name, pictureUrl },
        outputConnectors: [{ id: database, topic: '*' }],
      },
    ]);
    await world.must('DELETE', `${path}/${made.id}`);
  });

  test('review behaviour 15: a list names no output towards the vendor client whose type that does not know', async () => {
    const { connector } = await parts();
    const nats = await world.must('POST', '/v3/output-connectors', {
      name: 'Bus',
      workspaceId: world.workspaceId,
      scope: 'DATA_FLOW',
      type: 'NATS',
      natsProperties: { uri: 'nats://bus.example.com:4222', subject: 'samples' },
    });
    const made = await world.must('POST', path, {
      name: 'Two outputs',
      workspaceId: world.workspaceId,
      deviceConnector: { id: connector.id },
      isPassThrough: true,
      outputConnectors: [database, nats.id].map((id) => ({ id, topic: '*' })),
    });
    const listed = async (headers: Record<string, string>) => {
      const query = `workspaceId=${world.workspaceId}&search=Two outputs`;
      const { body } = await world.call('GET', `${path}?${query}`, undefined, headers);
      return body.content[0].outputConnectors.map(({ id }: { id: string }) => id);
    };
    expect(await listed({})).toEqual([database, nats.id]);
    expect(await listed(vendor)).toEqual([database]);
    await world.must('DELETE', `${path}/${made.id}`);
    await world.must('DELETE', `/v3/output-connectors/${nats.id}`);
  });

  for (const [what, flag, typed, expected] of [
    ['isPassThrough true', { isPassThrough: true }, true, true],
    ['passThrough true', { passThrough: true }, true, true],
    ['neither, with a device type', {}, true, false],
    ['neither, without a device type', {}, false, true],
    ['isPassThrough true, without a device type', { isPassThrough: true }, false, true],
  ] as const)
    test(`pass-through: ${what}`, async () => {
      const { connector, type } = await parts();
      const body = await world.must('POST', path, {
        name: 'Passing',
        workspaceId: world.workspaceId,
        deviceConnector: { id: connector.id },
        deviceType: typed ? { id: type.id } : null,
        outputConnectors: [],
        ...flag,
      });
      expect(body).toMatchObject({ passThrough: expected, isPassThrough: expected });
      expect(body.deviceType === null).toBe(!typed);
    });

  test('PUT changes all but the connector; a body read before comes back the same', async () => {
    const { connector, type } = await parts();
    const made = await world.must('POST', path, {
      name: 'Flow',
      workspaceId: world.workspaceId,
      deviceConnector: { id: connector.id },
      outputConnectors: [{ id: database }],
    });
    expect(made).toMatchObject({
      passThrough: true,
      deviceType: null,
      outputConnectors: [{ id: database, topic: '*' }],
    });
    const one = `${path}/${made.id}`;
    expect(await world.must('PUT', one, made)).toEqual({ ...made, version: 1, updated: anyTime });
    const sent = {
      id: made.id,
      name: 'Flow 2',
      description: 'wide',
      isPassThrough: false,
      retentionDays: 30,
      deviceType: { id: type.id },
    };
    const outputConnectors = [{ id: database, topic: 'climate' }];
    expect(await world.must('PUT', one, { ...sent, outputConnectors })).toEqual({
      ...made,
      ...sent,
      deviceType: type,
      passThrough: false,
      outputConnectors: [{ ...wholeDatabase(), topic: 'climate' }],
      version: 2,
      updated: anyTime,
    });
    expectRefusal(
      await world.call('PUT', one, { name: 'x', version: 1 }),
      409,
      '40901_STALE_VERSION',
      { path: one },
    );
  });

  test('one that a device uses cannot be deleted: 409; unknown parts: 400', async () => {
    const device = await world.device({ name: 'held' });
    const used = `${path}/${device.dataFlowId}`;
    expectRefusal(await world.call('DELETE', used), 409, '40902_IN_USE', { path: used });
    const draft = {
      name: 'Flow',
      workspaceId: world.workspaceId,
      deviceConnector: { id: device.connectorId },
    };
    for (const more of [
      { deviceConnector: { id: '07nowhere' } },
      { deviceType: { id: '33nowhere' } },
      { outputConnectors: [{ id: '09nowhere', topic: '*' }] },
    ]) {
      const refused = await world.call('POST', path, { ...draft, ...more });
      expectRefusal(refused, 400, '40010_UNKNOWN_REFERENCE', {
        path,
        message: expect.stringContaining('nowhere'),
      });
    }
    const refused = await world.call('POST', path, { ...draft, deviceConnector: undefined });
    expectRefusal(refused, 400, '40001_INVALID_REQUEST', { path });
  });
});

for (const [aliases, header, type] of [
  ['header', false, 'DATABASE'],
  ['header', true, 'AKENZA_DATABASE'],
  ['always', false, 'AKENZA_DATABASE'],
  ['off', true, 'DATABASE'],
] as const)
  test(`contract 35: VENDOR_ALIASES=${aliases}, ${header ? 'with' : 'without'} the vendor header: ${type}`, async () => {
    const other = await startWorld({ environment: { VENDOR_ALIASES: aliases } });
    const path = `/v3/output-connectors/${database}`;
    expect((await other.call('GET', path, undefined, header ? vendor : {})).body.type).toBe(type);
    const device = await other.device();
    await other.capture(device, { a: 1 });
    const query = await other.call(
      'GET',
      `/v3/devices/${device.id}/query`,
      undefined,
      header ? vendor : {},
    );
    expect(query.body[0].akenzaDeviceId).toBe(type === 'DATABASE' ? undefined : device.id);
    await other.close();
  });
