// Files and reports of a dashboard in a real browser: downloaded, then mailed by a real mail server, by mouse and by keyboard.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type MailBox, openMailBox } from '../../tests/access/mail-box.ts';
import { startWorld, type World } from '../../tests/world/world.ts';
import { pageWidth } from './chromium.ts';
import { journey } from './journey.ts';

let box: MailBox;
let dashboardId = '';

const options = {
  async start() {
    box = await openMailBox();
    return startWorld({
      environment: { SMTP_URL: box.url, MAIL_FROM: 'heliograph@example.org' },
    });
  },
  prepare,
  close: () => box.close(),
};

journey('reports', options, (stage) => {
  const reportsOf = async () =>
    (await stage.world.must('GET', `/v3/reports?dashboardId=${dashboardId}`)).content;

  test('a dashboard is downloaded as PDF, and a tile as CSV', async () => {
    const { page } = stage;
    await stage.visit(`dashboards/${dashboardId}`);
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Download' }).click();
    const dialog = page.getByRole('dialog', { name: 'Download Campus' });
    await dialog.waitFor();
    await stage.inspect('download of a dashboard');
    const keptAs = async (button: string) => {
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        dialog.getByRole('button', { name: button }).click(),
      ]);
      return { name: file.suggestedFilename(), bytes: readFileSync(await file.path()) };
    };
    const pdf = await keptAs('Download PDF');
    expect(pdf.name).toBe('Campus.pdf');
    expect(pdf.bytes.subarray(0, 5).toString()).toBe('%PDF-');
    const csv = await keptAs('Download CSV');
    expect(csv.name).toBe('Campus.csv');
    expect(csv.bytes.toString()).toContain('time,Cold room (°C)');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
  });

  test('a report is created by the keyboard, and shows its next run in its zone', async () => {
    const { page } = stage;
    await page.getByRole('button', { name: 'More', exact: true }).focus();
    await page.keyboard.press('Enter');
    const entry = page.getByRole('menuitem', { name: 'Send regularly' });
    await expect.poll(() => entry.evaluate((one) => one === document.activeElement)).toBe(true);
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Send Campus regularly' });
    await dialog.getByText('No reports of this dashboard').waitFor();
    await dialog.getByRole('button', { name: 'New report' }).focus();
    await page.keyboard.press('Enter');
    const form = page.getByRole('dialog', { name: 'New report' });
    await form.waitFor();
    await expect
      .poll(() => form.getByLabel('Name').evaluate((one) => one === document.activeElement))
      .toBe(true);
    await page.keyboard.type(' weekly');
    await form.getByLabel('Time zone').selectOption('Europe/Zurich');
    await form.getByLabel('Recipients').focus();
    await page.keyboard.type('anna@example.org\nnobody');
    await stage.inspect('new report');
    await form.getByRole('button', { name: 'Create' }).press('Enter');
    await form.getByRole('alert').getByText('must be an email address').waitFor();
    expect(stage.takeComplaints().join()).toContain('400');
    expect(await reportsOf()).toEqual([]);
    await form.getByLabel('Recipients').fill('anna@example.org\nben@example.org');
    await form.getByRole('button', { name: 'Create' }).press('Enter');
    await expect.poll(reportsOf, { timeout: 60_000 }).toMatchObject([
      {
        name: 'Campus weekly',
        recipients: ['anna@example.org', 'ben@example.org'],
        schedule: { every: 'WEEKLY', at: '07:00', weekday: 'MO', timeZone: 'Europe/Zurich' },
        formats: ['PDF'],
      },
    ]);
    await form.waitFor({ state: 'hidden' });
    const row = dialog.getByRole('listitem', { name: 'Campus weekly' });
    await row.getByText('Every week · 2 recipients').waitFor();
    await row.getByText('(Europe/Zurich)').waitFor();
    await row.getByText('07:00:00').waitFor();
    await stage.inspect('reports of a dashboard');
  });

  test('one whose dashboard is deleted is named on Home, and saved for another one', async () => {
    const { page, world } = stage;
    const { configuration } = await world.must('GET', `/v3/dashboards/${dashboardId}`);
    const { workspaceId } = world;
    const other = await world.must('POST', '/v3/dashboards', {
      ...{ name: 'Gone', workspaceId, configuration },
    });
    await world.must('POST', '/v3/reports', {
      ...{ name: 'Orphan', workspaceId, dashboardId: other.id },
      schedule: { every: 'DAILY', at: '07:00', timeZone: 'UTC' },
      recipients: ['carl@example.org'],
    });
    await world.must('DELETE', `/v3/dashboards/${other.id}`);
    await stage.visit('');
    await page.getByRole('link', { name: 'Report stopped: Orphan' }).waitFor();
    await stage.visit(`dashboards/${dashboardId}`);
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Send regularly' }).click();
    const row = page.getByRole('listitem', { name: 'Orphan' });
    await row.getByText('The dashboard was deleted.').waitFor();
    await row.getByRole('button', { name: 'Edit report Orphan' }).click();
    const form = page.getByRole('dialog', { name: 'Edit report Orphan' });
    await form.getByLabel('Send at these times').check();
    await form.getByRole('button', { name: 'Save' }).click();
    await expect
      .poll(async () => (await reportsOf()).map(({ name }: { name: string }) => name).toSorted(), {
        timeout: 60_000,
      })
      .toEqual(['Campus weekly', 'Orphan']);
    await form.waitFor({ state: 'hidden' });
    await world.must(
      'DELETE',
      `/v3/reports/${(await reportsOf()).find(({ name }: { name: string }) => name === 'Orphan').id}`,
    );
    await page.reload();
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Send regularly' }).click();
  });

  test('it is sent now, changed, and deleted', async () => {
    const { page } = stage;
    const row = page.getByRole('listitem', { name: 'Campus weekly' });
    await row.getByRole('button', { name: 'Send now' }).click();
    expect((await box.newest('anna@example.org')).text).toContain('Subject: Weekly: Campus weekly');
    await box.newest('ben@example.org');
    await row.getByRole('button', { name: 'Edit report Campus weekly' }).click();
    const form = page.getByRole('dialog', { name: 'Edit report Campus weekly' });
    await form.getByLabel('Frequency').selectOption('MONTHLY');
    await form.getByLabel('Day of the month').fill('31');
    await form.getByLabel('CSV of each chart').check();
    await form.getByRole('button', { name: 'Save' }).click();
    await expect
      .poll(reportsOf, { timeout: 60_000 })
      .toMatchObject([{ schedule: { every: 'MONTHLY', day: 31 }, formats: ['PDF', 'CSV'] }]);
    await form.waitFor({ state: 'hidden' });
    await row.getByText('Every month').waitFor();
    await page.setViewportSize({ width: 390, height: 844 });
    await expect.poll(() => pageWidth(page)).toBeLessThanOrEqual(390);
    await stage.inspect('reports on a phone');
    await page.setViewportSize({ width: 1_440, height: 900 });
    await row.getByRole('button', { name: 'Delete Campus weekly' }).click();
    const question = page.getByRole('dialog', { name: 'Delete report Campus weekly?' });
    await question.getByRole('button', { name: 'Delete' }).click();
    await expect.poll(reportsOf, { timeout: 60_000 }).toEqual([]);
    await page.getByText('No reports of this dashboard').waitFor();
  });
});

async function prepare(world: World): Promise<void> {
  const device = await world.device({ name: 'Cold room' });
  for (const temperature of [3, 4, 5]) await world.capture(device, { temperature });
  const series = { deviceId: device.id, topic: 'default', dataKey: 'temperature', unit: '°C' };
  const dashboard = await world.must('POST', '/v3/dashboards', {
    name: 'Campus',
    workspaceId: world.workspaceId,
    configuration: {
      schema: 'heliograph-dashboard',
      version: 2,
      tiles: [
        {
          ...{ id: 'line', kind: 'line', title: 'Temperature', accumulator: 'AVG' },
          ...{ x: 0, y: 0, width: 6, height: 4 },
          series: [series],
        },
      ],
    },
  });
  dashboardId = dashboard.id;
}
