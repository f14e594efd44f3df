// Notifications in a real browser: an on-call order with a stand-in, its use by an alarm, and mutes (contract 39.4).
import { afterAll, expect, test } from 'vitest';
import { type MailBox, openMailBox } from '../../tests/access/mail-box.ts';
import { alarmRules } from '../../tests/world/alarm-rules.ts';
import { startWorld, type World } from '../../tests/world/world.ts';
import { pageWidth } from './chromium.ts';
import { journey } from './journey.ts';

let box: MailBox;
let tagId = '';
let deviceId = '';
afterAll(() => box.close());

async function start(): Promise<World> {
  box = await openMailBox();
  return startWorld({ environment: { SMTP_URL: box.url, MAIL_FROM: 'heliograph@example.org' } });
}

async function prepare(world: World): Promise<void> {
  const tag = { workspaceId: world.workspaceId, name: 'Roof <i>', color: '#3456BF' };
  ({ id: tagId } = await world.must('POST', '/v3/tags', tag));
  const device = await world.device({ name: 'Freezer <b>' });
  await world.capture(device, { temperature: -20 });
  deviceId = device.id;
  await world.must('POST', '/v3/output-connectors', {
    name: 'Freezer alarm',
    workspaceId: world.workspaceId,
    type: 'ALARM',
    alarmProperties: { name: 'Freezer is hot', severity: 'MAJOR', notify: [] },
  });
}

journey('notifications', { start, prepare }, (stage) => {
  const only = async (path: string) => {
    const { world } = stage;
    const { content } = await world.must('GET', `${path}?workspaceId=${world.workspaceId}`);
    expect(content).toHaveLength(1);
    return content[0];
  };
  /** Saves the open dialog, by key, and waits for the answer. */
  const save = async (path: string) => {
    const { page } = stage;
    const saved = page.waitForResponse(
      (answer) => answer.request().method() !== 'GET' && answer.url().includes(path),
    );
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).press('Enter');
    expect((await saved).status()).toBeLessThan(300);
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  };

  test('an on-call order is created with the keyboard, and says who is on call', async () => {
    const { page } = stage;
    await stage.visit('settings/notifications');
    await page.getByText('No on-call orders').waitFor();
    await stage.inspect('notifications-empty');
    await page.getByRole('button', { name: 'New on-call order' }).press('Enter');
    await page.keyboard.type('Nights <b>');
    await page.getByLabel('People').fill('anna@example.org\nben@example.org');
    await page.getByLabel('Turns change').selectOption('Every day');
    await page.getByLabel('Time zone').selectOption('Europe/Zurich');
    await page.getByLabel('First turn starts').fill('2026-01-05T09:00');
    await stage.inspect('notifications-on-call-dialog');
    await save('/v3/on-call');
    expect(await only('/v3/on-call')).toMatchObject({
      name: 'Nights <b>',
      order: ['anna@example.org', 'ben@example.org'],
      turn: 'P1D',
      timeZone: 'Europe/Zurich',
      startsAt: '2026-01-05T08:00:00.000Z',
    });
    await page.getByText(/^On call now: (anna|ben)@example\.org, until .* 09:00/).waitFor();
    expect(
      await page.getByRole('list', { name: 'Coming week' }).getByRole('listitem').count(),
    ).toBeGreaterThan(6);
    await stage.inspect('notifications-on-call');
  });

  test('a stand-in takes over at once, and is removed again', async () => {
    const { page } = stage;
    await page.getByRole('button', { name: 'Edit Nights <b>' }).click();
    await page.getByRole('button', { name: 'Add stand-in' }).click();
    const standIn = page.getByRole('group', { name: 'Stand-ins' });
    await standIn.getByLabel('Email address').fill('carl@example.org');
    await standIn.getByLabel('From').fill('2026-01-01T00:00');
    await standIn.getByLabel('To', { exact: true }).fill('2028-01-01T00:00');
    await stage.page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByText(/at most 366 days after from/).waitFor();
    expect(stage.takeComplaints()).toEqual([expect.stringContaining('400')]);
    const from = new Date(Date.now() - 3_600_000).toISOString().slice(0, 16);
    const to = new Date(Date.now() + 40 * 3_600_000).toISOString().slice(0, 16);
    await standIn.getByLabel('From').fill(from);
    await standIn.getByLabel('To', { exact: true }).fill(to);
    await save('/v3/on-call');
    await page.getByText(/^On call now: carl@example\.org, until /).waitFor();
    await page.getByRole('button', { name: 'Edit Nights <b>' }).click();
    await page.getByRole('button', { name: 'Remove stand-in carl@example.org' }).click();
    await save('/v3/on-call');
    expect((await only('/v3/on-call')).overrides).toEqual([]);
  });

  test('the alarm of a rule mails whoever is on call, as chosen in the rule editor', async () => {
    const { page, world } = stage;
    const { workspaceId } = world;
    const { output, hotRule } = alarmRules(world);
    const device = await world.device({ name: 'Freezer 2' });
    await world.capture(device, { temperature: -20 });
    const alarmId = await output();
    const rule = await hotRule(device, [[20, alarmId]]);
    await stage.visit(`rules/${rule.id}/edit`);
    await page.locator(`[data-wire="then ${alarmId}"] > button`).click();
    await page.getByRole('button', { name: 'Edit alarm' }).click();
    const dialog = page.getByRole('dialog', { name: 'Edit alarm' });
    await dialog.getByRole('button', { name: 'Add notification' }).click();
    await dialog.getByLabel('Send to').selectOption('On call: Nights <b>');
    await stage.inspect('notifications-rule-alarm');
    const saved = page.waitForResponse(
      (answer) => answer.request().method() === 'PUT' && answer.url().includes(alarmId),
    );
    await dialog.getByRole('button', { name: 'Save' }).click();
    expect((await saved).status()).toBe(200);
    await dialog.waitFor({ state: 'detached' });
    const order = await only('/v3/on-call');
    const { email } = await world.must('GET', `/v3/on-call/${order.id}/now`);
    await world.capture(device, { temperature: 30 });
    expect((await box.newest(email)).text).toContain('Freezer 2');
    const { alarmProperties } = await world.must('GET', `/v3/output-connectors/${alarmId}`);
    expect(alarmProperties.notify).toEqual([{ on: 'OPENED', onCallId: order.id }]);
    await world.must('DELETE', `/v3/rules/${rule.id}`);
    await world.must('DELETE', `/v3/output-connectors/${alarmId}`);
    expect((await world.must('GET', `/v3/rules?workspaceId=${workspaceId}`)).content).toEqual([]);
  });

  test('an alarm output mails whoever is on call', async () => {
    const { page, world } = stage;
    const { content } = await world.must(
      'GET',
      `/v3/output-connectors?workspaceId=${world.workspaceId}&search=Freezer`,
    );
    await stage.visit(`outputs/${content[0].id}/settings`);
    await page.getByRole('button', { name: 'Add notification' }).click();
    await page.getByLabel('Send to').selectOption('On call: Nights <b>');
    await stage.save('/v3/output-connectors', () =>
      page.getByRole('button', { name: 'Save', exact: true }).click(),
    );
    const { alarmProperties } = await world.must('GET', `/v3/output-connectors/${content[0].id}`);
    const { id } = await only('/v3/on-call');
    expect(alarmProperties.notify).toEqual([{ on: 'OPENED', onCallId: id }]);
    await stage.visit('settings/notifications');
    await page.getByRole('button', { name: 'Delete Nights <b>' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText(/Freezer alarm/).waitFor();
    expect(stage.takeComplaints()).toEqual([expect.stringContaining('409')]);
    await page.keyboard.press('Escape');
  });

  test('a mute of some tags every week is created, says when it mutes, and is deleted', async () => {
    const { page } = stage;
    await stage.visit('settings/notifications');
    await page.getByRole('button', { name: 'New mute' }).press('Enter');
    await page.keyboard.type('Quiet nights');
    await page.getByLabel('Alarms', { exact: true }).selectOption({ label: 'Selected alarms' });
    await page.getByLabel('Add tag').selectOption('Roof <i>');
    // By keyboard: a device is searched for, a key is typed.
    await page.getByRole('combobox', { name: 'Add device' }).focus();
    await page.keyboard.type('Freezer <b>');
    await page.getByRole('option', { name: 'Freezer <b>' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Remove Freezer <b>' }).waitFor();
    await page.getByLabel('Add alarm key').focus();
    await page.keyboard.type('cooling <u>');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Remove cooling <u>' }).waitFor();
    await page.getByLabel('Severity').selectOption('Below Critical');
    await page.getByLabel('When').selectOption('Every week');
    await page.getByRole('checkbox', { name: 'Monday' }).uncheck();
    await page.getByLabel('Time zone').selectOption('Europe/Zurich');
    await stage.inspect('notifications-mute-dialog');
    await save('/v3/mutes');
    expect(await only('/v3/mutes')).toMatchObject({
      what: { tagIds: [tagId], deviceIds: [deviceId], alarmKeys: ['cooling <u>'] },
      severityBelow: 'CRITICAL',
      once: null,
      weekly: { days: ['TU', 'WE', 'TH', 'FR'], from: '22:00', to: '06:00' },
    });
    const list = page.getByRole('list', { name: 'Mutes' });
    await list
      .getByText(
        'Below Critical: alarms of Roof <i>, Freezer <b>, 1 alarm key, Tuesday, Wednesday, Thursday, Friday from 22:00 to 06:00 (Europe/Zurich)',
      )
      .waitFor();
    await list.getByText(/^(Next: |Muted until )/).waitFor();
    await expect
      .poll(() => list.getByRole('link', { name: 'Roof <i>' }).getAttribute('href'))
      .toMatch(/settings\/tags$/);
    await page.setViewportSize({ width: 390, height: 844 });
    await stage.inspect('notifications-phone');
    await expect.poll(() => pageWidth(page)).toBeLessThanOrEqual(390);
    await page.setViewportSize({ width: 1_440, height: 900 });
    await page.getByRole('button', { name: 'Edit Quiet nights' }).click();
    await page.getByLabel('When').selectOption('Once');
    await save('/v3/mutes');
    expect(await only('/v3/mutes')).toMatchObject({
      weekly: null,
      once: { from: expect.any(String) },
    });
    await list.getByText(/^Muted until /).waitFor();
    await page.getByRole('button', { name: 'Delete Quiet nights' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No mutes').waitFor();
  });
});
