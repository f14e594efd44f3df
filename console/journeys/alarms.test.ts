// Alarms in a real browser: a rule gets its alarm, fires into it live, and people work on it.
import { expect, test } from 'vitest';
import {
  type ActionSink,
  sinkEnvironment,
  startActionSink,
} from '../../tests/world/action-sink.ts';
import { alarmRules } from '../../tests/world/alarm-rules.ts';
import { startWorld, type TestDevice } from '../../tests/world/world.ts';
import { pageWidth } from './chromium.ts';
import { journey } from './journey.ts';

let sink: ActionSink;
let boiler: TestDevice;

interface Muted {
  readonly muted: { readonly muteId: string } | null;
}

const options = {
  start: () => startWorld({ environment: sinkEnvironment }),
  close: () => sink.close(),
  async prepare(world: Awaited<ReturnType<typeof startWorld>>) {
    sink = await startActionSink();
    boiler = await world.device({ name: 'Boiler Room' });
    for (const temperature of [20, 21, 22]) await world.capture(boiler, { temperature });
    await sink.action(world, 'Duty phone');
  },
};

journey('alarms', options, (stage) => {
  const bell = () => stage.page.getByRole('banner').getByRole('button', { name: /open alarm/i });

  test('without any, the page says how a rule raises one', async () => {
    const { page } = stage;
    await stage.visit('alarms');
    await page.getByText('No alarms yet').waitFor();
    await stage.inspect('alarms-empty');
    await page.getByRole('link', { name: 'Create alarm rule' }).click();
    await page.waitForURL(/\/rules\/new$/);
  });

  test('a rule gets an alarm in its lane, with whom it notifies', async () => {
    const { page } = stage;
    await page.getByRole('heading', { level: 1, name: 'New rule' }).waitFor();
    await page.getByLabel('Name', { exact: true }).fill('Too hot');
    await page.getByRole('button', { name: 'Add device, tag, or place' }).click();
    await page.getByRole('combobox', { name: 'Device' }).fill('Boiler');
    await page.getByRole('option', { name: /Boiler/ }).click();
    await page.getByRole('button', { name: /Select a data key/ }).click();
    await page.getByLabel('Data key').fill('temperature');
    await page.getByLabel('Operator', { exact: true }).selectOption('GT');
    await page.getByLabel('Value', { exact: true }).fill('50');
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('button', { name: 'Add action' }).click();
    await page.getByRole('button', { name: 'Create alarm' }).click();
    const dialog = page.getByRole('dialog', { name: 'Create alarm' });
    await dialog.getByLabel('Severity').selectOption('CRITICAL');
    await dialog.getByLabel('Escalate after (minutes)').fill('60');
    await dialog.getByRole('button', { name: 'Add notification' }).click();
    await stage.inspect('alarm-dialog');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: /Alarm/ }).last().click();
    await page.getByText('Escalates after 1 h').waitFor();
    await page.keyboard.press('Control+s');
    await page.getByRole('heading', { level: 1, name: 'Too hot' }).waitFor();
  });

  test('it fires: the bell counts it, and the inbox shows it without a reload', async () => {
    const { page, world } = stage;
    await page
      .getByRole('link', { name: /^Alarms/ })
      .first()
      .click();
    await page.getByText('No alarms yet').waitFor();
    await world.capture(boiler, { temperature: 61 });
    await page.getByRole('link', { name: 'Too hot: Boiler Room' }).waitFor();
    await page.getByText('1 open alarm').waitFor();
    await world.capture(boiler, { temperature: 64 });
    await page.getByText('×2').waitFor();
    await expect.poll(() => bell().getAttribute('aria-label')).toBe('1 open alarm');
    await bell().click();
    await page.getByRole('dialog').getByRole('link', { name: 'Too hot: Boiler Room' }).waitFor();
    await stage.inspect('alarm-bell');
    await page.keyboard.press('Escape');
  });

  test('by keyboard it is acknowledged; its page shows its life', async () => {
    const { page } = stage;
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('e');
    await page.getByText('Too hot: Boiler Room acknowledged').waitFor();
    await page.getByText('Nothing needs attention').waitFor();
    await page.getByRole('button', { name: 'Acknowledged 1' }).click();
    await page.getByRole('grid', { name: 'Alarms' }).focus();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Too hot: Boiler Room' }).waitFor();
    await page
      .getByText('When Boiler Room reports that temperature is above 50, raise an alarm.')
      .waitFor();
    await page.getByText('Triggered 2 times').first().waitFor();
    await page.getByText(/^Acknowledged by/).waitFor();
    await page.getByLabel('Comment').fill('On my way with a spanner');
    await page.getByRole('button', { name: 'Add comment' }).click();
    await page.getByText('On my way with a spanner').waitFor();
    await page.getByText('delivered').waitFor();
    await page.getByRole('img', { name: /Chart of temperature.*> 50/ }).waitFor();
    await stage.inspect('alarm');
  });

  test('it is muted for an hour from its page, and unmuted by keyboard', async () => {
    const { page, world } = stage;
    const muted = async () => (await alarmRules(world).newest(boiler)) as unknown as Muted;
    await page.getByRole('button', { name: 'Mute', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Mute Too hot: Boiler Room?' });
    await dialog.getByLabel('Reason').fill('The burner is being replaced');
    await stage.inspect('alarm-mute');
    await dialog.getByRole('button', { name: 'Mute', exact: true }).click();
    await page.getByText(/^Muted until /).waitFor();
    const { muteId } = (await muted()).muted!;
    const mute = await world.must('GET', `/v3/mutes/${muteId}`);
    expect(mute.reason).toBe('The burner is being replaced');
    expect(Date.parse(mute.once.to) - Date.parse(mute.once.from)).toBe(3_600_000);
    await stage.inspect('alarm-muted');
    await page.getByRole('button', { name: 'Unmute' }).focus();
    await page.keyboard.press('Enter');
    await expect.poll(async () => (await muted()).muted).toBeNull();
    await page.getByRole('button', { name: 'Mute', exact: true }).waitFor();
  });

  test('it is cleared with a reason, and found by device, severity and words', async () => {
    const { page } = stage;
    await page.keyboard.press('y');
    const dialog = page.getByRole('dialog', { name: /Clear/ });
    await dialog.getByLabel('Reason').fill('valve opened');
    await dialog.getByRole('button', { name: 'Clear' }).click();
    await page.getByText('valve opened').waitFor();
    await page.getByRole('link', { name: 'device', exact: true }).click();
    await page.getByRole('button', { name: 'Remove filter: Device: Boiler Room' }).waitFor();
    await page.getByRole('button', { name: 'Critical' }).click();
    await page.getByRole('link', { name: 'Too hot: Boiler Room' }).waitFor();
    await page.getByLabel('Search alarms, devices, or rules').fill('nothing like it');
    await page.getByText('No matching alarms').waitFor();
    await page.getByRole('link', { name: 'Clear filters' }).click();
    await page.getByText('Nothing needs attention').waitFor();
    await expect
      .poll(() => page.getByLabel('Search alarms, devices, or rules').inputValue())
      .toBe('');
  });

  test('many are selected and acknowledged together; the phone has all of it', async () => {
    const { page, world } = stage;
    const rules = alarmRules(world);
    const severities = ['MAJOR', 'MINOR', 'WARNING', 'INFO'];
    for (const [at, severity] of severities.entries()) {
      const room = await world.device({ name: `Room ${at + 1}` });
      const name = '{{device.name}} is above its limit';
      await rules.hotRule(room, [[30, await rules.output({ name, severity })]]);
      await rules.send(room, 40);
    }
    await page.getByRole('link', { name: 'Room 4 is above its limit' }).waitFor();
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByRole('link', { name: 'Room 4 is above its limit' }).waitFor();
    await stage.inspect('alarms-phone');
    await expect.poll(() => pageWidth(page)).toBeLessThanOrEqual(390);
    await page.getByRole('link', { name: 'Room 4 is above its limit' }).click();
    await page.getByText('Timeline').waitFor();
    await page.setViewportSize({ width: 1_440, height: 900 });
    await stage.visit('');
    await page.getByRole('heading', { name: '4 open alarms' }).waitFor();
    await page.getByRole('button', { name: 'Acknowledge Room 4 is above its limit' }).click();
    await page.getByRole('heading', { name: '3 open alarms' }).waitFor();
    await stage.inspect('home-alarms');
    await stage.visit('alarms');
    await page.getByRole('link', { name: 'Room 3 is above its limit' }).waitFor();
    await page.getByLabel('Select all on this page').check();
    await page.getByText('3 selected').waitFor();
    await page.getByRole('button', { name: 'Acknowledge', exact: true }).click();
    await page.getByText('3 alarms acknowledged').waitFor();
    await expect.poll(() => bell().getAttribute('aria-label')).toBe('No open alarms');
  });

  test('the activity has who did it, with the values before and after', async () => {
    const { page } = stage;
    await page.keyboard.type('gi');
    await page.getByRole('heading', { name: /Today/ }).waitFor();
    await page.getByRole('button', { name: /Details: .* updated 3 alarms/ }).click();
    await page.getByText('ACKNOWLEDGED').first().waitFor();
    await stage.inspect('activity');
    const address = page.url();
    await page.goto(address);
    await page.getByText('ACKNOWLEDGED').first().waitFor();
  });
});
