// Control tiles in a real browser: made in the form, sent after a question, followed to the device, and never by a link.
import { expect, test } from 'vitest';
import { actingBy } from '../../tests/access/access-world.ts';
import {
  downTopic,
  type MqttDevice,
  type MqttWorld,
  startMqttWorld,
} from '../../tests/world/mqtt-world.ts';
import { axeFindings, openBrowser, signIn } from './chromium.ts';
import { journey } from './journey.ts';

const soon = { timeout: 60_000, interval: 200 };
let valve: MqttDevice;
let dashboardId = '';

async function prepare(world: MqttWorld): Promise<void> {
  valve = await world.mqttDevice({ script: 'function consume() {}' });
  await world.must('PUT', `/v3/devices/${valve.id}`, { name: 'Valve 7' });
  const { dataFlow } = await world.must('GET', `/v3/devices/${valve.id}`);
  const code = "function consume({ payload }) { emit('downlink', { topic: 'set', payload }); }";
  await world.must('PUT', `/v3/device-types/${dataFlow.deviceType.id}`, {
    downlinkScript: { code },
  });
  const { workspaceId } = world;
  const configuration = { schema: 'heliograph-dashboard', version: 2, tiles: [] };
  const made = await world.must('POST', '/v3/dashboards', {
    ...{ workspaceId, name: 'Pump room', configuration },
  });
  dashboardId = made.id;
}

journey('control tiles', { start: startMqttWorld, prepare }, (stage) => {
  const tile = () => stage.page.getByRole('region', { name: 'Control' });
  const button = () => tile().getByRole('button', { name: 'Open the valve' });
  const sent = async () =>
    (await stage.world.must('GET', `/v3/devices/${valve.id}/downlinks`)).totalElements;

  test('contract 39.1: a control is added in the form, which says what is missing', async () => {
    const { page } = stage;
    await stage.visit(`dashboards/${dashboardId}`);
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await page.getByRole('button', { name: 'Add tile' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Visualization').selectOption('Control');
    await dialog.getByRole('combobox', { name: 'Device' }).fill('Valve');
    await page.getByRole('option', { name: /Valve 7/ }).click();
    await dialog.getByLabel('Button label').fill('Open the valve');
    await dialog.getByLabel('Payload', { exact: true }).fill('{ "open": ');
    await dialog.getByText('Enter a JSON object').waitFor();
    await dialog.getByRole('button', { name: 'Apply', exact: true }).click();
    await dialog.getByText('Select a device, and enter a label and a payload').waitFor();
    await dialog.getByLabel('Payload', { exact: true }).fill('{ "open": true }');
    await dialog.getByLabel('Input').selectOption('Number');
    await dialog.getByLabel('Member of the payload').fill('percent');
    await dialog.getByLabel('Minimum').fill('0');
    await dialog.getByLabel('Maximum').fill('100');
    expect(await axeFindings(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Apply', exact: true }).click();
    await tile().getByLabel('percent').fill('40');
    // While tiles are arranged, nothing is asked or sent.
    await button().click();
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
    await stage.save('/v3/dashboards/');
    const { configuration } = await stage.world.must('GET', `/v3/dashboards/${dashboardId}`);
    expect(configuration.tiles).toEqual([
      expect.objectContaining({
        kind: 'control',
        deviceId: valve.id,
        label: 'Open the valve',
        downlink: { mqttDownlink: { payload: { open: true } } },
        input: { key: 'percent', kind: 'NUMBER', min: 0, max: 100 },
      }),
    ]);
  });

  test('contract 39.1: it asks, sends what was entered, and shows how far it came', async () => {
    const { page } = stage;
    await stage.visit(`dashboards/${dashboardId}`);
    await tile().getByText('Nothing sent yet').waitFor();
    const entered = tile().getByLabel('percent');
    expect(await button().isDisabled()).toBe(true);
    await entered.fill('101');
    expect(await button().isDisabled()).toBe(true);
    await entered.fill('40');
    await stage.inspect('dashboard-control');
    await entered.press('Enter');
    const question = page.getByRole('dialog', { name: 'Open the valve?' });
    await question.getByText('percent: 40. Valve 7 receives the command').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await question.getByRole('button', { name: 'Cancel' }).click();
    expect(await sent()).toBe(0);
    await button().click();
    await question.getByRole('button', { name: 'Send' }).click();
    await tile().getByText('Queued').waitFor();
    const client = await stage.world.client(valve);
    const arrived = new Promise<string>((resolve) => {
      client.once('message', (_topic, payload) => resolve(payload.toString()));
    });
    await client.subscribeAsync(downTopic(valve), { qos: 1 });
    expect(JSON.parse(await arrived)).toEqual({ open: true, percent: 40 });
    await tile().getByText('Acknowledged').waitFor();
    expect(await sent()).toBe(1);
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await axeFindings(page)).toEqual([]);
    await page.setViewportSize({ width: 1_440, height: 900 });
  });

  test('contract 39.1: a kiosk asks twice', async () => {
    const { page } = stage;
    await stage.visit(`dashboards/${dashboardId}?kiosk=true`);
    await tile().getByLabel('percent').fill('0');
    await button().click();
    const question = page.getByRole('dialog');
    await question.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('dialog', { name: 'Really: Open the valve?' }).waitFor();
    expect(await sent()).toBe(1);
    await question.getByRole('button', { name: 'Send' }).click();
    await expect.poll(sent, soon).toBe(2);
    await question.waitFor({ state: 'detached' });
  });

  test('contract 39.5: at an earlier moment nothing is sent, and back at now it is', async () => {
    const { page } = stage;
    const earlier = new Date(Date.now() - 3_600_000).toISOString();
    const before = await sent();
    await stage.visit(`dashboards/${dashboardId}?at=${earlier}`);
    await tile().getByText('Go back to now to send commands.').waitFor();
    const entered = tile().getByLabel('percent');
    await entered.fill('40');
    expect(await button().isDisabled()).toBe(true);
    await entered.press('Enter');
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
    // A question that is open when the moment changes cannot be answered any more.
    await page.getByRole('button', { name: 'Back to now' }).click();
    await expect.poll(() => button().isEnabled()).toBe(true);
    await button().click();
    await page.getByRole('dialog', { name: 'Open the valve?' }).waitFor();
    await page.goBack();
    await tile().getByText('Go back to now to send commands.').waitFor();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.goForward();
    await expect.poll(() => button().isEnabled()).toBe(true);
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
    expect(await sent()).toBe(before);
  });

  test('contract 39.1: an earlier version shows its controls and sends nothing', async () => {
    const { page, world } = stage;
    const before = await sent();
    const { version } = await world.must('GET', `/v3/dashboards/${dashboardId}`);
    await world.must('PUT', `/v3/dashboards/${dashboardId}`, { description: 'Newer' });
    await stage.visit(`dashboards/${dashboardId}?version=${version}`);
    await page.getByText('with current data').waitFor();
    await tile().getByText('Earlier versions send no commands.').waitFor();
    const entered = tile().getByLabel('percent');
    await entered.fill('40');
    expect(await button().isDisabled()).toBe(true);
    await entered.press('Enter');
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
    await stage.visit(`dashboards/${dashboardId}`);
    await tile().getByLabel('percent').fill('40');
    await expect.poll(() => button().isEnabled()).toBe(true);
    expect(await sent()).toBe(before);
  });

  test('contract 39.1: a viewer cannot send, and a link has no controls and sends nothing', async () => {
    const { page, world } = stage;
    const { body } = await world.call('POST', `/v3/dashboards/${dashboardId}/share`, {});
    const other = await openBrowser(world.base);
    try {
      const { pathname, hash } = new URL(body.url);
      await other.page.goto(world.base + pathname + hash);
      await other.page.getByRole('heading', { name: 'Pump room' }).waitFor();
      await expect
        .poll(() => other.page.getByRole('button', { name: 'Open the valve' }).count())
        .toBe(0);
      expect(other.complaints).toEqual([]);
    } finally {
      await other.close();
    }
    const link = actingBy(world.base, { authorization: `Bearer ${body.token}` });
    const refused = await link.call('POST', `/v3/devices/${valve.id}/downlink`, {});
    expect(refused.status).toBe(403);
    const viewer = { email: 'viewer@example.org', password: 'several words are good' };
    const { invitationUrl } = await world.must(
      'POST',
      `/v3/workspaces/${world.workspaceId}/members`,
      { email: viewer.email, role: 'VIEWER' },
    );
    const token = String(invitationUrl).split('/').at(-1);
    const named = { name: 'Viewer', password: viewer.password };
    await actingBy(world.base, {}).must('POST', `/v3/auth/invitations/${token}`, named);
    await stage.browser.context.clearCookies();
    await signIn(page, world.base, viewer);
    await stage.visit(`dashboards/${dashboardId}`);
    await tile().getByLabel('percent').fill('5');
    await button().waitFor();
    expect(await button().isDisabled()).toBe(true);
    await expect.poll(() => button().getAttribute('title')).toContain('asset: update');
  });
});
