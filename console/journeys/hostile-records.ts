// Hostile records: one of each kind with hostile strings in every field of words, made by the interface.
import { alarmRules } from '../../tests/world/alarm-rules.ts';
import type { TestDevice, World } from '../../tests/world/world.ts';
import { hostileStrings, packed } from './hostile-strings.ts';

/** What is written into the fields of records. */
interface Written {
  /** Of the records of each list. */
  readonly names: readonly string[];
  readonly text: string;
}

interface NewUser {
  readonly email: string;
  readonly role: string;
  readonly password: string;
}

/** A user who has accepted an invitation into the organization. */
async function join(world: World, { email, role, password }: NewUser): Promise<void> {
  const asUser = await signedIn(world);
  const path = `/v3/organizations/${world.organizationId}/members`;
  const { invitationUrl: link } = await asUser(path, { email, role });
  const token = String(link).split('/').at(-1);
  await world.must('POST', `/v3/auth/invitations/${token}`, { name: role, password });
}

/** Names without any trap, for tests that are about something else. */
export const plainWords: Written = {
  names: ['Alpha', 'Beta', 'Gamma', 'Delta'],
  text: 'A few words.',
};

export interface HostileRecords {
  /** Of one record of each kind, by the name of the parameter in addresses. */
  readonly ids: Readonly<Record<string, string>>;
  /** Paths of pages that show every string at the same time. */
  readonly shownAt: readonly string[];
}

const nameCharactersMax = 480;
const everything = hostileStrings.join(' ');

interface Made extends Written {
  readonly world: World;
}

/** In the short form, every list has every string once. */
export function makeHostileRecords(world: World, isLong: boolean): Promise<HostileRecords> {
  const packs = packed(nameCharactersMax);
  const names = isLong ? packs.flatMap((pack) => [pack, `${pack} 2`]) : packs;
  return makeRecords(world, { names, text: everything });
}

/** A record of each kind, and one for each name in each list. */
export async function makeRecords(
  world: World,
  written: Written,
  users: readonly NewUser[] = [],
): Promise<HostileRecords> {
  const made: Made = { world, ...written };
  for (const user of users) await join(world, user);
  const device = await makeDevice(made);
  const lists = await makeLists(made, device);
  const watched = await makeWatched(made, device);
  return {
    ids: { deviceId: device.id, typeId: device.deviceTypeId ?? '', ...lists, ...watched },
    shownAt: [
      '/w/$workspaceId/devices',
      '/w/$workspaceId/places',
      '/w/$workspaceId/types',
      '/w/$workspaceId/rules',
      '/w/$workspaceId/outputs',
      '/o/$organizationId/settings/keys',
      '/o/$organizationId/settings/clients',
      '/w/$workspaceId/devices/$deviceId/overview',
      '/w/$workspaceId/devices/$deviceId/live',
      '/w/$workspaceId/devices/$deviceId/log',
      '/w/$workspaceId/devices/$deviceId/settings',
    ],
  };
}

/** A device of a type: values, notes, tags, custom fields and their names are hostile. */
async function makeDevice({ world, names, text }: Made): Promise<TestDevice> {
  const { workspaceId } = world;
  const here = { workspaceId, description: text };
  const [name = ''] = names;
  const tags = await all(names, (one) => world.must('POST', '/v3/tags', { ...here, name: one }));
  const fields = await all(names.slice(0, 3), (one) =>
    world.must('POST', '/v3/custom-fields/meta', { ...here, name: one, type: 'STRING' }),
  );
  const script = `function consume(event) {
    emit('log', { level: 'ERROR', message: event.data.note });
    emit('sample', { data: event.data, topic: 'default' });
    throw new Error(event.data.note);
  }`;
  const properties = { note: { title: name, unit: name, description: text, type: 'string' } };
  const schema = JSON.stringify({ type: 'object', title: name, properties });
  const device = await world.device({
    name: 'hostile',
    script,
    schemas: { default: schema },
    tags,
  });
  await world.must('PUT', `/v3/device-types/${device.deviceTypeId}`, {
    name,
    description: text,
    meta: { manufacturer: text, author: text },
    sampleData: { examples: [{ name, payload: text }] },
  });
  await world.must('PUT', `/v3/data-flows/${device.dataFlowId}`, { name, description: text });
  await world.must('PUT', `/v3/devices/${device.id}`, {
    name,
    description: text,
    customFields: fields.map(({ id }) => ({ fieldMetaId: id, STRING: text })),
  });
  await world.capture(device, { note: text, leak: 1, temperature: 99 });
  await world.must('POST', '/v3/devices/bulk/create', {
    workspaceId,
    devices: names.slice(1).map((one, at) => ({
      name: one,
      deviceId: `hostile-${at} <b>x</b>`,
      dataFlowId: device.dataFlowId,
    })),
  });
  return device;
}

async function makeLists({ world, names, text }: Made, device: TestDevice) {
  const { organizationId, workspaceId, must } = world;
  const here = { workspaceId, description: text };
  const there = { organizationId, description: text };
  const make = (path: string, name: string, more: object) => must('POST', path, { name, ...more });
  const webhook = {
    type: 'WEBHOOK',
    webhookProperties: {
      uri: 'https://hostile.invalid/in',
      headers: { 'x-a': '<svg onload=alert(1)>' },
    },
    useCustomPayload: true,
    customPayload: JSON.stringify({ note: withoutTemplates(text) }),
  };
  const [type] = await all(names, (name) => make('/v3/device-types', name, there));
  const [output] = await all(names, (name) =>
    make('/v3/output-connectors', name, { ...here, ...webhook }),
  );
  const logic = { ...there, script: `// ${text}\nfunction consume(event) {}` };
  const [block] = await all(names, (name) => make('/v3/rules/custom', name, logic));
  const group = await make('/v3/dashboard-groups', names[0] ?? '', here);
  const tiles = { ...here, groupId: group.id, configuration: { title: text, tiles: [] } };
  const [dashboard] = await all(names, (name) => make('/v3/dashboards', name, tiles));
  const view = { workspaceId, kind: 'devices', shared: true, content: {} };
  await all(names, (name) => make('/v3/views', name, view));
  const [connector] = await all(names.slice(0, 2), (name) =>
    make('/v3/device-connectors', name, { ...here, connectivity: 'HTTP' }),
  );
  const [integration] = await all(names.slice(0, 2), (name) =>
    make('/v3/integrations', name, {
      ...there,
      workspaceId,
      type: 'GENERIC',
      provider: text,
    }),
  );
  const [place] = await all(names, (name) =>
    make('/v3/places', name, { ...here, description: text, kind: text.slice(0, 100) }),
  );
  await must('POST', `/v3/places/${place?.['id']}/devices`, { add: [device.id] });
  const [calculation] = await all(names, (name) =>
    make('/v3/calculations', name, {
      ...here,
      ...{ deviceIds: [device.id], topic: 'default', period: 'PT1H' },
      target: { deviceId: device.id, topic: 'group' },
      outputs: [{ key: 'devices', count: 'TOTAL' }],
    }),
  );
  const asUser = await signedIn(world);
  await all(names, (name) => asUser('/v3/api-keys', { name, ...there, permissions: {} }));
  await all(names, (name) => asUser('/v3/oauth-clients', { name, ...there, permissions: {} }));
  await make('/v3/workspaces', names[0] ?? '', there);
  await must('PUT', `/v3/workspaces/${workspaceId}`, { name: names[1], description: text });
  await must('PUT', `/v3/organizations/${organizationId}`, {
    name: names[2],
    description: text,
  });
  const { link } = await asUser(`/v3/organizations/${organizationId}/members`, {
    email: 'mallory@example.org',
    role: 'MEMBER',
  });
  if (typeof link === 'string')
    await must('POST', `/v3/auth/invitations/${link.split('/').at(-1)}`, {
      name: names[3],
      password: 'several words are good',
    });
  return {
    outputId: String(output?.['id']),
    dashboardId: String(dashboard?.['id']),
    flowId: device.dataFlowId,
    connectorId: String(connector?.['id']),
    integrationId: String(integration?.['id']),
    otherTypeId: String(type?.['id']),
    logicId: String(block?.['id']),
    calculationId: String(calculation?.['id']),
    placeId: String(place?.['id']),
    tab: 'settings',
  };
}

/** Rules that fired, their alarms with comments, and deliveries that failed. */
async function makeWatched({ world, names, text }: Made, device: TestDevice) {
  const { workspaceId, must } = world;
  const rules = alarmRules(world);
  const outputs = await all(names.slice(0, 3), (name) =>
    rules.output({ name: withoutTemplates(name) }, { description: text }),
  );
  const { id: ruleId } = await rules.hotRule(
    device,
    outputs.map((id, at) => [at, String(id)] as const),
  );
  const whole = await must('GET', `/v3/rules/${ruleId}`);
  await all(names, (name) =>
    must('POST', '/v3/rules', {
      name,
      workspaceId,
      description: text,
      inputs: whole['inputs'],
      logic: whole['logic'],
      actions: whole['actions'],
    }),
  );
  await must('PUT', `/v3/rules/${ruleId}`, { name: names[0], description: text });
  await world.capture(device, { note: text, temperature: 99 });
  const alarms = await rules.of(device);
  await all(alarms.slice(0, 1), ({ id }) =>
    must('POST', `/v3/alarms/${id}/comments`, { text: names[0] }),
  );
  return { ruleId, alarmId: alarms[0]?.id ?? '' };
}

/** Calls of the first user, who makes keys, which an API key cannot. */
async function signedIn({ base }: World) {
  const post = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const type = { 'content-type': 'application/json' };
    const all = { method: 'POST', headers: { ...type, ...headers }, body: JSON.stringify(body) };
    const answer = await fetch(base + path, all);
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer;
  };
  const password = 'correct horse battery staple';
  const { headers } = await post('/v3/auth/login', { email: 'admin@localhost', password });
  const cookies = headers.getSetCookie().map((one) => one.split(';')[0] ?? '');
  const csrf = cookies.find((one) => one.startsWith('csrf='))?.slice('csrf='.length) ?? '';
  const session = { cookie: cookies.join('; '), 'x-csrf-token': csrf };
  return async (path: string, body: object) =>
    (await (await post(path, body, session)).json()) as Record<string, unknown>;
}

/** A template with a fault is refused before it is stored. */
const withoutTemplates = (one: string) => one.replaceAll(/\{\{|\}\}/g, '');

/** Together, so that their writes share one sync of the disk. */
function all<T, R>(values: readonly T[], make: (value: T) => Promise<R>): Promise<R[]> {
  return Promise.all(values.map(make));
}
