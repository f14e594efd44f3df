// Contract 39.4: on-call orders, and alarms that mail whoever is on call.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type MailBox, openMailBox } from '../access/mail-box.ts';
import { type AlarmRules, alarmRules } from '../world/alarm-rules.ts';
import { startWorld, type World } from '../world/world.ts';

const minute = 60_000;
const day = 24 * 60 * minute;
let aheadMs = 0;
const now = () => Date.now() + aheadMs;
const iso = (ms: number) => new Date(ms).toISOString();
let box: MailBox;
let world: World;
let rules: AlarmRules;
beforeAll(async () => {
  box = await openMailBox();
  world = await startWorld({
    environment: { SMTP_URL: box.url, MAIL_FROM: 'heliograph@example.org' },
    now,
  });
  rules = alarmRules(world);
});
afterAll(async () => {
  await world.close();
  await box.close();
});

const order = (name: string, more: object = {}) => ({
  name,
  workspaceId: world.workspaceId,
  timeZone: 'Europe/Zurich',
  order: [`anna-${name}@example.org`, `ben-${name}@example.org`],
  turn: 'P1D',
  startsAt: iso(now() - 60 * minute),
  ...more,
});
const create = (name: string, more: object = {}) =>
  world.must('POST', '/v3/on-call', order(name, more));

/** A device whose alarm mails the order of each change. */
async function watched(name: string, onCallId: string, more: object = {}) {
  const device = await world.device({ name });
  const notify = ['OPENED', 'CLEARED', 'ESCALATED'].map((on) => ({ on, onCallId }));
  await rules.hotRule(device, [[20, await rules.output({ notify, ...more })]]);
  return device;
}

/** The mail to the address that contains the text, once it is there. */
async function mailTo(address: string, text: string) {
  const found = () => box.mails.find((mail) => mail.to === address && mail.text.includes(text));
  await expect.poll(found, { timeout: 60_000 }).toBeDefined();
  return found()!;
}

test('an order is created, listed, updated and deleted', async () => {
  const made = await create('crud');
  expect(made).toMatchObject({
    id: expect.stringMatching(/^46/),
    description: null,
    timeZone: 'Europe/Zurich',
    overrides: [],
    formerMembers: [],
    version: 0,
  });
  const path = `/v3/on-call/${made.id}`;
  const overrides = [
    { from: iso(now() + 3 * day), to: iso(now() + 4 * day), email: 'dora@example.org' },
    { from: iso(now() + day), to: iso(now() + 2 * day), email: 'carl@example.org' },
  ];
  const changed = await world.must('PUT', path, { overrides, turn: 'P1W', version: 0 });
  expect(changed).toMatchObject({ turn: 'P1W', order: made.order, version: 1 });
  expect(changed.overrides).toEqual([overrides[1], overrides[0]]);
  expect((await world.call('PUT', path, { name: 'x', version: 0 })).status).toBe(409);
  const listed = await world.must('GET', `/v3/on-call?workspaceId=${world.workspaceId}&search=cru`);
  expect(listed.content).toEqual([changed]);
  expect((await world.must('PUT', path, { overrides: null })).overrides).toEqual([]);
  await world.must('DELETE', path);
  expect((await world.call('GET', path)).status).toBe(404);
});

test('turns keep their local hour, and overrides take their time', async () => {
  const { id } = await create('shifts', {
    turn: 'P1W',
    startsAt: '2026-10-19T09:00:00+02:00',
    overrides: [
      { from: '2026-10-21T18:00:00Z', to: '2026-10-22T06:00:00Z', email: 'carl@example.org' },
    ],
  });
  const at = (time: string) =>
    world.must('GET', `/v3/on-call/${id}/now?at=${encodeURIComponent(time)}`);
  const anna = 'anna-shifts@example.org';
  expect(await at('2026-10-20T12:00:00Z')).toEqual({
    email: anna,
    until: '2026-10-21T18:00:00.000Z',
    next: 'carl@example.org',
  });
  expect(await at('2026-10-22T00:00:00Z')).toEqual({
    email: 'carl@example.org',
    until: '2026-10-22T06:00:00.000Z',
    next: anna,
  });
  expect(await at('2026-10-22T06:00:00Z')).toEqual({
    email: anna,
    until: '2026-10-26T08:00:00.000Z',
    next: 'ben-shifts@example.org',
  });
  const refused = await world.call('GET', `/v3/on-call/${id}/now?at=tomorrow`);
  expect(refused).toMatchObject({ status: 400, body: { message: expect.stringMatching(/at/) } });
});

test('an alarm mails whoever is on call, and escalates to whoever is next', async () => {
  const { id } = await create('line');
  const device = await watched('Cold room', id, { escalateAfter: 'PT5M' });
  await rules.send(device, 30);
  const opened = await box.newest('anna-line@example.org');
  expect(opened.text).toContain('Subject: MAJOR: Cold room is hot, opened');
  expect(opened.text).toContain('On call: line, until ');
  aheadMs += 6 * minute;
  const escalated = await box.newest('ben-line@example.org');
  expect(escalated.text).toContain('not acknowledged');
  aheadMs += day;
  await rules.send(device, 10);
  expect((await box.newest('ben-line@example.org', 1)).text).toContain(', cleared');
});

test('an order that an alarm notifies stays, and other orders than those of the workspace are refused', async () => {
  const { id } = await create('used');
  const output = await rules.output({ notify: [{ on: 'OPENED', onCallId: id }] });
  const refused = await world.call('DELETE', `/v3/on-call/${id}`);
  expect(refused.status).toBe(409);
  expect(refused.body.message).toContain(output);
  await world.must('DELETE', `/v3/output-connectors/${output}`);
  await world.must('DELETE', `/v3/on-call/${id}`);
  const elsewhere = await world.must('POST', '/v3/workspaces', {
    name: 'Elsewhere',
    organizationId: world.organizationId,
  });
  const foreign = await create('foreign', { workspaceId: elsewhere.id });
  for (const onCallId of [id, foreign.id])
    await expect(rules.output({ notify: [{ on: 'OPENED', onCallId }] })).rejects.toThrow(
      /notify\.0\.onCallId/,
    );
});

test('a member who left gets no mail: the next of the order does, and the owners when all have left', async () => {
  const members = `/v3/organizations/${world.organizationId}/members`;
  const [gone, stays] = ['gone@example.org', 'stays@example.org'];
  const ids = new Map<string, string>();
  for (const email of [gone, stays]) {
    await world.must('POST', members, { email, role: 'MEMBER' });
    const { content } = await world.must('GET', `${members}?size=100`);
    ids.set(email, content.find((one: { email: string }) => one.email === email).userId);
  }
  const { id } = await create('leaving', { order: ['Gone@example.org', stays] });
  const device = await watched('Leaving', id);
  await world.must('DELETE', `${members}/${ids.get(gone)}`);
  expect(await world.must('GET', `/v3/on-call/${id}`)).toMatchObject({ formerMembers: [gone] });
  expect(await world.must('GET', `/v3/on-call/${id}/now`)).toEqual({
    email: stays,
    until: null,
    next: null,
  });
  await rules.send(device, 30);
  expect((await mailTo(stays, 'is hot, opened')).text).toContain('On call: leaving');
  await world.must('DELETE', `${members}/${ids.get(stays)}`);
  expect((await world.must('GET', `/v3/on-call/${id}/now`)).email).toBeNull();
  const { content } = await world.must('GET', `${members}?size=100`);
  const owner = content.find((one: { role: string }) => one.role === 'OWNER');
  await rules.send(device, 10);
  const mail = await mailTo(owner.email, 'is hot, cleared');
  expect(mail.text).toContain('Nobody is on call: leaving.');
});

test.for([
  [{ order: [] }, /order: must have 1 to 50/],
  [{ order: ['a@example.org', 'nobody'] }, /order\.1: must be an email address/],
  [{ turn: 'P2D' }, /turn/],
  [{ timeZone: 'Mars/Base' }, /Mars\/Base/],
  [{ startsAt: 'soon' }, /startsAt/],
  [{ overrides: [{ from: 'x', to: 'y', email: 'a@example.org' }] }, /overrides\.0\.from/],
  [
    {
      overrides: [
        { from: '2026-01-02T00:00:00Z', to: '2026-01-03T00:00:00Z', email: 'a@example.org' },
        { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:01Z', email: 'b@example.org' },
      ],
    },
    /overrides\.0: overlaps overrides\.1/,
  ],
] as const)('a wrong order names its place: %j', async ([more, message]) => {
  const refused = await world.call('POST', '/v3/on-call', order('wrong', more));
  expect(refused.status, refused.body.message).toBe(400);
  expect(refused.body.message).toMatch(message);
});

test('a workspace document carries orders and mutes by name, and applying it again changes nothing', async () => {
  const { id } = await create('document');
  await rules.output({ notify: [{ on: 'OPENED', onCallId: id }] }, { name: 'Calls the document' });
  const device = await world.device({ name: 'Muted' });
  const { deviceId } = await world.must('GET', `/v3/devices/${device.id}`);
  const mute = {
    name: 'Nights',
    workspaceId: world.workspaceId,
    what: { deviceIds: [device.id], alarmKeys: ['pump'] },
    weekly: { days: ['MO'], from: '22:00', to: '06:00', timeZone: 'Europe/Zurich' },
  };
  await world.must('POST', '/v3/mutes', mute);
  const path = `/v3/workspaces/${world.workspaceId}/configuration`;
  const document = await world.must('GET', path);
  expect(document.onCallOrders).toContainEqual(
    expect.objectContaining({ name: 'document', turn: 'P1D' }),
  );
  expect(document.mutes).toEqual([
    expect.objectContaining({
      name: 'Nights',
      what: { devices: [deviceId], alarmKeys: ['pump'] },
      once: null,
    }),
  ]);
  const named = document.outputConnectors.find(
    ({ name }: { name: string }) => name === 'Calls the document',
  );
  expect(named.alarmProperties.notify).toEqual([{ on: 'OPENED', onCallId: 'document' }]);
  expect(await world.must('PUT', path, document)).toMatchObject({ created: 0, updated: 0 });
  const other = await world.must('POST', '/v3/workspaces', {
    name: 'Copy',
    organizationId: world.organizationId,
  });
  const { onCallOrders, mutes, outputConnectors, format } = document;
  const copied = { format, onCallOrders, mutes, outputConnectors: [named] };
  expect(outputConnectors.length).toBeGreaterThan(0);
  const report = await world.must('PUT', `/v3/workspaces/${other.id}/configuration`, copied);
  expect(report.notes).toContainEqual(expect.stringContaining('mutes Nights: left out'));
  const { content } = await world.must(
    'GET',
    `/v3/on-call?workspaceId=${other.id}&search=document`,
  );
  const [output] = (
    await world.must('GET', `/v3/output-connectors?workspaceId=${other.id}&search=Calls`)
  ).content;
  expect(output.alarmProperties.notify).toEqual([{ on: 'OPENED', onCallId: content[0].id }]);
});
