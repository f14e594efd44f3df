// Device tools: workspaces, devices, what they send, and what happened to their payloads.
import Type from 'typebox';
import { idPattern, membersOf, type Tool, tool, urlOf } from './tool.ts';

export const deviceId = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: idPattern,
  description: 'Service id of a device (`id` from find_devices)',
});
const workspaceId = Type.Optional(
  Type.String({ maxLength: 100, description: 'Defaults to all workspaces of the credential' }),
);

const workspacesMax = 100;
const devicesMax = 50;

interface Listed {
  readonly content: readonly unknown[];
  readonly totalElements: number;
}

const listWorkspaces = tool({
  name: 'list_workspaces',
  title: 'List workspaces',
  description: `Lists up to ${workspacesMax} workspaces that the credential can read, with their IDs and names.`,
  input: Type.Object({}, { additionalProperties: false }),
  async run({ ask }) {
    const found = await ask('GET', urlOf('/v3/workspaces', { size: workspacesMax }));
    const { content, totalElements } = found as Listed;
    return {
      total: totalElements,
      workspaces: content.map((one) => membersOf(one, ['id', 'name'])),
    };
  },
});

const shownOfDevice = [
  'id',
  'deviceId',
  'name',
  'description',
  'workspaceId',
  'connectivity',
  'dataFlowId',
  'online',
  'onlineState',
  'uplinkMetrics',
  'tags',
  'created',
];

const findDevices = tool({
  name: 'find_devices',
  title: 'Find devices',
  description: `Devices by a part of their name or id, and by whether they are online. Returns at most ${devicesMax}, and how many there are. \`id\` is what other tools take, \`deviceId\` is the physical id.`,
  input: Type.Object(
    {
      workspaceId,
      search: Type.Optional(
        Type.String({ maxLength: 200, description: 'Search text for name or ID' }),
      ),
      online: Type.Optional(Type.Boolean()),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: devicesMax })),
    },
    { additionalProperties: false },
  ),
  async run(caller, { workspaceId: named, search, online, limit = 20 }) {
    const workspaceIds = named === undefined ? caller.workspaceIds : [named];
    const place =
      workspaceIds === undefined
        ? { organizationId: caller.organizationId }
        : { workspaceIds: workspaceIds.join(',') };
    const query = { ...place, search, online, size: limit };
    const found = (await caller.ask('GET', urlOf('/v3/assets', query))) as Listed;
    const devices = found.content.map((device) => membersOf(device, shownOfDevice));
    return { total: found.totalElements, devices };
  },
});

const describeDevice = tool({
  name: 'describe_device',
  title: 'Describe device data',
  description:
    'Returns a device and the JSON Schema of its data per topic. Call it before query_samples and summarize.',
  input: Type.Object({ deviceId }, { additionalProperties: false }),
  async run({ ask }, { deviceId: id }) {
    const path = `/v3/devices/${encodeURIComponent(id)}`;
    const device = membersOf(await ask('GET', path), shownOfDevice);
    return { device, schemas: await ask('GET', `${path}/infer-schema`) };
  },
});

const readLog = tool({
  name: 'read_log',
  title: 'Read the processing log',
  description:
    'Processing log of a device, newest first: decoder errors, corrected values, and failed deliveries.',
  input: Type.Object(
    {
      deviceId,
      level: Type.Optional(Type.Enum(['INFO', 'WARN', 'ERROR'])),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
    },
    { additionalProperties: false },
  ),
  async run({ ask }, { deviceId: id, level, limit = 20 }) {
    const path = `/v3/devices/${encodeURIComponent(id)}/processing-logs`;
    const found = (await ask('GET', urlOf(path, { level, size: limit }))) as Listed;
    return { total: found.totalElements, entries: found.content };
  },
});

export const deviceTools: readonly Tool[] = [listWorkspaces, findDevices, describeDevice, readLog];
