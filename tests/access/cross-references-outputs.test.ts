// Attacks over rules, outputs, integrations and downlinks: ids in a request reach nothing of other tenants.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type AccessWorld,
  type Acting,
  addMember,
  comparisonOf,
  type Fixtures,
  makeFixtures,
  signIn,
  startAccessWorld,
} from './access-world.ts';

/** Records of one workspace with an output, an action of rules and a delivery. */
interface Reach extends Fixtures {
  readonly action: string;
}
interface Attacker {
  readonly acting: Acting;
  /** Records of the attackers, where they have every permission. */
  readonly own: Reach;
}

const mark = 'victim';
const attackers: Record<string, Attacker> = {};
let at: AccessWorld;
let victim: Reach;
let before: string;

const webhook = (name: string, workspaceId: string, scope: string, uri: string) => ({
  name,
  workspaceId,
  scope,
  type: 'WEBHOOK',
  webhookProperties: { uri, method: 'POST', headers: {} },
});

async function withOutputs(owner: Acting, of: Fixtures, name: string): Promise<Reach> {
  const make = (scope: string) =>
    owner.must(
      'POST',
      '/v3/output-connectors',
      webhook(name, of.workspace, scope, 'https://hooks.invalid/x'),
    );
  const [output, action] = [await make('DATA_FLOW'), await make('RULE_ACTION')];
  const flow = {
    deviceConnector: { id: of.deviceConnector },
    outputConnectors: [{ id: output.id, topic: '*' }],
  };
  await owner.must('PUT', `/v3/data-flows/${of.dataFlow}`, flow);
  const path = `/v3/capture?secret=${of.secret}&deviceId=${of.physicalId}`;
  const sent = await at.nobody.call('POST', path, { a: 1, word: `${mark}-sample` });
  expect(sent.status).toBe(201);
  for (;;) {
    const { content } = await owner.must('GET', `/v3/output-connectors/${output.id}/deliveries`);
    if (content.length > 0)
      return { ...of, outputConnector: output.id, action: action.id, delivery: content[0].id };
  }
}

beforeAll(async () => {
  at = await startAccessWorld();
  const { owner, otherOwner, base, world } = at;
  victim = await withOutputs(
    owner,
    await makeFixtures(owner, world.workspaceId, mark),
    `${mark} output`,
  );
  const second = await withOutputs(
    owner,
    await makeFixtures(owner, at.secondWorkspaceId, 'own'),
    'own output',
  );
  const other = await withOutputs(
    otherOwner,
    await makeFixtures(otherOwner, at.otherWorkspaceId, 'other'),
    'other',
  );
  await addMember(
    base,
    owner,
    `/v3/workspaces/${at.secondWorkspaceId}`,
    'editor@example.org',
    'EDITOR',
  );
  const workspaces = [{ id: second.workspace }];
  attackers['a key of another workspace'] = { acting: await at.key({ workspaces }), own: second };
  attackers['a token of another workspace'] = {
    acting: await at.client({ workspaces }),
    own: second,
  };
  attackers['a member of another workspace'] = {
    acting: await signIn(base, 'editor@example.org'),
    own: second,
  };
  attackers['the owner of another organization'] = { acting: otherOwner, own: other };
  before = await everythingOf(victim);
});
afterAll(() => at.close());

async function everythingOf(of: Reach): Promise<string> {
  const paths = [
    `/v3/rules/${of.rule}`,
    `/v3/rules/custom/${of.customLogic}`,
    `/v3/data-flows/${of.dataFlow}`,
    `/v3/output-connectors/${of.outputConnector}`,
    `/v3/output-connectors/${of.action}`,
    `/v3/integrations/${of.integration}`,
    `/v3/devices/${of.device}/downlinks`,
  ];
  return JSON.stringify(await Promise.all(paths.map((path) => at.owner.must('GET', path))));
}

type Request = (own: Reach) => readonly [method: string, path: string, body?: unknown];
const named = (own: Reach) => ({ name: 'x', workspaceId: own.workspace });
const acting = (own: Reach, action: string) => {
  const { inputs, logic } = comparisonOf(own.device);
  const logicBlocks = logic.logicBlocks.map((block) => ({ ...block, actionIds: [action] }));
  return { inputs, logic: { ...logic, logicBlocks }, actions: [{ id: action }] };
};
const listening = (own: Reach, input: object) => ({
  ...comparisonOf(own.device),
  inputs: [{ id: own.device, type: 'DEVICE' }, input],
});
const range = { from: '2026-01-01T00:00:00Z', to: '2030-01-01T00:00:00Z' };
const lora = { loraDownlink: { port: 1, confirmed: false, payloadHex: '00' }, raw: true };
const changed = (outputConnectors: object[], own: Reach) => ({
  deviceConnector: { id: own.deviceConnector },
  outputConnectors,
});

/** Rejected for every caller. */
const refused: Record<string, Request> = {
  'a rule whose action is of others': (own) => [
    'POST',
    '/v3/rules',
    { ...named(own), ...acting(own, victim.action) },
  ],
  'the own rule with the action of others': (own) => [
    'PUT',
    `/v3/rules/${own.rule}`,
    { name: 'x', active: true, ...acting(own, victim.action) },
  ],
  'a rule that listens to the tag of others': (own) => [
    'POST',
    '/v3/rules',
    { ...named(own), ...listening(own, { id: victim.tag, type: 'ASSET_TAG' }) },
  ],
  'a rule that listens to tags of which one is of others': (own) => [
    'POST',
    '/v3/rules',
    {
      ...named(own),
      ...listening(own, {
        id: own.tag,
        type: 'TAG_COMBINATION',
        tagCombination: `AND:${own.tag},${victim.tag}`,
      }),
    },
  ],
  'a rule with a data source of the device of others': (own) => {
    const { logic } = comparisonOf(victim.device);
    return [
      'POST',
      '/v3/rules',
      { ...named(own), inputs: [{ id: own.device, type: 'DEVICE' }], logic },
    ];
  },
  'a rule in the workspace of others': (own) => [
    'POST',
    '/v3/rules',
    { ...comparisonOf(own.device), name: 'x', workspaceId: victim.workspace },
  ],
  'the rule of others': () => ['GET', `/v3/rules/${victim.rule}`],
  'changing the rule of others': (own) => [
    'PUT',
    `/v3/rules/${victim.rule}`,
    { name: 'x', active: true, ...comparisonOf(own.device) },
  ],
  'deleting the rule of others': () => ['DELETE', `/v3/rules/${victim.rule}`],
  'the runs of the rule of others': () => ['GET', `/v3/rules/${victim.rule}/runs`],
  'simulating the rule of others': () => ['POST', `/v3/rules/${victim.rule}/simulate`, range],
  'the rules of the workspace of others': () => [
    'GET',
    `/v3/rules?workspaceId=${victim.workspace}`,
  ],
  'deleting the custom logic of others': () => ['DELETE', `/v3/rules/custom/${victim.customLogic}`],
  'a flow with the output of others': (own) => [
    'PUT',
    `/v3/data-flows/${own.dataFlow}`,
    changed([{ id: victim.outputConnector, topic: '*' }], own),
  ],
  'a new flow with the output of others': (own) => [
    'POST',
    '/v3/data-flows',
    { ...named(own), ...changed([{ id: victim.outputConnector, topic: '*' }], own) },
  ],
  'an output in the workspace of others': () => [
    'POST',
    '/v3/output-connectors',
    webhook('x', victim.workspace, 'DATA_FLOW', 'https://hooks.invalid/x'),
  ],
  'the outputs of others': () => ['GET', `/v3/output-connectors?workspaceId=${victim.workspace}`],
  'the output of others': () => ['GET', `/v3/output-connectors/${victim.outputConnector}`],
  'changing the output of others': () => [
    'PUT',
    `/v3/output-connectors/${victim.outputConnector}`,
    { name: 'x' },
  ],
  'testing the output of others': () => [
    'POST',
    `/v3/output-connectors/${victim.outputConnector}/test`,
    {},
  ],
  'testing the own output with the sample of others': (own) => [
    'POST',
    `/v3/output-connectors/${own.outputConnector}/test`,
    { deviceId: victim.device },
  ],
  'a template filled in with the sample of others': (own) => [
    'POST',
    '/v3/templates/preview',
    { workspaceId: own.workspace, template: '{{data}}', deviceId: victim.device },
  ],
  'the deliveries of others': () => [
    'GET',
    `/v3/output-connectors/${victim.outputConnector}/deliveries`,
  ],
  'sending the delivery of others again': () => [
    'POST',
    `/v3/deliveries/${victim.delivery}/resend`,
  ],
  'sending the deliveries of others again': () => [
    'POST',
    `/v3/output-connectors/${victim.outputConnector}/deliveries/resend`,
    {},
  ],
  'the integration of others': () => ['GET', `/v3/integrations/${victim.integration}`],
  'an integration in the workspace of others': () => [
    'POST',
    '/v3/integrations',
    { name: 'x', workspaceId: victim.workspace, type: 'GENERIC' },
  ],
  'changing the integration of others': () => [
    'PUT',
    `/v3/integrations/${victim.integration}`,
    { name: 'x' },
  ],
  'a device of the integration of others': (own) => [
    'POST',
    '/v3/devices',
    {
      ...named(own),
      deviceId: '0011223344556677',
      dataFlowId: own.dataFlow,
      connectivity: 'LORA',
      integrationId: victim.integration,
    },
  ],
  'a downlink to the device of others': () => [
    'POST',
    `/v3/devices/${victim.device}/downlink`,
    lora,
  ],
  'the downlinks of others': () => ['GET', `/v3/devices/${victim.device}/downlinks`],
  'the events of the device of others': () => ['GET', `/v3/devices/${victim.device}/events`],
  'the raw uplinks of others': () => ['GET', `/v3/devices/${victim.device}/uplinks`],
  'replaying the uplinks of others': (own) => [
    'POST',
    `/v3/device-types/${own.deviceType}/replay`,
    { deviceId: victim.device },
  ],
  'replaying own uplinks and those of others': (own) => [
    'POST',
    `/v3/device-types/${own.deviceType}/replay`,
    { deviceIds: [own.device, victim.device] },
  ],
};

/** Answered, with nothing of others in it. */
const answeredWithout: Record<string, Request> = {
  'rules by the input of others': (own) => [
    'GET',
    `/v3/rules?workspaceId=${own.workspace}&inputIds=${victim.device}`,
  ],
  'own deliveries of the device of others': (own) => [
    'GET',
    `/v3/output-connectors/${own.outputConnector}/deliveries?deviceId=${victim.device}`,
  ],
  'deliveries of the connector that everybody has': () => [
    'GET',
    '/v3/output-connectors/0900000000000000/deliveries',
  ],
  'the deliveries of others, named behind the own output': (own) => [
    'POST',
    `/v3/output-connectors/${own.outputConnector}/deliveries/resend`,
    { deliveryIds: [victim.delivery] },
  ],
};

const send = ({ acting: by, own }: Attacker, request: Request) => by.call(...request(own));
const names = [
  'a key of another workspace',
  'a token of another workspace',
  'a member of another workspace',
  'the owner of another organization',
];

describe.each(names)('%s', (name) => {
  test.each(Object.entries(refused))(
    '%s is refused without a word of it',
    async (...[, request]) => {
      const { status, body } = await send(attackers[name]!, request);
      expect([400, 403, 404], JSON.stringify(body)).toContain(status);

      expect(JSON.stringify(body)).not.toContain(mark);
    },
  );

  test.each(Object.entries(answeredWithout))('%s: nothing of others', async (...[, request]) => {
    const { status, body } = await send(attackers[name]!, request);
    expect([200, 202], JSON.stringify(body)).toContain(status);
    expect(body.totalElements ?? body.resent).toBe(0);
    expect(JSON.stringify(body)).not.toContain(mark);
  });
});

test('contract 14: a custom logic block names only rules of permitted workspaces', async () => {
  const block = await at.owner.must('POST', '/v3/rules/custom', {
    name: 'shared',
    organizationId: victim.organization,
    script: 'function consume() {}',
    dataSources: [{ variableName: 's' }],
  });
  const using = (own: Reach, name: string) => {
    const customLogic = { customLogicId: block.id, actionIds: [], properties: [] };
    const inputs = [{ id: own.device, type: 'DEVICE' }];
    const { dataSources } = comparisonOf(own.device).logic;
    const logic = {
      type: 'CUSTOM_LOGIC',
      dataSources: [{ ...dataSources[0]!, variableName: 's' }],
      customLogic,
    };
    return { name, workspaceId: own.workspace, inputs, logic };
  };
  const { own } = attackers[names[0]!]!;
  await at.owner.must('POST', '/v3/rules', using(victim, `${mark} rule`));
  const reached = await at.owner.must('POST', '/v3/rules', using(own, 'own rule'));
  for (const name of names.slice(0, 3)) {
    const { rules } = await attackers[name]!.acting.must('GET', `/v3/rules/custom/${block.id}`);
    expect(rules.map(({ id }: { id: string }) => id)).toEqual([reached.id]);
  }
  const { rules } = await at.owner.must('GET', `/v3/rules/custom/${block.id}`);
  expect(rules).toHaveLength(2);
});

test('contract 35: a credential of one workspace changes no device type and no custom logic by a configuration', async () => {
  const decoder = (code: string) => ({
    name: 'shared type',
    type: 'manual',
    meta: {},
    uplinkScript: { code },
  });
  const made = { ...decoder('function consume() {}'), organizationId: victim.organization };
  const { id } = await at.owner.must('POST', '/v3/device-types', made);
  const stolen = decoder('function consume() { emit("sample", { data: { stolen: true } }); }');
  for (const name of ['a key of another workspace', 'a token of another workspace']) {
    const { acting: by, own } = attackers[name]!;
    const path = `/v3/workspaces/${own.workspace}/configuration`;
    const { format } = await by.must('GET', path);
    for (const sections of [
      { deviceTypes: [stolen] },
      { deviceTypes: [{ ...stolen, name: 'another type' }] },
      { customLogic: [{ name: `${mark} record`, script: 'function consume() { stolen(); }' }] },
    ]) {
      expect(
        (await by.call('PUT', path, { format, ...sections })).status,
        JSON.stringify(sections),
      ).toBe(403);
    }
  }
  const { uplinkScript } = await at.owner.must('GET', `/v3/device-types/${id}`);
  expect(uplinkScript.code).toBe('function consume() {}');
});

test('a device that moved to another workspace shows nothing to the rules of the old one', async () => {
  const { acting: by, own } = attackers['a key of another workspace']!;
  const moving = await at.owner.must('POST', '/v3/devices', {
    ...named(own),
    deviceId: 'moving',
    dataFlowId: own.dataFlow,
    connectivity: 'HTTP',
  });
  const rule = await by.must('POST', '/v3/rules', { ...named(own), ...comparisonOf(moving.id) });
  await at.owner.must('POST', '/v3/devices/bulk/move', {
    workspaceId: own.workspace,
    deviceIds: [moving.id],
    targetWorkspaceId: victim.workspace,
    dataFlowId: victim.dataFlow,
  });
  for (;;) {
    const { workspaceId } = await at.owner.must('GET', `/v3/devices/${moving.id}`);
    if (workspaceId === victim.workspace) break;
  }
  const sent = await at.nobody.call('POST', `/v3/capture?secret=${victim.secret}&deviceId=moving`, {
    a: 4711,
  });
  expect(sent.status).toBe(201);
  const { status, body } = await by.call('POST', `/v3/rules/${rule.id}/simulate`, {
    from: new Date(Date.now() - 3_600_000).toISOString(),
    to: new Date(Date.now() + 60_000).toISOString(),
  });
  expect([200, 400, 403, 404, 409]).toContain(status);
  expect(JSON.stringify(body)).not.toContain('4711');
  expect((await by.must('GET', `/v3/rules/${rule.id}/runs`)).totalElements).toBe(0);
});

test('after all that the victim has what it had', async () => {
  const now = await everythingOf(victim);
  expect(now).toBe(before);
});
