// Contract 26: the audit log has every change of every record with its actor, and no secret.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type AccessWorld,
  type Acting,
  addMember,
  makeFixtures,
  password,
  signIn,
  mailSettings,
  startAccessWorld,
} from './access-world.ts';

let at: AccessWorld;
beforeAll(async () => {
  at = await startAccessWorld(mailSettings);
});
afterAll(() => at.close());

interface Entry {
  readonly action: string;
  readonly resourceType: string;
  readonly resourceId: string;
  readonly changes: readonly {
    readonly field: string;
    readonly before?: unknown;
    readonly after?: unknown;
  }[];
}

async function logged(query: string, by: Acting = at.owner): Promise<Entry[]> {
  return (await by.must('GET', `/v3/audit-logs?${query}`)).content;
}
const shortOf = (entries: readonly Entry[]) =>
  entries.map(({ action, resourceType }) => `${action} ${resourceType}`);

test('versions of a device configuration: added and deleted, with the device of each', async () => {
  const { owner, world } = at;
  const made = await makeFixtures(owner, world.workspaceId, 'configured');
  const path = `/v3/devices/${made.device}/configuration`;
  await owner.must('POST', path, {
    workspaceId: world.workspaceId,
    configuration: { intervalSeconds: 60 },
  });
  await owner.must('DELETE', `${path}/1`);
  const entries = await logged(
    `resourceType=DEVICE_CONFIGURATION&workspaceId=${world.workspaceId}`,
  );
  expect(entries).toMatchObject([
    { action: 'DELETE', resourceId: `${made.device}/1`, resourceName: 'configured record' },
    { action: 'CREATE', resourceId: `${made.device}/1`, resourceName: 'configured record' },
  ]);
  const change = { field: 'configuration', before: { intervalSeconds: 60 } };
  expect(entries[0]!.changes).toContainEqual(change);
  expect(entries[1]!.changes).toContainEqual({
    field: 'configuration',
    after: { intervalSeconds: 60 },
  });
});

test('one record of each kind: created, changed and deleted', async () => {
  const { owner, world } = at;
  const made = await makeFixtures(owner, at.secondWorkspaceId, 'audit');
  const paths = {
    RULE: `/v3/rules/${made.rule}`,
    CALCULATION: `/v3/calculations/${made.calculation}`,
    MUTE: `/v3/mutes/${made.mute}`,
    ON_CALL: `/v3/on-call/${made.onCall}`,
    CUSTOM_LOGIC: `/v3/rules/custom/${made.customLogic}`,
    TAG: `/v3/tags/${made.tag}`,
    PLACE: `/v3/places/${made.place}`,
    DEVICE: `/v3/devices/${made.device}`,
    DATA_FLOW: `/v3/data-flows/${made.dataFlow}`,
    DEVICE_CONNECTOR: `/v3/device-connectors/${made.deviceConnector}`,
    INTEGRATION: `/v3/integrations/${made.integration}`,
    CUSTOM_FIELD_META: `/v3/custom-fields/meta/${made.customField}`,
    REPORT: `/v3/reports/${made.report}`,
    DASHBOARD: `/v3/dashboards/${made.dashboard}`,
    DASHBOARD_GROUP: `/v3/dashboard-groups/${made.dashboardGroup}`,
    BLOB: `/v3/blobs/${made.blob}`,
    DEVICE_TYPE: `/v3/device-types/${made.deviceType}`,
    WORKSPACE: `/v3/workspaces/${at.secondWorkspaceId}`,
    API_KEY: `/v3/api-keys/${made.apiKey}`,
    OAUTH_CLIENT: `/v3/oauth-clients/${made.oauthClient}`,
  };
  for (const [kind, path] of Object.entries(paths)) {
    const id = path.split('/').at(-1)!;
    const changeable = !['API_KEY', 'OAUTH_CLIENT', 'BLOB'].includes(kind);
    if (changeable) await owner.must('PUT', path, { name: 'renamed' });
    if (kind === 'OAUTH_CLIENT') await owner.must('POST', `${path}/rotate-secret`);
    await owner.must('DELETE', path);
    const entries = await logged(`resourceId=${id}`);
    const updated = changeable || kind === 'OAUTH_CLIENT' ? [`UPDATE ${kind}`] : [];
    // The operation of the fixtures tagged the device.
    if (kind === 'DEVICE') updated.push('UPDATE DEVICE');
    expect(shortOf(entries)).toEqual([`DELETE ${kind}`, ...updated, `CREATE ${kind}`]);
    if (changeable)
      expect(entries[1]!.changes).toContainEqual({
        field: 'name',
        before: expect.any(String),
        after: 'renamed',
      });
    if (kind === 'OAUTH_CLIENT')
      expect(entries[1]!.changes).toEqual([{ field: 'secretHash', secret: true }]);
  }
  await owner.must('PUT', `/v3/organizations/${world.organizationId}`, { description: 'told' });
  const [entry] = await logged(`resourceType=organization&action=UPDATE`);
  expect(entry).toEqual({
    id: expect.any(String),
    timestamp: expect.stringMatching(/Z$/),
    organizationId: world.organizationId,
    workspaceId: null,
    actor: { type: 'USER', id: expect.any(String), name: 'Administrator' },
    action: 'UPDATE',
    resourceType: 'ORGANIZATION',
    resourceId: world.organizationId,
    resourceName: 'Organization',
    requestId: expect.any(String),
    ip: '127.0.0.1',
    changes: [{ field: 'description', after: 'told' }],
  });
});

describe('interface 5 rule 10: who it was', () => {
  test('a user, a key and a token are distinguished', async () => {
    const { owner, world } = at;
    const [key, client] = [await at.key(), await at.client()];
    for (const by of [owner, key, client])
      await by.must('POST', '/v3/tags', { name: 'who', workspaceId: world.workspaceId });
    const actors = (await logged('resourceType=TAG&size=3')).map(
      (entry) => (entry as unknown as { actor: object }).actor,
    );
    expect(actors).toEqual([
      { type: 'OAUTH_CLIENT', id: client.id, name: 'made' },
      { type: 'API_KEY', id: key.id, name: 'made' },
      { type: 'USER', id: (await owner.must('GET', '/v3/auth/me')).id, name: 'Administrator' },
    ]);
    expect(await logged(`actorId=${key.id}`)).toHaveLength(1);
  });
  test('an operation has the name of its creator', async () => {
    const key = await at.key();
    const made = await makeFixtures(at.owner, at.world.workspaceId, 'operation');
    const draft = {
      workspaceId: at.world.workspaceId,
      devices: [{ name: 'n', deviceId: 'bulk-1', dataFlowId: made.dataFlow }],
    };
    const operation = await key.must('POST', '/v3/devices/bulk/create', draft);
    const path = `/v3/operations/${operation.id}`;
    for (;;) if ((await key.must('GET', path)).completed !== null) break;
    const [entry] = await logged(`resourceType=DEVICE&actorId=${key.id}`);
    expect(entry).toMatchObject({
      action: 'CREATE',
      actor: { type: 'API_KEY', id: key.id },
      requestId: operation.id,
    });
  });
  test('the request id of the answer is that of the entry', async () => {
    const answer = await at.owner.call(
      'POST',
      '/v3/tags',
      { name: 'id', workspaceId: at.world.workspaceId },
      { 'x-request-id': 'my-own-id' },
    );
    const [entry] = await logged(`resourceId=${answer.body.id}`);
    expect(entry).toMatchObject({ requestId: 'my-own-id' });
  });
  test('concurrent requests keep their own names', async () => {
    const actors = await Promise.all(Array.from({ length: 8 }, () => at.key()));
    const tags = await Promise.all(
      Array.from({ length: 64 }, async (_, n) => {
        const by = actors[n % actors.length]!;
        return [
          by.id,
          (await by.must('POST', '/v3/tags', { name: `n${n}`, workspaceId: at.world.workspaceId }))
            .id,
        ] as const;
      }),
    );
    for (const [actor, tag] of tags)
      expect(await logged(`resourceId=${tag}`)).toMatchObject([{ actor: { id: actor } }]);
  });
});

test('what is refused leaves no entry', async () => {
  const before = (await at.owner.must('GET', '/v3/audit-logs')).totalElements;
  const calls = [
    await at.owner.call('POST', '/v3/tags', { name: 'x', workspaceId: 'nowhere' }),
    await at.owner.call('POST', '/v3/tags', {
      name: 'x',
      workspaceId: at.world.workspaceId,
      color: 'red',
    }),
    await at.otherOwner.call('DELETE', `/v3/workspaces/${at.world.workspaceId}`),
    await at.owner.call('PUT', `/v3/workspaces/${at.world.workspaceId}`, {
      name: 'x',
      version: 99,
    }),
  ];
  expect(calls.map((answer) => answer.status)).toEqual([404, 400, 404, 409]);
  expect((await at.owner.must('GET', '/v3/audit-logs')).totalElements).toBe(before);
});

test('people: invited, joined, signed in, changed and removed', async () => {
  const { base, owner, world } = at;
  const of = `/v3/organizations/${world.organizationId}`;
  const { userId } = await addMember(base, owner, of, 'watched@example.org', 'VIEWER');
  const person = await signIn(base, 'watched@example.org');
  await person.must('PUT', '/v3/auth/password', {
    currentPassword: password,
    newPassword: 'another good one',
  });
  await person.must('POST', '/v3/auth/logout');
  await owner.must('PUT', `${of}/members/${userId}`, { role: 'EDITOR' });
  await owner.must('DELETE', `${of}/members/${userId}`);
  expect(shortOf(await logged(`resourceId=${userId}`))).toEqual([
    'LOGOUT USER',
    'UPDATE USER',
    'LOGIN USER',
  ]);
  const member = await logged('resourceType=MEMBER&size=4');
  expect(shortOf(member)).toEqual([
    'DELETE MEMBER',
    'UPDATE MEMBER',
    'UPDATE MEMBER',
    'CREATE MEMBER',
  ]);
  expect(member[1]!.changes).toEqual([{ field: 'role', before: 'VIEWER', after: 'EDITOR' }]);
});

describe('reading it', () => {
  test('filters: workspace, time, actor, kind, action; newest first; pages', async () => {
    const { owner, world } = at;
    const tag = await owner.must('POST', '/v3/tags', {
      name: 'filtered',
      workspaceId: world.workspaceId,
    });
    const [entry] = (await logged(`resourceId=${tag.id}`)) as unknown as [{ timestamp: string }];
    const count = async (query: string) =>
      (await owner.must('GET', `/v3/audit-logs?${query}`)).totalElements;
    const id = `resourceId=${tag.id}`;
    expect(await count(`${id}&workspaceId=${world.workspaceId}`)).toBe(1);
    expect(
      await count(`${id}&workspaceId=${at.secondWorkspaceId}&workspaceId=${world.workspaceId}`),
    ).toBe(1);
    expect(await count(`${id}&from=${entry.timestamp}`)).toBe(1);
    expect(await count(`${id}&to=${entry.timestamp}`)).toBe(0);
    expect(await count(`${id}&action=DELETE`)).toBe(0);
    expect(await count(`${id}&resourceType=DEVICE`)).toBe(0);
    expect((await owner.call('GET', '/v3/audit-logs?from=soon')).status).toBe(400);
    expect((await owner.call('GET', '/v3/audit-logs?action=EXPLODE')).status).toBe(400);
    const page = await owner.must('GET', '/v3/audit-logs?size=2&page=1&sort=timestamp,desc');
    const both = await logged('size=4');
    expect(page.content).toEqual(both.slice(2));
  });
  test('another organization sees only its own entries', async () => {
    expect(
      (await at.otherOwner.call('GET', `/v3/audit-logs?organizationId=${at.world.organizationId}`))
        .status,
    ).toBe(404);
    expect(await logged(`workspaceId=${at.world.workspaceId}`, at.otherOwner)).toEqual([]);
    for (const entry of await logged('size=1000', at.otherOwner)) {
      expect((entry as unknown as { organizationId: string }).organizationId).toBe(
        at.otherOrganizationId,
      );
    }
  });
  test('export: as many lines as entries, in both forms, and no formula for a spreadsheet', async () => {
    await at.owner.must('POST', '/v3/tags', {
      name: '=HYPERLINK("http://x")',
      workspaceId: at.world.workspaceId,
    });
    const { totalElements } = await at.owner.must('GET', '/v3/audit-logs');
    const csv = await at.owner.call('GET', '/v3/audit-logs/export');
    expect(csv.headers.get('content-type')).toContain('text/csv');
    expect(csv.headers.get('content-disposition')).toBe('attachment; filename="audit-log.csv"');
    expect(csv.body.trim().split('\r\n')).toHaveLength(totalElements + 1);
    expect(csv.body).toContain(`"'=HYPERLINK(""http://x"")"`);
    const lines = await at.owner.call('GET', '/v3/audit-logs/export?format=ndjson');
    const entries = lines.body
      .trim()
      .split('\n')
      .map((line: string) => JSON.parse(line));
    expect(entries).toHaveLength(totalElements);
    expect(entries[0]).toEqual((await logged('size=1'))[0]);
  });
  test('a long value is recorded by length and hash', async () => {
    const { owner, world } = at;
    const code = `function consume() {} // ${'x'.repeat(5_000)}`;
    const draft = {
      name: 'long',
      organizationId: world.organizationId,
      type: 'manual',
      meta: {},
      uplinkScript: { code },
    };
    const type = await owner.must('POST', '/v3/device-types', draft);
    const [entry] = await logged(`resourceId=${type.id}`);
    const change = entry!.changes.find(({ field }) => field === 'uplinkScript');
    expect(change).toEqual({
      field: 'uplinkScript',
      after: { length: expect.any(Number), sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    });
  });
});
