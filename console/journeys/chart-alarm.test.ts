// Alarm on a chart in a real browser: four clicks from a chart to an alarm with mail, by mouse, by keyboard, and on a phone.
import type { Locator } from 'playwright-core';
import { afterAll, describe, expect, test } from 'vitest';
import { type MailBox, openMailBox } from '../../tests/access/mail-box.ts';
import { startWorld, type TestDevice, type World } from '../../tests/world/world.ts';
import type { BrowserOptions } from './chromium.ts';
import { pageWidth } from './chromium.ts';
import { journey, type Stage } from './journey.ts';

const minuteMs = 60_000;
const boxes: MailBox[] = [];
afterAll(() => Promise.all(boxes.map((box) => box.close())));

/** A platform with a mail server, and a device that was warm four times within the last hours. */
class Mailing {
  box: MailBox | undefined;
  device: TestDevice | undefined;

  readonly start = async (): Promise<World> => {
    this.box = await openMailBox();
    boxes.push(this.box);
    const { url } = this.box;
    return startWorld({ environment: { SMTP_URL: url, MAIL_FROM: 'heliograph@example.org' } });
  };

  readonly prepare = async (world: World): Promise<void> => {
    this.device = await world.device({ name: 'Cold room <b>' });
    const now = Date.now();
    const samples = Array.from({ length: 240 }, (_, at) => ({
      timestamp: new Date(now - (240 - at) * minuteMs).toISOString(),
      data: { temperature: at % 60 >= 40 && at % 60 < 50 ? 9 : 4 },
    }));
    await world.must('POST', `/v3/devices/${this.device.id}/backfill/bulk`, samples);
  };

  get deviceId(): string {
    return this.device?.id ?? '';
  }

  /** The alarm opens with a sample above its limit, and its mail arrives. */
  async isMailed(stage: Stage, email: string): Promise<void> {
    const { device, box } = this;
    if (device === undefined || box === undefined) throw new Error('nothing was started');
    await stage.world.capture(device, { temperature: 9 });
    const { text } = await box.newest(email);
    expect(text).toContain('Cold room');
  }
}

const ruleOf = async ({ world }: Stage) => {
  const { content } = await world.must('GET', `/v3/rules?workspaceId=${world.workspaceId}`);
  expect(content).toHaveLength(1);
  const rule = await world.must('GET', `/v3/rules/${content[0].id}`);
  const output = await world.must('GET', `/v3/output-connectors/${rule.actions[0].id}`);
  return { rule, alarm: output.alarmProperties };
};

/** The place of the chart in which a value stands, by its axis: 40 % of the range are free above and below. */
async function clickAt(chart: Locator, share: number): Promise<void> {
  const plot = chart.locator('.u-over');
  const { width = 0, height = 0 } = (await plot.boundingBox()) ?? {};
  await plot.click({ position: { x: width / 2, y: height * share } });
}

describe('by mouse', () => {
  const mailing = new Mailing();
  journey('an alarm with mail takes four clicks', mailing, (stage) => {
    test('Add alarm, the limit in the chart, the address, Create', async () => {
      const { page } = stage;
      await stage.visit(`devices/${mailing.deviceId}/overview`);
      let clicks = 0;
      await page.exposeFunction('countClick', () => (clicks += 1));
      await page.evaluate(() => {
        const { countClick } = globalThis as unknown as { countClick: () => void };
        // The chart takes the press already, as a drag may begin there.
        addEventListener('pointerdown', ({ isTrusted }) => isTrusted && countClick(), true);
      });
      await page.getByRole('button', { name: 'Add alarm' }).click();
      const dialog = page.getByRole('dialog', { name: 'Add alarm: temperature' });
      const chart = dialog.getByRole('img', { name: /^temperature in the last 7 days/ });
      await chart.locator('.u-over').waitFor();
      const limit = dialog.getByLabel('Limit', { exact: true });
      await expect
        .poll(() => limit.evaluate((field) => field === document.activeElement))
        .toBe(true);
      expect(Number(await limit.inputValue())).toBe(9.5);
      await dialog.getByText('It would not have triggered').waitFor();
      // From 4 to 9 with 40 % more on both sides: the middle is 6.5.
      await clickAt(chart, 0.5);
      await expect.poll(async () => Number(await limit.inputValue())).toBeCloseTo(6.5, 0);
      await dialog
        .getByText('It would have triggered 4 times in the last 7 days, 20 min in all.')
        .waitFor();
      await dialog.getByLabel('Email to').click();
      await page.keyboard.type('anna@example.org');
      await stage.inspect('chart-alarm');
      await dialog.getByRole('button', { name: 'Create alarm' }).click();
      await page.getByText(/^temperature above 6\.\d+ created$/).waitFor();
      await dialog.waitFor({ state: 'detached' });
      expect(clicks).toBe(4);
      const { rule, alarm } = await ruleOf(stage);
      expect(rule.logic.logicBlocks).toMatchObject([
        { holdsFor: 'PT5M', conditions: [{ operator: 'GT' }] },
      ]);
      expect(alarm).toMatchObject({
        severity: 'MAJOR',
        clearWhen: 'RULE_FALSE',
        notify: [{ on: 'OPENED', emails: ['anna@example.org'] }],
      });
    });
  });
});

describe('by keyboard', () => {
  const mailing = new Mailing();
  const browser: BrowserOptions = { colorScheme: 'dark' };
  journey('an alarm with mail needs no mouse', { ...mailing, browser }, (stage) => {
    test('the mail is sent to whom the keyboard named', async () => {
      const { page } = stage;
      await stage.visit(`devices/${mailing.deviceId}/overview`);
      await page.getByRole('button', { name: 'Add alarm' }).focus();
      await page.keyboard.press('Enter');
      const dialog = page.getByRole('dialog', { name: 'Add alarm: temperature' });
      await dialog.getByRole('img', { name: /^temperature in the last 7 days/ }).waitFor();
      // The first field has the focus, with what it proposes.
      await page.keyboard.press('Control+a');
      await page.keyboard.type('6.5');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Control+a');
      await page.keyboard.press('Delete');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Tab');
      await page.keyboard.type('ben@example.org');
      await dialog.getByText('It would have triggered 4 times').waitFor();
      await page.keyboard.press('Enter');
      await dialog.waitFor({ state: 'detached' });
      const { rule } = await ruleOf(stage);
      expect(rule).toMatchObject({ name: 'temperature above 6.5', active: true });
      expect(rule.logic.logicBlocks[0]).not.toHaveProperty('holdsFor');
      await mailing.isMailed(stage, 'ben@example.org');
      const opener = page.getByRole('button', { name: 'Add alarm' });
      await expect
        .poll(() => opener.evaluate((button) => button === document.activeElement))
        .toBe(true);
    });

    test('contract 39.4: Advanced continues in the rule editor, with the alarm and who is mailed', async () => {
      const { page, world } = stage;
      const { workspaceId } = world;
      const [{ id: before }] = (await world.must('GET', `/v3/rules?workspaceId=${workspaceId}`))
        .content;
      await page.getByRole('button', { name: 'Add alarm' }).press('Enter');
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Limit', { exact: true }).fill('7');
      await dialog.getByLabel('Email to').fill('eva@example.org');
      await dialog.getByRole('button', { name: 'Advanced' }).press('Enter');
      await page.waitForURL(/\/rules\/new$/);
      await page.getByLabel('Name', { exact: true }).fill('Too warm at night');
      await page.getByRole('button', { name: 'temperature above 7 Alarm' }).press('Enter');
      await page.getByText('The alarm is created with the rule.').waitFor();
      await stage.inspect('chart-alarm-advanced');
      await page.getByRole('button', { name: 'Create rule' }).press('Enter');
      await page.waitForURL(/\/rules\/(?!new)[0-9a-f]+\/edit$/);
      const { content } = await world.must('GET', `/v3/rules?workspaceId=${workspaceId}`);
      const created = content.find(({ id }: { id: string }) => id !== before);
      const rule = await world.must('GET', `/v3/rules/${created.id}`);
      expect(rule).toMatchObject({
        name: 'Too warm at night',
        logic: {
          logicBlocks: [
            {
              holdsFor: 'PT5M',
              conditions: [{ operator: 'GT', operandSecond: { value: 7 } }],
              actionIds: [rule.actions[0].id],
            },
          ],
        },
      });
      const output = await world.must('GET', `/v3/output-connectors/${rule.actions[0].id}`);
      expect(output.alarmProperties.notify).toEqual([
        expect.objectContaining({ on: 'OPENED', emails: ['eva@example.org'] }),
      ]);
      // The page of a rule that is deleted would ask for it once more.
      await stage.visit(`devices/${mailing.deviceId}/overview`);
      await world.must('DELETE', `/v3/rules/${rule.id}`);
    });

    test('below the values it triggers below, and what the platform says is at its field', async () => {
      const { page } = stage;
      await page.getByRole('button', { name: 'Add alarm' }).press('Enter');
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Limit', { exact: true }).fill('2');
      await expect.poll(() => dialog.getByLabel('Triggers').inputValue()).toBe('below');
      await dialog.getByLabel('Email to').fill('nobody');
      await dialog.getByRole('button', { name: 'Create alarm' }).press('Enter');
      await dialog.getByRole('alert').waitFor();
      expect(stage.takeComplaints()).toEqual([expect.stringContaining('400')]);
      await page.keyboard.press('Escape');
    });
  });
});

describe('on a phone', () => {
  const mailing = new Mailing();
  const browser: BrowserOptions = { width: 390, height: 844 };
  journey('an alarm is added from a dashboard on a phone', { ...mailing, browser }, (stage) => {
    test('a tile with two values asks which one, and a person is chosen with one touch', async () => {
      const { page, world } = stage;
      const { workspaceId } = world;
      const series = ['temperature', 'humidity'].map((dataKey) => ({
        deviceId: mailing.deviceId,
        topic: 'default',
        dataKey,
        label: dataKey,
      }));
      const tile = { id: 'a', kind: 'line', title: 'Rooms', x: 0, y: 0, width: 6, height: 4 };
      const { id } = await world.must('POST', '/v3/dashboards', {
        workspaceId,
        name: 'Cooling',
        configuration: {
          schema: 'heliograph-dashboard',
          version: 2,
          range: { last: 'P1D' },
          tiles: [{ ...tile, series }],
        },
      });
      await stage.visit(`dashboards/${id}`);
      await page.getByRole('button', { name: 'Add alarm to Rooms' }).click();
      const dialog = page.getByRole('dialog', { name: 'Add alarm: temperature' });
      await dialog.getByLabel('Value', { exact: true }).selectOption('humidity');
      await page.getByRole('dialog', { name: 'Add alarm: humidity' }).waitFor();
      await page.getByText('No data in the last 7 days').waitFor();
      await page.getByLabel('Value', { exact: true }).selectOption('temperature');
      const chart = dialog.getByRole('img', { name: /^temperature in the last 7 days/ });
      await clickAt(chart, 0.5);
      await dialog.getByRole('button', { name: 'admin@localhost' }).click();
      await expect.poll(() => dialog.getByLabel('Email to').inputValue()).toBe('admin@localhost');
      await stage.inspect('chart-alarm-phone');
      await expect.poll(() => pageWidth(page)).toBeLessThanOrEqual(390);
      await dialog.getByRole('button', { name: 'Create alarm' }).click();
      await dialog.waitFor({ state: 'detached' });
      const { alarm } = await ruleOf(stage);
      expect(alarm.notify).toEqual([{ on: 'OPENED', emails: ['admin@localhost'] }]);
    });
  });
});
