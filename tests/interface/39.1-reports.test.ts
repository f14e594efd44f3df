// Contract 39.1: reports are mailed once at their times, with pictures, files and a link to unsubscribe, by a real mail server.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readPdf } from '../../src/dashboards/documents/testing-pdf.ts';
import { addMember, signIn } from '../access/access-world.ts';
import { type Mail, type MailBox, openMailBox } from '../access/mail-box.ts';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

const hour = 3_600_000;
const day = 24 * hour;
const directory = mkdtempSync(join(tmpdir(), 'heliograph-reports-'));
// A Tuesday at noon, so that every schedule of a test is some hours away.
const begin = Date.UTC(2026, 10, 17, 12);
let aheadMs = 0;
const startedAt = Date.now();
const now = () => begin + (Date.now() - startedAt) + aheadMs;
let world: World;
let box: MailBox;
let device: TestDevice;
let dashboardId: string;

const start = async () => {
  world = await startWorld({
    directory,
    now,
    environment: {
      SMTP_URL: box.url,
      MAIL_FROM: 'iot@example.org',
      PUBLIC_URL: 'https://iot.example.org',
    },
  });
};

beforeAll(async () => {
  box = await openMailBox();
  await start();
  device = await world.device({ name: 'Cold <room> 1' });
  const at = now();
  for (const hours of [40, 30, 20, 10, 5, 2])
    await world.capture(
      device,
      { temperature: hours },
      {
        timestamp: new Date(at - hours * hour).toISOString(),
      },
    );
  const dashboard = await dashboardOf('Campus');
  dashboardId = dashboard.id;
});
afterAll(async () => {
  await world.close();
  await box.close();
  rmSync(directory, { recursive: true });
});

const slow = { timeout: 60_000 };

function dashboardOf(name: string, more: object = {}) {
  const series = { deviceId: device.id, topic: 'default', dataKey: 'temperature', unit: '°C' };
  const place = { x: 0, y: 0, width: 6, height: 4 };
  return world.must('POST', '/v3/dashboards', {
    name,
    workspaceId: world.workspaceId,
    configuration: {
      schema: 'heliograph-dashboard',
      version: 2,
      range: { last: 'P7D' },
      tiles: [
        {
          ...place,
          id: 'line',
          kind: 'line',
          title: 'Temperature & <b>more</b>',
          accumulator: 'AVG',
          series: [{ ...series, label: '=cmd()' }],
        },
        { ...place, y: 4, id: 'value', kind: 'value', title: 'Now', series: [series] },
      ],
      ...more,
    },
  });
}

let address = 0;
const anybody = () => `reader-${++address}@example.org`;

function draft(more: object = {}) {
  return {
    name: 'Campus',
    workspaceId: world.workspaceId,
    dashboardId,
    schedule: { every: 'WEEKLY', at: '07:00', weekday: 'MO', timeZone: 'Europe/Zurich' },
    recipients: [anybody()],
    formats: ['PDF', 'CSV'],
    ...more,
  };
}
const make = (more: object = {}) => world.must('POST', '/v3/reports', draft(more));
const read = (id: string) => world.must('GET', `/v3/reports/${id}`);
const daily = (at: string) => ({ every: 'DAILY', at, timeZone: 'UTC' });

interface Part {
  readonly head: string;
  readonly body: string;
}

/** The parts of a mail that have no parts themselves. */
function partsOf(raw: string): Part[] {
  const [head = '', ...rest] = raw.split('\r\n\r\n');
  const body = rest.join('\r\n\r\n');
  const unfolded = head.replaceAll(/\r\n[ \t]+/g, ' ');
  const boundary = /^content-type: multipart\/.*boundary="([^"]+)"/im.exec(unfolded)?.[1];
  if (boundary === undefined) return [{ head: unfolded, body }];
  return body
    .split(`--${boundary}`)
    .slice(1, -1)
    .flatMap((part) => partsOf(part.replace(/^\r\n/, '')));
}

function bytesOf({ head, body }: Part): Buffer {
  if (/base64/i.test(head)) return Buffer.from(body, 'base64');
  const text = body
    .replaceAll('=\r\n', '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, code: string) =>
      String.fromCharCode(Number.parseInt(code, 16)),
    );
  return /quoted-printable/i.test(head) ? Buffer.from(text, 'latin1') : Buffer.from(body);
}
const partOf = (mail: Mail, type: string) =>
  partsOf(mail.raw).filter(({ head }) => new RegExp(`content-type: ${type}`, 'i').test(head));
const textIn = (mail: Mail, type: string) => bytesOf(partOf(mail, type)[0]!).toString();
const headOf = (mail: Mail, name: string) =>
  new RegExp(`^${name}: (.*)$`, 'im').exec(
    (mail.raw.split('\r\n\r\n')[0] ?? '').replaceAll(/\r\n[ \t]+/g, ' '),
  )?.[1];
const unsubscribeOf = (mail: Mail) =>
  headOf(mail, 'List-Unsubscribe')!.slice(1, -1).replace('https://iot.example.org', world.base);

test('sent on request: HTML with pictures in line, PDF and CSV, and nothing to load', async () => {
  const [one, two] = [anybody(), anybody()];
  const report = await make({ recipients: [one, two.toUpperCase(), two] });
  expect(report).toMatchObject({
    last: 'P7D',
    recipients: [one, two],
    active: true,
    lastSent: null,
    nextRun: '2026-11-23T06:00:00.000Z',
    problem: null,
  });
  const once = { 'idempotency-key': 'once' };
  const sent = await world.call('POST', `/v3/reports/${report.id}/send`, undefined, once);
  expect(sent.status).toBe(202);
  const repeated = await world.call('POST', `/v3/reports/${report.id}/send`, undefined, once);
  expect(repeated.body).toEqual(sent.body);
  expect(sent.body.deliveryIds).toHaveLength(2);
  const mail = await box.newest(one);
  await box.newest(two);
  expect(headOf(mail, 'Subject')).toBe('Weekly: Campus, 10 to 17 November 2026');
  expect(headOf(mail, 'List-Unsubscribe-Post')).toBe('List-Unsubscribe=One-Click');
  const html = textIn(mail, 'text/html');
  expect(html).toContain('Temperature &amp; &lt;b&gt;more&lt;/b&gt;');
  expect(html).not.toContain('<b>');
  expect(html).toContain('The device sent data.');
  expect(html).toContain('<img src="cid:chart-1@report"');
  expect(html).toContain(
    `https://iot.example.org/w/${world.workspaceId}/dashboards/${dashboardId}`,
  );
  // Nothing is loaded when the mail is read.
  expect([...html.matchAll(/(?:src|background)="([^"]*)"/g)].map(([, to]) => to)).toEqual([
    'cid:chart-1@report',
  ]);
  const [picture] = partOf(mail, 'image/png');
  expect(picture?.head).toMatch(/content-id: <chart-1@report>/i);
  expect(bytesOf(picture!).subarray(1, 4).toString()).toBe('PNG');
  const pdf = await readPdf(bytesOf(partOf(mail, 'application/pdf')[0]!));
  expect(pdf.pages[0]?.text).toContain('Temperature & <b>more</b>');
  const csv = textIn(mail, 'text/csv');
  expect(csv).toContain("'=cmd() (°C)");
  expect(csv.split('\n').length).toBeGreaterThan(3);
  expect(textIn(mail, 'text/plain')).toContain('The device sent data.');
  const path = `/v3/output-connectors/0900000000000001/deliveries?deviceId=${report.id}`;
  await expect
    .poll(async () => (await world.must('GET', `${path}&state=DELIVERED`)).totalElements, slow)
    .toBe(2);
  const { content } = await world.must('GET', path);
  expect(content.map(({ id }: { id: string }) => id).toSorted()).toEqual(
    sent.body.deliveryIds.toSorted(),
  );
  expect(content[0]).toMatchObject({ cause: 'REPORT', ruleId: null });
  expect(content[0].payload).toContain('Subject: Weekly: Campus');
  expect(JSON.stringify(content)).not.toContain('unsubscribe');
  expect((await read(report.id)).lastSent).not.toBeNull();
  // The same again, with all its parts.
  await world.must('POST', `/v3/deliveries/${sent.body.deliveryIds[0]}/resend`);
  const again = await box.newest(
    content
      .find(({ id }: { id: string }) => id === sent.body.deliveryIds[0])
      .payload.split('\n')[0]
      .slice(4),
    1,
  );
  expect(partOf(again, 'application/pdf')).toHaveLength(1);
});

test('the clock sends at the due minute, once, and a restart sends it no second time', async () => {
  const reader = anybody();
  const report = await make({ recipients: [reader], schedule: daily('13:00'), formats: [] });
  expect(report.nextRun).toBe('2026-11-17T13:00:00.000Z');
  aheadMs += Date.parse(report.nextRun) - now() - 1_500;
  await box.newest(reader);
  const after = await read(report.id);
  expect(after).toMatchObject({ nextRun: '2026-11-18T13:00:00.000Z', problem: null });
  expect(Date.parse(after.lastSent)).toBeGreaterThanOrEqual(Date.parse(report.nextRun));
  expect(after.version).toBe(0);
  // The clock acts in nobody's name.
  const audit = await world.must(
    'GET',
    `/v3/audit-logs?organizationId=${world.organizationId}&resourceId=${report.id}`,
  );
  expect(audit.content.map(({ action }: { action: string }) => action)).toEqual(['CREATE']);
  await world.close();
  await start();
  // The clock steps back over the time of the run, and reaches it again.
  aheadMs -= 10 * 60_000;
  await expect
    .poll(async () => (await read(report.id)).nextRun, slow)
    .toBe('2026-11-18T13:00:00.000Z');
  aheadMs += 10 * 60_000;
  const probe = await make({ recipients: [anybody()], schedule: daily('13:05'), formats: [] });
  aheadMs += Date.parse(probe.nextRun) - now();
  await box.newest(probe.recipients[0]);
  expect(box.mails.filter(({ to }) => to === reader)).toHaveLength(1);
  await world.must('DELETE', `/v3/reports/${report.id}`);
  await world.must('DELETE', `/v3/reports/${probe.id}`);
});

test('a run missed by a stop is made up for once within 12 hours, and said; later ones are skipped', async () => {
  const reader = anybody();
  const report = await make({ recipients: [reader], schedule: daily('15:00'), formats: [] });
  await world.close();
  // The third of three runs was two hours ago.
  aheadMs += Date.parse(report.nextRun) + 2 * day + 2 * hour - now();
  await start();
  const mail = await box.newest(reader);
  expect(textIn(mail, 'text/html')).toContain('were missed');
  expect(await read(report.id)).toMatchObject({
    active: true,
    nextRun: new Date(Date.parse(report.nextRun) + 3 * day).toISOString(),
    problem: { reason: 'MISSED' },
  });
  await world.close();
  aheadMs += day - 2 * hour + 13 * hour;
  await start();
  await expect
    .poll(async () => (await read(report.id)).problem.message, slow)
    .toContain('more than 12 hours late');
  expect(box.mails.filter(({ to }) => to === reader)).toHaveLength(1);
  await world.must('DELETE', `/v3/reports/${report.id}`);
});

test('a link ends the mails by POST alone, and says nothing', async () => {
  const [leaving, staying] = [anybody(), anybody()];
  const report = await make({
    name: 'A "<i>" report',
    recipients: [leaving, staying],
    formats: [],
  });
  await world.must('POST', `/v3/reports/${report.id}/send`);
  const mail = await box.newest(leaving);
  const link = unsubscribeOf(mail);
  const token = link.split('/').at(-1)!;
  expect(token).toMatch(/^[\w-]{43}$/);
  expect(Buffer.from(token, 'base64url').toString('latin1')).not.toContain(report.id);
  expect(unsubscribeOf(await box.newest(staying))).not.toBe(link);
  const page = await fetch(link);
  expect(page.status).toBe(200);
  const asked = await page.text();
  expect(asked).toContain('A &quot;&lt;i&gt;&quot; report');
  expect(asked).toContain('<form method="post">');
  expect((await fetch(link, { method: 'HEAD' })).status).toBeLessThan(500);
  expect((await read(report.id)).recipients).toEqual([leaving, staying]);
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const left = await fetch(link, {
    method: 'POST',
    headers: form,
    body: 'List-Unsubscribe=One-Click',
  });
  expect(left.status).toBe(200);
  expect(await read(report.id)).toMatchObject({ recipients: [staying], version: 1, active: true });
  // Some mail readers send the form as multipart; a second time changes nothing.
  const body = new FormData();
  body.set('List-Unsubscribe', 'One-Click');
  expect((await fetch(link, { method: 'POST', body })).status).toBe(200);
  expect((await read(report.id)).version).toBe(1);
  const last = unsubscribeOf(await box.newest(staying));
  expect((await fetch(last, { method: 'POST', headers: form, body: '' })).status).toBe(200);
  expect(await read(report.id)).toMatchObject({
    recipients: [],
    active: false,
    nextRun: null,
    problem: { reason: 'NO_RECIPIENTS' },
  });
  const audit = await world.must(
    'GET',
    `/v3/audit-logs?organizationId=${world.organizationId}&resourceId=${report.id}`,
  );
  expect(audit.content[0]).toMatchObject({ action: 'UPDATE', actor: { name: staying } });
  for (const guess of ['x', `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`]) {
    const unknown = await fetch(`${world.base}/v3/reports/unsubscribe/${guess}`, {
      method: 'POST',
    });
    expect(unknown.status).toBe(404);
  }
});

test('names, addresses and titles cannot add headers, files or elements', async () => {
  const hostile = 'Q3\r\nBcc: victim@example.org\r\n\r\n<script>alert(1)</script>';
  const reader = anybody();
  const report = await make({ name: hostile, recipients: [reader], formats: ['PDF'] });
  await world.must('POST', `/v3/reports/${report.id}/send`);
  const mail = await box.newest(reader);
  expect(mail.to).toBe(reader);
  expect(headOf(mail, 'Bcc')).toBeUndefined();
  expect(decoded(headOf(mail, 'Subject')!)).toContain('Q3 Bcc: victim@example.org');
  expect(textIn(mail, 'text/html')).not.toContain('<script');
  expect(partOf(mail, 'application/pdf')[0]?.head).toMatch(
    /filename="?Q3_Bcc_victim_example.org_script_alert_1_script.pdf/,
  );
  for (const recipient of [
    'a@b.org\r\nBcc: c@d.org',
    'a@b.org, c@d.org',
    'A <a@b.org>',
    'a@b.org\u0000',
    'nobody',
  ]) {
    const refused = await world.call('POST', '/v3/reports', draft({ recipients: [recipient] }));
    expect(refused.status, recipient).toBe(400);
    expect(refused.body.message).toContain('recipients.0');
  }
});

function decoded(subject: string): string {
  return subject.replaceAll(/=\?UTF-8\?Q\?(.*?)\?= ?/g, (_, text: string) =>
    text
      .replaceAll('_', ' ')
      .replaceAll(/=([0-9A-F]{2})/g, (__, code: string) =>
        String.fromCharCode(Number.parseInt(code, 16)),
      ),
  );
}

test('mail that is refused for good switches the report off with its reason', async () => {
  const [good, bad] = [anybody(), anybody()];
  box.refused.add(bad);
  const report = await make({ recipients: [good, bad], schedule: daily('06:00'), formats: [] });
  const nextRun = async () => {
    aheadMs += Date.parse((await read(report.id)).nextRun) - now();
  };
  for (const run of [1, 2, 3]) {
    await nextRun();
    await box.newest(good, run - 1);
    await expect
      .poll(async () => (await read(report.id)).problem?.reason, slow)
      .toBe('MAIL_REFUSED');
    expect((await read(report.id)).active).toBe(run < 3);
  }
  expect((await read(report.id)).problem.message).toContain(`${bad} was refused`);
  const mended = await world.must('PUT', `/v3/reports/${report.id}`, {
    recipients: [bad],
    active: true,
  });
  expect(mended).toMatchObject({ active: true, problem: null });
  await nextRun();
  // Nobody got the mail: once is enough.
  await expect.poll(async () => (await read(report.id)).active, slow).toBe(false);
});

test('a report ends with its dashboard, and with the permissions of its owner', async () => {
  const other = await dashboardOf('Short');
  const orphan = await make({ dashboardId: other.id });
  await world.must('DELETE', `/v3/dashboards/${other.id}`);
  expect(await read(orphan.id)).toMatchObject({
    active: false,
    nextRun: null,
    problem: { reason: 'DASHBOARD_DELETED' },
  });
  const overview = await world.must('GET', `/v3/workspaces/${world.workspaceId}/overview`);
  expect(overview.stoppedReports).toContainEqual({
    id: orphan.id,
    name: orphan.name,
    dashboardId: other.id,
    reason: 'DASHBOARD_DELETED',
  });
  const gone = await world.call('POST', `/v3/reports/${orphan.id}/send`);
  expect([gone.status, gone.body.errorCode]).toEqual([409, '40913_REPORT_DASHBOARD_DELETED']);
  const owner = await signIn(world.base, 'admin@localhost');
  const of = `/v3/workspaces/${world.workspaceId}`;
  const { userId } = await addMember(world.base, owner, of, 'editor@example.org', 'EDITOR');
  const editor = await signIn(world.base, 'editor@example.org');
  const report = await editor.must(
    'POST',
    '/v3/reports',
    draft({ schedule: daily('05:00'), formats: [] }),
  );
  expect(report.ownerId).toBe(userId);
  await owner.must('DELETE', `${of}/members/${userId}`);
  const refused = await world.call('POST', `/v3/reports/${report.id}/send`);
  expect([refused.status, refused.body.errorCode]).toEqual([409, '40912_REPORT_OWNER_REMOVED']);
  aheadMs += Date.parse(report.nextRun) - now();
  await expect
    .poll(async () => (await read(report.id)).problem?.reason, slow)
    .toBe('OWNER_REMOVED');
  // Whoever saves it becomes its owner.
  const saved = await world.must('PUT', `/v3/reports/${report.id}`, { active: true });
  expect(saved).toMatchObject({ active: true, problem: null });
  expect(saved.ownerId).not.toBe(userId);
  await world.must('POST', `/v3/reports/${report.id}/send`);
  await box.newest(report.recipients[0]);
});

test('a dashboard that cannot be rendered fails three runs, and is switched off', async () => {
  const variable = { name: 'room', kind: 'TEXT', default: 'A' };
  const own = await dashboardOf('Open', { variables: [variable] });
  const report = await make({ dashboardId: own.id, schedule: daily('04:00'), formats: [] });
  const { configuration } = await world.must('GET', `/v3/dashboards/${own.id}`);
  await world.must('PUT', `/v3/dashboards/${own.id}`, {
    configuration: { ...configuration, variables: [{ name: 'room', kind: 'TEXT' }] },
  });
  for (const run of [1, 2, 3]) {
    const { nextRun } = await read(report.id);
    aheadMs += Date.parse(nextRun) - now();
    await expect.poll(async () => (await read(report.id)).nextRun, slow).not.toBe(nextRun);
    const after = await read(report.id);
    expect(after.problem).toMatchObject({
      reason: 'NOT_RENDERED',
      message: expect.stringContaining('var.room'),
    });
    expect(after.active).toBe(run < 3);
  }
  await world.must('PUT', `/v3/reports/${report.id}`, { variables: { room: 'B' }, active: true });
  await world.must('POST', `/v3/reports/${report.id}/send`);
  expect(textIn(await box.newest(report.recipients[0]), 'text/html')).toContain('room: B');
});

test.for([
  [{ recipients: [] }, /recipients/],
  [{ recipients: Array.from({ length: 51 }, (_, i) => `a${i}@example.org`) }, /recipients/],
  [{ dashboardId: '14ffffffffffffff' }, /body dashboardId: no dashboard/],
  [{ variables: { nope: 'x' } }, /variables\.nope/],
  [{ last: 'P0D' }, /body last/],
  [{ last: 'a week' }, /body last/],
  [{ schedule: { every: 'DAILY', at: '24:00', timeZone: 'UTC' } }, /schedule\.at/],
  [{ schedule: { every: 'DAILY', at: '07:00', timeZone: 'Mars/Base' } }, /Mars\/Base/],
  [
    { schedule: { every: 'WEEKLY', at: '07:00', timeZone: 'UTC' } },
    /schedule\.weekday: is required/,
  ],
  [{ schedule: { every: 'MONTHLY', at: '07:00', timeZone: 'UTC' } }, /schedule\.day: is required/],
  [
    { schedule: { every: 'DAILY', at: '07:00', day: 3, timeZone: 'UTC' } },
    /schedule\.day: does not go with DAILY/,
  ],
  [{ formats: ['XLS'] }, /formats/],
] as const)('a wrong report names its place (%#)', async ([more, message]) => {
  const refused = await world.call('POST', '/v3/reports', draft(more));
  expect(refused.status, refused.body.message).toBe(400);
  expect(refused.body.message).toMatch(message);
});

test('organizations take turns: eight reports of 12 charts hold the one of another for two at most', async () => {
  const { base, workspaceId } = world;
  const owner = await signIn(base, 'admin@localhost');
  const { id: organizationId } = await owner.must('POST', '/v3/organizations', { name: 'Crowd' });
  const there = await owner.must('POST', '/v3/workspaces', { name: 'Crowd', organizationId });
  const series = [{ deviceId: device.id, topic: 'default', dataKey: 'temperature' }];
  const place = { x: 0, width: 12, height: 4 };
  const tiles = Array.from({ length: 12 }, (_, i) => ({
    ...{ ...place, y: 4 * i, id: `chart-${i}`, kind: 'line', title: `Chart ${i}`, series },
  }));
  const heavy = await dashboardOf('Heavy', { tiles });
  const light = await owner.must('POST', '/v3/dashboards', {
    workspaceId: there.id,
    name: 'Light',
    configuration: {
      schema: 'heliograph-dashboard',
      version: 2,
      tiles: [{ ...place, y: 0, id: 'text', kind: 'text', text: 'Nothing' }],
    },
  });
  // Due in the same minute, those of the first organization created first.
  const at = new Date(now() + 2 * hour).toISOString().slice(11, 16);
  const many = Array.from({ length: 8 }, (_, i) => `heavy-${i}@example.org`);
  const made: string[] = [];
  for (const reader of many) {
    const { id } = await make({
      ...{ workspaceId, dashboardId: heavy.id, formats: ['PDF'] },
      ...{ recipients: [reader], schedule: daily(at) },
    });
    made.push(id);
  }
  const { id: lightId, nextRun } = await owner.must('POST', '/v3/reports', {
    ...{ name: 'Light', workspaceId: there.id, dashboardId: light.id, formats: ['PDF'] },
    ...{ recipients: ['light@example.org'], schedule: daily(at) },
  });
  aheadMs += Date.parse(nextRun) - now();
  await Promise.all([...many, 'light@example.org'].map((reader) => box.newest(reader)));
  const sentAt = async (of: Pick<World, 'must'>, id: string) =>
    Date.parse((await of.must('GET', `/v3/reports/${id}`)).lastSent);
  const times = await Promise.all(made.map((id) => sentAt(world, id)));
  const lightAt = await sentAt(owner, lightId);
  expect(times.filter((time) => time < lightAt).length).toBeLessThanOrEqual(2);
});

test('an organization sends 200 mails in 24 hours, by request and by the clock', async () => {
  const recipients = Array.from({ length: 50 }, (_, i) => `many-${i}@example.org`);
  const report = await make({ recipients, schedule: daily('03:00'), formats: [] });
  const sent = [];
  for (let i = 0; i < 5; i++) sent.push(await world.call('POST', `/v3/reports/${report.id}/send`));
  const refused = sent.at(-1)!;
  expect([refused.status, refused.body.errorCode]).toEqual([429, '42921_REPORT_MAILS_USED']);
  expect(refused.headers.get('retry-after')).not.toBeNull();
  aheadMs += Date.parse(report.nextRun) - now();
  await expect.poll(async () => (await read(report.id)).problem?.reason, slow).toBe('MAILS_USED');
  expect(await read(report.id)).toMatchObject({ active: true });
});

test('without a mail server a report is a 409 that names the setting', async () => {
  const plain = await startWorld();
  try {
    const refused = await plain.call('POST', '/v3/reports', {
      ...draft(),
      workspaceId: plain.workspaceId,
    });
    expect([refused.status, refused.body.errorCode]).toEqual([409, '40911_MAIL_NOT_CONFIGURED']);
    expect(refused.body.message).toContain('SMTP_URL');
    expect((await plain.must('GET', '/v3/reports')).totalElements).toBe(0);
  } finally {
    await plain.close();
  }
});
