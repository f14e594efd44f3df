// Contract 39.4: mails of the installation: their connector, and alarms that notify addresses.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type MailBox, openMailBox } from '../access/mail-box.ts';
import { type AlarmRules, alarmRules } from '../world/alarm-rules.ts';
import { startWorld, type World } from '../world/world.ts';

const mailId = '0900000000000001';
let box: MailBox;
let world: World;
let plain: World;
let rules: AlarmRules;
beforeAll(async () => {
  box = await openMailBox();
  const environment = { SMTP_URL: box.url, MAIL_FROM: 'heliograph@example.org' };
  world = await startWorld({
    environment: { ...environment, PUBLIC_URL: 'https://iot.example.org' },
  });
  plain = await startWorld();
  rules = alarmRules(world);
});
afterAll(async () => {
  await world.close();
  await plain.close();
  await box.close();
});

const listOf = (at: World, headers: Record<string, string> = {}) =>
  at.call(
    'GET',
    `/v3/output-connectors?workspaceId=${at.workspaceId}&size=100`,
    undefined,
    headers,
  );
const idsOf = async (at: World, headers?: Record<string, string>) =>
  (await listOf(at, headers)).body.content.map(({ id }: { id: string }) => id);

test('the mail connector is listed only with a mail server, and never to clients of the vendor', async () => {
  expect(await idsOf(world)).toContain(mailId);
  expect(await idsOf(plain)).not.toContain(mailId);
  expect(await idsOf(world, { 'akenza-client': 'java/3' })).not.toContain(mailId);
  expect(await world.must('GET', `/v3/output-connectors/${mailId}`)).toMatchObject({
    name: 'Mail of this installation',
    type: 'INSTALLATION_MAIL',
    workspaceId: null,
    global: true,
    mailProperties: null,
  });
});

test('nobody changes, deletes, tests or creates it, and no data flow or rule names it', async () => {
  const path = `/v3/output-connectors/${mailId}`;
  expect((await world.call('PUT', path, { name: 'x' })).status).toBe(403);
  expect((await world.call('DELETE', path)).status).toBe(403);
  expect((await world.call('POST', `${path}/test`, {})).status).toBe(403);
  const created = await world.call('POST', '/v3/output-connectors', {
    name: 'x',
    workspaceId: world.workspaceId,
    type: 'INSTALLATION_MAIL',
  });
  expect(created).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining(mailId) },
  });
  await expect(world.device({ outputs: [{ id: mailId, topic: '*' }] })).rejects.toThrow(/400/);
  const device = await world.device();
  await expect(rules.hotRule(device, [[20, mailId]])).rejects.toThrow(/40010_UNKNOWN_REFERENCE/);
  const named = [{ on: 'OPENED', outputConnectorId: mailId }];
  await expect(rules.output({ notify: named })).rejects.toThrow(/40010_UNKNOWN_REFERENCE/);
});

test('an alarm mails its addresses when it opens and when it clears, with a link to it', async () => {
  const device = await world.device({ name: 'Cold room 1' });
  const emails = ['anna@example.org', 'ben@example.org'];
  const notify = [
    { on: 'OPENED', emails },
    { on: 'CLEARED', emails: ['anna@example.org', 'anna@example.org'] },
  ];
  const output = await rules.output({ notify });
  expect(
    (await world.must('GET', `/v3/output-connectors/${output}`)).alarmProperties.notify,
  ).toEqual([notify[0], { on: 'CLEARED', emails: ['anna@example.org'] }]);
  await rules.hotRule(device, [[20, output]]);
  await rules.send(device, 30);
  const opened = await box.newest('anna@example.org,ben@example.org');
  const alarm = await rules.newest(device);
  expect(opened.text).toContain('Subject: MAJOR: Cold room 1 is hot, opened');
  expect(opened.text).toContain(`Device: Cold room 1 (${device.deviceId})`);
  expect(opened.text).toContain('temperature: 30');
  expect(opened.text).toContain(
    `https://iot.example.org/w/${world.workspaceId}/alarms/${alarm.id}`,
  );
  await rules.send(device, 10);
  const cleared = await box.newest('anna@example.org');
  expect(cleared.text).toContain('Subject: MAJOR: Cold room 1 is hot, cleared');
  const path = `/v3/output-connectors/${mailId}/deliveries?deviceId=${device.id}&state=DELIVERED`;
  await expect.poll(async () => (await world.must('GET', path)).totalElements).toBe(2);
  const { content } = await world.must('GET', path);
  expect(content).toMatchObject([
    { alarmId: alarm.id, alarmChange: 'CLEARED', state: 'DELIVERED' },
    { alarmId: alarm.id, alarmChange: 'OPENED', payload: expect.stringMatching(/^To: anna@/) },
  ]);
  await world.must('POST', `/v3/deliveries/${content[0].id}/resend`);
  expect((await box.newest('anna@example.org', 1)).text).toContain(', cleared');
});

test('names, values and templates cannot add headers, recipients or elements to the mail of an alarm', async () => {
  const injected =
    'Hot\r\nBcc: victim@example.org\r\nX-Injected: yes\r\n\r\n<script>alert(1)</script>';
  const device = await world.device({ name: 'Room <img src=x onerror=alert(1)> "&' });
  const reader = 'hostile@example.org';
  const output = await rules.output({
    name: `${injected} {{device.name}} {{data.note}}`,
    notify: [{ on: 'OPENED', emails: [reader] }],
  });
  await rules.hotRule(device, [[20, output]]);
  const note = '\r\nBcc: other@example.org\r\n\r\n<svg onload=alert(1)>\u202e';
  await world.capture(device, { temperature: 30, note });
  const mail = await box.newest(reader);
  expect(mail.to).toBe(reader);
  const [head = '', ...rest] = mail.raw.split('\r\n\r\n');
  expect(head).not.toMatch(/^(?:Bcc|X-Injected):/im);
  expect(head.match(/^(?:To|Subject|From):/gim)).toHaveLength(3);
  // The only part is text, in which elements are letters.
  expect(head).toMatch(/^Content-Type: text\/plain/im);
  expect(rest.join('\r\n\r\n')).not.toMatch(/^Content-Type:/im);
  expect(box.mails.map(({ to }) => to).join()).not.toContain('victim');
  for (const email of ['a@b.org\r\nBcc: c@d.org', 'a@b.org, c@d.org', 'A <a@b.org>']) {
    const refused = await world.call('POST', '/v3/output-connectors', {
      name: 'Alarm',
      workspaceId: world.workspaceId,
      type: 'ALARM',
      alarmProperties: {
        name: 'x',
        severity: 'MAJOR',
        notify: [{ on: 'OPENED', emails: [email] }],
      },
    });
    expect(refused.status, email).toBe(400);
    expect(refused.body.message).toContain('emails');
  }
});

test('without a mail server an alarm with addresses is a 409, and nothing is stored', async () => {
  const sent = {
    name: 'Mailing alarm',
    workspaceId: plain.workspaceId,
    type: 'ALARM',
    alarmProperties: {
      name: 'x',
      severity: 'MAJOR',
      notify: [{ on: 'OPENED', emails: ['a@example.org'] }],
    },
  };
  const refused = await plain.call('POST', '/v3/output-connectors', sent);
  expect(refused.status).toBe(409);
  expect(refused.body.message).toContain('SMTP_URL');
  const found = await listOf(plain);
  expect(JSON.stringify(found.body)).not.toContain('Mailing alarm');
});

test.for([
  [{ on: 'OPENED' }, 'alarmProperties.notify.0'],
  [{ on: 'OPENED', emails: [] }, 'alarmProperties.notify.0.emails'],
  [{ on: 'OPENED', emails: ['nobody'] }, 'alarmProperties.notify.0.emails.0'],
  [{ on: 'OPENED', emails: ['a@b.org'], outputConnectorId: 'x' }, 'alarmProperties.notify.0'],
  [
    { on: 'OPENED', emails: Array.from({ length: 21 }, (_, i) => `a${i}@example.org`) },
    'alarmProperties.notify.0.emails',
  ],
] as const)('a notification of the wrong shape names its place: %j', async ([one, place]) => {
  const refused = await world.call('POST', '/v3/output-connectors', {
    name: 'x',
    workspaceId: world.workspaceId,
    type: 'ALARM',
    alarmProperties: { name: 'x', severity: 'MAJOR', notify: [one] },
  });
  expect(refused.status).toBe(400);
  expect(refused.body.message).toContain(`${place}: `);
});
