// Access world: two organizations on one platform, users with every role, and calls as any of them.
import { everyPermission, type Permissions } from '../../src/model/principal.ts';
import { type Answered, checkedFetch } from '../world/checked-fetch.ts';
import { startWorld, type World } from '../world/world.ts';

export const password = 'correct horse battery staple';
export type Call = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<Answered>;

/** A call that must succeed; its body. */
export type Must = (method: string, path: string, body?: unknown) => Promise<Answered['body']>;

export interface Acting {
  readonly headers: Record<string, string>;
  readonly call: Call;
  readonly must: Must;
}

/** One record of each kind in a workspace. */
export interface Fixtures {
  readonly organization: string;
  readonly workspace: string;
  readonly device: string;
  readonly physicalId: string;
  readonly secret: string;
  readonly tag: string;
  readonly place: string;
  readonly deviceConnector: string;
  readonly integration: string;
  /**
   * Empty unless a test makes one: an installation that delivers nowhere refuses them over the
   * interface.
   */
  readonly outputConnector: string;
  /** One of that connector. */
  readonly delivery: string;
  readonly dataFlow: string;
  readonly deviceType: string;
  readonly apiKey: string;
  readonly oauthClient: string;
  readonly customField: string;
  readonly blob: string;
  readonly dashboard: string;
  readonly dashboardGroup: string;
  readonly operation: string;
  readonly sampleExport: string;
  readonly rule: string;
  readonly calculation: string;
  readonly mute: string;
  readonly onCall: string;
  /** Empty unless a test makes one: rules open them. */
  readonly alarm: string;
  readonly customLogic: string;
  readonly view: string;
  readonly annotation: string;
  /** Empty in a world without a mail server. */
  readonly report: string;
}

export function actingBy(base: string, headers: Record<string, string>): Acting {
  const call: Call = (method, path, body, more = {}) => {
    const type =
      body === undefined || typeof body === 'string' ? {} : { 'content-type': 'application/json' };
    return checkedFetch(base, method, path, { ...type, ...headers, ...more }, body);
  };
  const must: Must = async (method, path, body) => {
    const answer = await call(method, path, body);
    if (answer.status >= 300)
      throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  return { headers, call, must };
}

/** Signs in; the calls carry the session cookie and the csrf token. */
export async function signIn(
  base: string,
  email: string,
  options: { readonly password?: string; readonly organizationId?: string } = {},
): Promise<Acting> {
  const body = {
    email,
    password: options.password ?? password,
    organizationId: options.organizationId ?? null,
  };
  const answer = await actingBy(base, {}).call('POST', '/v3/auth/login', body);
  if (answer.status !== 200)
    throw new Error(`sign-in of ${email}: ${answer.status} ${JSON.stringify(answer.body)}`);
  const cookie = answer.headers
    .getSetCookie()
    .map((one) => one.split(';')[0])
    .join('; ');
  return actingBy(base, { cookie, 'x-csrf-token': answer.body.csrfToken });
}

/** Invites a user and accepts in their name. */
export async function addMember(
  base: string,
  owner: Acting,
  of: string,
  email: string,
  role: string,
): Promise<{ readonly userId: string }> {
  const invited = await owner.must('POST', `${of}/members`, { email, role });
  if (invited.invitationUrl !== null) {
    const token = String(invited.invitationUrl).split('/').at(-1);
    await actingBy(base, {}).must('POST', `/v3/auth/invitations/${token}`, {
      name: email,
      password,
    });
  }
  return { userId: invited.userId };
}

/** Inputs and logic of a rule that compares a key of a device with itself. */
export function comparisonOf(deviceId: string) {
  const source = {
    id: 's',
    inputIds: [deviceId],
    dataTopic: 'default',
    dataKey: 'a',
    valueType: 'NUMERICAL',
  };
  const operand = { type: 'DATA_SOURCE', dataSourceId: 's' };
  const conditions = [{ operandFirst: operand, operator: 'EQ', operandSecond: operand }];
  return {
    inputs: [{ id: deviceId, type: 'DEVICE' }],
    logic: { type: 'COMPARISON', dataSources: [source], logicBlocks: [{ conditions }] },
  };
}

/** Reports need a mail server; nothing is sent to this one. */
export const mailSettings = { SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'iot@example.org' };

/** Switched off, so that nothing is sent. */
export function reportOf(dashboardId: string) {
  return {
    dashboardId,
    schedule: { every: 'DAILY', at: '07:00', timeZone: 'UTC' },
    recipients: ['reader@example.org'],
    active: false,
  };
}

/** A connector, a type, a flow, a tag and a device of them. */
async function createDevice(owner: Acting, { organizationId, workspaceId }: Place, mark: string) {
  const named = { name: `${mark} record`, workspaceId };
  const connector = await owner.must('POST', '/v3/device-connectors', {
    ...named,
    connectivity: 'HTTP',
  });
  const type = await owner.must('POST', '/v3/device-types', {
    name: named.name,
    organizationId,
    type: 'manual',
    meta: {},
  });
  const flow = await owner.must('POST', '/v3/data-flows', {
    ...named,
    deviceConnector: { id: connector.id },
    outputConnectors: [{ id: '0900000000000000', topic: '*' }],
  });
  const integration = await owner.must('POST', '/v3/integrations', { ...named, type: 'GENERIC' });
  const tag = await owner.must('POST', '/v3/tags', named);
  const place = await owner.must('POST', '/v3/places', named);
  const physicalId = `${mark}-physical-${workspaceId}`;
  const device = await owner.must('POST', '/v3/devices', {
    ...named,
    deviceId: physicalId,
    dataFlowId: flow.id,
    connectivity: 'HTTP',
    tags: [{ id: tag.id }],
  });
  return {
    device: device.id,
    physicalId,
    secret: connector.uplinkSecret,
    tag: tag.id,
    place: place.id,
    deviceConnector: connector.id,
    integration: integration.id,
    dataFlow: flow.id,
    deviceType: type.id,
  };
}

/** Credentials, fields, files, dashboards and rules: the records that belong to no flow. */
async function createOthers(owner: Acting, place: Place, mark: string, deviceId: string) {
  const { organizationId, workspaceId } = place;
  const name = `${mark} record`;
  const named = { name, workspaceId };
  const grant = { name, organizationId, permissions: { asset: ['read'] } };
  const key = await owner.must('POST', '/v3/api-keys', grant);
  const client = await owner.must('POST', '/v3/oauth-clients', grant);
  const field = await owner.must('POST', '/v3/custom-fields/meta', { ...named, type: 'STRING' });
  const group = await owner.must('POST', '/v3/dashboard-groups', named);
  const dashboard = await owner.must('POST', '/v3/dashboards', { ...named, groupId: group.id });
  const view = await owner.must('POST', '/v3/views', { ...named, kind: 'x', shared: true });
  const annotation = await owner.must('POST', '/v3/annotations', {
    workspaceId,
    at: '2026-01-01T00:00:00Z',
    text: mark,
    deviceId,
  });
  const { features } = await owner.must('GET', '/v3/about');
  const report = features.mail
    ? await owner.must('POST', '/v3/reports', { ...named, ...reportOf(dashboard.id) })
    : { id: '' };
  const text = { 'content-type': 'text/plain' };
  const blobPath = `/v3/blobs?workspaceId=${workspaceId}&name=${mark}`;
  const blob = (await owner.call('POST', blobPath, mark, text)).body;
  const customLogic = await owner.must('POST', '/v3/rules/custom', {
    name,
    organizationId,
    script: 'function consume() {}',
  });
  const rule = await owner.must('POST', '/v3/rules', { ...named, ...comparisonOf(deviceId) });
  const calculation = await owner.must('POST', '/v3/calculations', {
    ...named,
    deviceIds: [deviceId],
    topic: 'default',
    period: 'PT1H',
    target: { deviceId, topic: 'group' },
    outputs: [{ key: 'devices', count: 'TOTAL' }],
  });
  // One that has ended would be removed during the tests.
  const once = { from: '2100-01-01T00:00:00Z', to: '2100-01-01T01:00:00Z' };
  const mute = await owner.must('POST', '/v3/mutes', { ...named, what: { all: true }, once });
  const onCall = await owner.must('POST', '/v3/on-call', {
    ...named,
    timeZone: 'Europe/Zurich',
    order: [`anna-${mark.toLowerCase().replaceAll(' ', '-')}@example.org`],
    turn: 'P1W',
    startsAt: '2026-01-05T09:00:00+01:00',
  });
  return {
    rule: rule.id,
    calculation: calculation.id,
    mute: mute.id,
    onCall: onCall.id,
    customLogic: customLogic.id,
    customField: field.id,
    blob: blob.id,
    dashboard: dashboard.id,
    dashboardGroup: group.id,
    view: view.id,
    annotation: annotation.id,
    report: report.id,
    apiKey: key.id,
    oauthClient: client.id,
  };
}

interface Place {
  readonly organizationId: string;
  readonly workspaceId: string;
}

/** Creates one record of each kind, named with the mark. */
export async function makeFixtures(
  owner: Acting,
  workspaceId: string,
  mark: string,
): Promise<Fixtures> {
  const { organizationId } = await owner.must('GET', `/v3/workspaces/${workspaceId}`);
  const place = { organizationId, workspaceId };
  const created = await createDevice(owner, place, mark);
  const tagging = { workspaceId, deviceIds: [created.device], addTagIds: [created.tag] };
  const operation = await owner.must('POST', '/v3/devices/bulk/tag', tagging);
  const exported = await owner.must('POST', '/v3/exports', { workspaceId });
  return {
    ...created,
    ...(await createOthers(owner, place, mark, created.device)),
    operation: operation.id,
    sampleExport: exported.id,
    organization: organizationId,
    workspace: workspaceId,
    outputConnector: '',
    delivery: '',
    alarm: '',
  };
}

export interface AccessWorld {
  readonly world: World;
  readonly base: string;
  readonly nobody: Acting;
  /** The owner's session in the first organization. */
  readonly owner: Acting;
  /** The owner's session in the second one. */
  readonly otherOwner: Acting;
  readonly otherOrganizationId: string;
  readonly otherWorkspaceId: string;
  /** A second workspace of the first organization. */
  readonly secondWorkspaceId: string;
  /** A key made through the owner's session. */
  key(grant?: {
    permissions?: Permissions;
    workspaces?: { id: string }[];
  }): Promise<Acting & { id: string; secret: string }>;
  /** An OAuth client and a token of it. */
  client(grant?: {
    permissions?: Permissions;
    workspaces?: { id: string }[];
  }): Promise<OAuthActing>;
  close(): Promise<void>;
}

export interface OAuthActing extends Acting {
  readonly id: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly token: string;
}

export const tokenPath = '/realms/api-keys/protocol/openid-connect/token';

export async function startAccessWorld(
  environment: Record<string, string> = {},
  options: Pick<Parameters<typeof startWorld>[0] & object, 'now'> = {},
): Promise<AccessWorld> {
  const world = await startWorld({ ...options, environment });
  const { base, organizationId } = world;
  const nobody = actingBy(base, {});
  const owner = await signIn(base, 'admin@localhost');
  const other = await owner.must('POST', '/v3/organizations', { name: 'Other' });
  // Another person, because a session reaches every organization of its user.
  const ofOther = `/v3/organizations/${other.id}`;
  await addMember(base, owner, ofOther, 'other-owner@example.org', 'OWNER');
  const otherOwner = await signIn(base, 'other-owner@example.org');
  await otherOwner.must(
    'DELETE',
    `${ofOther}/members/${(await owner.must('GET', '/v3/auth/me')).id}`,
  );
  const otherWorkspace = await otherOwner.must('POST', '/v3/workspaces', {
    name: 'There',
    organizationId: other.id,
  });
  const second = await owner.must('POST', '/v3/workspaces', { name: 'Second', organizationId });
  const drafted = (grant: object) => ({
    name: 'made',
    organizationId,
    permissions: everyPermission,
    ...grant,
  });
  return {
    world,
    base,
    nobody,
    owner,
    otherOwner,
    otherOrganizationId: other.id,
    otherWorkspaceId: otherWorkspace.id,
    secondWorkspaceId: second.id,
    async key(grant = {}) {
      const { id, secret } = await owner.must('POST', '/v3/api-keys', drafted(grant));
      return { id, secret, ...actingBy(base, { 'x-api-key': secret }) };
    },
    async client(grant = {}) {
      const { id, clientId, clientSecret } = await owner.must(
        'POST',
        '/v3/oauth-clients',
        drafted(grant),
      );
      const form = new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: clientId,
        client_secret: clientSecret,
      });
      const type = { 'content-type': 'application/x-www-form-urlencoded' };
      const { body } = await nobody.call('POST', tokenPath, form.toString(), type);
      const token = String(body.access_token);
      return {
        id,
        clientId,
        clientSecret,
        token,
        ...actingBy(base, { authorization: `Bearer ${token}` }),
      };
    },
    close: () => world.close(),
  };
}
