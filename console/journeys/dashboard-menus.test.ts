// Menus of a dashboard and of its tiles in a real browser, by mouse, by keyboard and on a phone.
import { expect, test } from 'vitest';
import { startWorld, type World } from '../../tests/world/world.ts';
import { axeFindings, pageWidth } from './chromium.ts';
import { journey } from './journey.ts';

let dashboardId = '';
let otherId = '';
const elsewhere = { workspaceId: '', dashboardId: '', deviceId: '', tagId: '' };

journey('menus of dashboards', { start: startWorld, prepare }, (stage) => {
  const tilesOf = async (id: string) => {
    const { configuration } = await stage.world.must('GET', `/v3/dashboards/${id}`);
    return configuration.tiles as { id: string; title?: string }[];
  };
  const titlesOf = async (id: string) => (await tilesOf(id)).map(({ title }) => title);

  test('a tile is duplicated by keyboard; Escape closes its menu only', async () => {
    const { page } = stage;
    await stage.visit(`dashboards/${dashboardId}`);
    const opener = page.getByRole('button', { name: 'More actions of Heat', exact: true });
    await opener.focus();
    await page.keyboard.press('Enter');
    const focused = () => page.evaluate(() => document.activeElement?.textContent);
    await expect.poll(focused).toBe('Full screen');
    await stage.inspect('dashboard-tile-menu');
    await page.keyboard.press('ArrowUp');
    expect(await focused()).toBe('Download CSV');
    await page.keyboard.press('Escape');
    await expect.poll(() => page.locator(':popover-open').count()).toBe(0);
    await expect.poll(() => opener.evaluate((one) => one === document.activeElement)).toBe(true);
    expect(page.url()).toContain(dashboardId);
    await page.keyboard.press('Enter');
    await expect.poll(focused).toBe('Full screen');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    expect(await focused()).toBe('Duplicate');
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'Heat (copy)' }).waitFor();
    await stage.save(`/v3/dashboards/${dashboardId}`);
    expect(await titlesOf(dashboardId)).toEqual([
      'Heat',
      'Now',
      'Both',
      'Dial',
      'Switch',
      'Heat (copy)',
    ]);
    await page.getByRole('button', { name: 'Done' }).click();
  });

  test('a tile moves to another dashboard, with the variable that it names', async () => {
    const { page } = stage;
    await stage.visit(`dashboards/${dashboardId}`);
    await page.getByRole('button', { name: 'More actions of Heat (copy)' }).click();
    await page.getByRole('menuitem', { name: 'Copy to another dashboard' }).click();
    const dialog = page.getByRole('dialog', { name: 'Copy Heat (copy)' });
    await dialog.getByLabel('Dashboard', { exact: true }).selectOption('Plant');
    await dialog.getByText('Variables are copied with it: room').waitFor();
    await dialog.getByLabel('Remove the tile here').check();
    await stage.inspect('dashboard-copy-tile');
    await dialog.getByRole('button', { name: 'Copy', exact: true }).click();
    await expect.poll(() => titlesOf(otherId)).toEqual(['Heat (copy)']);
    const { configuration } = await stage.world.must('GET', `/v3/dashboards/${otherId}`);
    expect(configuration.variables).toMatchObject([{ name: 'room', kind: 'DEVICE' }]);
    await expect.poll(() => page.getByRole('region', { name: 'Heat (copy)' }).count()).toBe(0);
    await stage.save(`/v3/dashboards/${dashboardId}`);
    expect(await titlesOf(dashboardId)).toEqual(['Heat', 'Now', 'Both', 'Dial', 'Switch']);
    await page.getByRole('button', { name: 'Done' }).click();
  });

  test('a tile is copied to another workspace with its namesakes; what is missing there is named', async () => {
    const { page } = stage;
    await stage.visit(`dashboards/${dashboardId}`);
    await page.getByRole('button', { name: 'More actions of Both' }).focus();
    await page.keyboard.press('Enter');
    const item = page.getByRole('menuitem', { name: 'Copy to another dashboard' });
    await item.focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Copy Both' });
    const workspace = dialog.getByLabel('Workspace', { exact: true });
    await expect.poll(() => workspace.evaluate((one) => one === document.activeElement)).toBe(true);
    await page.keyboard.type('Berlin');
    await expect
      .poll(() => dialog.getByLabel('Dashboard', { exact: true }).inputValue())
      .toBe(elsewhere.dashboardId);
    await dialog.getByText('References found there by name: 2').waitFor();
    await dialog
      .getByText('The tile is copied without what this workspace does not have')
      .waitFor();
    expect(await dialog.getByRole('listitem').allTextContents()).toEqual(['Device Cellar']);
    await stage.inspect('dashboard-copy-elsewhere');
    await dialog.getByRole('button', { name: 'Copy', exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('Both copied to Floor (Berlin)').waitFor();
    const { configuration } = await stage.world.must(
      'GET',
      `/v3/dashboards/${elsewhere.dashboardId}`,
    );
    expect(configuration.tiles).toMatchObject([
      {
        title: 'Both',
        series: [
          { deviceId: elsewhere.deviceId, dataKey: 'temperature' },
          { tagId: elsewhere.tagId, dataKey: 'temperature' },
        ],
      },
    ]);
  });

  test('on a phone, a tile that the other workspace has nothing for is not copied', async () => {
    const { page } = stage;
    await page.setViewportSize({ width: 390, height: 844 });
    await stage.visit(`dashboards/${dashboardId}`);
    await page.getByRole('button', { name: 'More actions of Switch' }).click();
    await page.getByRole('menuitem', { name: 'Copy to another dashboard' }).click();
    const dialog = page.getByRole('dialog', { name: 'Copy Switch' });
    await dialog.getByLabel('Workspace', { exact: true }).selectOption('Berlin');
    await dialog.getByText('The tile cannot be copied').waitFor();
    await dialog.getByText('Device Cellar').waitFor();
    const copy = dialog.getByRole('button', { name: 'Copy', exact: true });
    await expect.poll(() => copy.isDisabled()).toBe(true);
    await stage.inspect('dashboard-phone-copy-elsewhere');
    await expect.poll(() => pageWidth(page)).toBeLessThanOrEqual(390);
    await dialog.getByLabel('Workspace', { exact: true }).selectOption(stage.world.workspaceId);
    await expect.poll(() => copy.isDisabled()).toBe(false);
    await page.keyboard.press('Escape');
    await page.setViewportSize({ width: 1_440, height: 900 });
  });

  test('an alarm is added in the menu of a value, by keyboard, and on a phone in that of a gauge', async () => {
    const { page, world } = stage;
    const rules = async () =>
      (await world.must('GET', `/v3/rules?workspaceId=${world.workspaceId}`)).content;
    await stage.visit(`dashboards/${dashboardId}`);
    const opener = page.getByRole('button', { name: 'More actions of Now' });
    await opener.focus();
    await page.keyboard.press('Enter');
    const focused = () => page.evaluate(() => document.activeElement?.textContent);
    await expect.poll(focused).toBe('Full screen');
    await page.keyboard.press('End');
    expect(await focused()).toBe('Add alarm');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: /^Add alarm: / });
    const limit = dialog.getByLabel(/^Limit/);
    await expect.poll(() => limit.evaluate((one) => one === document.activeElement)).toBe(true);
    await page.keyboard.press('Control+a');
    await page.keyboard.type('30');
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await expect.poll(() => opener.evaluate((one) => one === document.activeElement)).toBe(true);
    await expect.poll(rules).toHaveLength(1);
    await page.setViewportSize({ width: 390, height: 844 });
    await stage.visit(`dashboards/${dashboardId}`);
    await page.getByRole('button', { name: 'More actions of Dial' }).click();
    await page.getByRole('menuitem', { name: 'Add alarm' }).click();
    await dialog.getByRole('img', { name: /in the last 7 days/ }).waitFor();
    await stage.inspect('dashboard-gauge-alarm');
    await expect.poll(() => pageWidth(page)).toBeLessThanOrEqual(390);
    await limit.fill('31');
    await dialog.getByRole('button', { name: 'Create alarm' }).click();
    await dialog.waitFor({ state: 'detached' });
    await expect.poll(rules).toHaveLength(2);
    const names = (await rules()).map(({ name }: { name: string }) => name);
    expect(names.toSorted()).toEqual(['Room above 30 °C', 'Room above 31 °C']);
    await page.setViewportSize({ width: 1_440, height: 900 });
  });

  test('full screen, CSV and the form of a tile', async () => {
    const { page } = stage;
    await stage.visit(`dashboards/${dashboardId}`);
    const opener = page.getByRole('button', { name: 'More actions of Heat', exact: true });
    const choose = async (name: string) => {
      await opener.click();
      await page.getByRole('menuitem', { name, exact: true }).click();
    };
    await choose('Full screen');
    const isFull = () => page.evaluate(() => document.fullscreenElement?.tagName);
    await expect.poll(isFull).toBe('SECTION');
    await stage.inspect('dashboard-full-screen');
    await choose('Exit full screen');
    await expect.poll(isFull).toBeUndefined();
    await choose('Download CSV');
    const dialog = page.getByRole('dialog', { name: 'Download House' });
    await expect.poll(() => dialog.getByLabel('Tile').inputValue()).toBe('heat');
    await page.keyboard.press('Escape');
    await choose('Edit');
    const form = page.getByRole('dialog', { name: 'Edit tile' });
    await expect.poll(() => form.getByLabel('Title').inputValue()).toBe('Heat');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Done' }).click();
  });

  test('a dashboard is duplicated, and its JSON is replaced', async () => {
    const { page, world } = stage;
    await stage.visit(`dashboards/${dashboardId}`);
    const choose = async (name: string) => {
      await page.getByRole('button', { name: 'More', exact: true }).click();
      await page.getByRole('menuitem', { name, exact: true }).click();
    };
    await choose('Duplicate');
    await page.getByRole('heading', { name: 'House (copy)' }).first().waitFor();
    const list = await world.must('GET', `/v3/dashboards?workspaceId=${world.workspaceId}`);
    const copy = list.content.find(({ name }: { name: string }) => name === 'House (copy)');
    expect(await titlesOf(copy.id)).toEqual(['Heat', 'Now', 'Both', 'Dial', 'Switch']);
    await choose('JSON');
    await page.getByRole('button', { name: 'Replace…' }).click();
    const field = page.getByLabel('New configuration');
    await field.fill('{"tiles": []}');
    await page.getByText('This is not the configuration of a dashboard').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    const text = { id: 'a', kind: 'text', title: 'Replaced', text: 'New', ...place };
    const configuration = { schema: 'heliograph-dashboard', version: 2, tiles: [text] };
    await field.fill(JSON.stringify(configuration));
    await page.getByRole('button', { name: 'Replace', exact: true }).click();
    await page.getByRole('region', { name: 'Replaced' }).waitFor();
    await stage.save(`/v3/dashboards/${copy.id}`);
    expect(await titlesOf(copy.id)).toEqual(['Replaced']);
  });

  test('a dashboard is copied to another workspace by keyboard; what is missing there is named', async () => {
    const { page, world } = stage;
    await stage.visit(`dashboards/${dashboardId}`);
    await page.getByRole('button', { name: 'More', exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('menuitem', { name: 'Duplicate', exact: true }).waitFor();
    await page.keyboard.press('End');
    const focused = () => page.evaluate(() => document.activeElement?.textContent);
    await expect.poll(focused).toBe('Copy to another workspace');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Copy House' });
    const workspace = dialog.getByLabel('Workspace', { exact: true });
    await expect.poll(() => workspace.evaluate((one) => one === document.activeElement)).toBe(true);
    const copy = dialog.getByRole('button', { name: 'Copy', exact: true });
    expect(await copy.isDisabled()).toBe(true);
    await page.keyboard.type('Berlin');
    await dialog.getByText('References found there by name: 2').waitFor();
    await dialog.getByText('The dashboard is copied without').waitFor();
    expect(await dialog.getByRole('listitem').allTextContents()).toEqual(['Device Cellar']);
    await dialog.getByText('Tiles left out: Switch').waitFor();
    await stage.inspect('dashboard-copy-whole');
    await copy.focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => page.url()).toContain(`/w/${elsewhere.workspaceId}/dashboards/`);
    await page.getByRole('heading', { name: 'House', exact: true }).first().waitFor();
    await page.getByRole('region', { name: 'Both' }).waitFor();
    const { content } = await world.must(
      'GET',
      `/v3/dashboards?workspaceId=${elsewhere.workspaceId}&search=House`,
    );
    const [{ id }] = content;
    const { name, configuration } = await world.must('GET', `/v3/dashboards/${id}`);
    expect(name).toBe('House');
    expect(configuration.variables).toEqual([
      { name: 'room', kind: 'DEVICE', default: elsewhere.deviceId },
    ]);
    expect(configuration.tiles).toMatchObject([
      { title: 'Heat', series: [{ variable: 'room', dataKey: 'temperature' }] },
      { title: 'Now' },
      { title: 'Both', series: [{ deviceId: elsewhere.deviceId }, { tagId: elsewhere.tagId }] },
      { title: 'Dial' },
    ]);
    expect(await titlesOf(dashboardId)).toContain('Switch');
  });

  test('on a phone, a dashboard is copied among the other actions', async () => {
    const { page } = stage;
    await page.setViewportSize({ width: 390, height: 844 });
    await stage.visit(`dashboards/${dashboardId}`);
    await page.getByRole('button', { name: 'More actions', exact: true }).click();
    await page.getByRole('button', { name: 'Copy to another workspace' }).click();
    const dialog = page.getByRole('dialog', { name: 'Copy House' });
    await dialog.getByLabel('Workspace', { exact: true }).selectOption('Berlin');
    await dialog.getByText('Device Cellar').waitFor();
    await stage.inspect('dashboard-phone-copy-whole');
    await expect.poll(() => pageWidth(page)).toBeLessThanOrEqual(390);
    await page.keyboard.press('Escape');
    await page.setViewportSize({ width: 1_440, height: 900 });
  });

  test('on a phone, menus have large rows inside of the screen', async () => {
    const { page } = stage;
    await page.setViewportSize({ width: 390, height: 844 });
    await stage.visit(`dashboards/${dashboardId}`);
    await page.getByRole('button', { name: 'More actions of Now' }).click();
    const item = page.getByRole('menuitem', { name: 'Copy to another dashboard' });
    await item.waitFor();
    const box = await item.boundingBox();
    expect(box?.height).toBeGreaterThanOrEqual(44);
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(390);
    await expect.poll(() => page.getByRole('menuitem', { name: 'Edit' }).count()).toBe(0);
    await stage.inspect('dashboard-phone-menu');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'More actions', exact: true }).click();
    await page.getByRole('button', { name: 'Versions' }).click();
    await page.getByRole('dialog', { name: 'Versions of House' }).waitFor();
    await stage.inspect('dashboard-phone-versions');
    await expect.poll(() => pageWidth(page)).toBeLessThanOrEqual(390);
    await page.setViewportSize({ width: 1_440, height: 900 });
  });
});

const place = { x: 0, y: 0, width: 6, height: 4 };

async function prepare(world: World): Promise<void> {
  const device = await world.device({ name: 'Room' });
  for (const hours of [6, 4, 2, 1])
    await world.capture(
      device,
      { temperature: 20 + hours },
      { timestamp: new Date(Date.now() - hours * 3_600_000).toISOString() },
    );
  const cellar = await world.device({ name: 'Cellar' });
  const tag = await world.must('POST', '/v3/tags', {
    workspaceId: world.workspaceId,
    name: 'Cold',
  });
  const berlin = await world.must('POST', '/v3/workspaces', {
    organizationId: world.organizationId,
    name: 'Berlin',
  });
  const twin = await world.device({ name: 'Twin', workspaceId: berlin.id });
  await world.must('PUT', `/v3/devices/${twin.id}`, { name: 'Room' });
  elsewhere.workspaceId = berlin.id;
  elsewhere.deviceId = twin.id;
  const tagThere = await world.must('POST', '/v3/tags', { workspaceId: berlin.id, name: 'Cold' });
  elsewhere.tagId = tagThere.id;
  const floor = await world.must('POST', '/v3/dashboards', {
    workspaceId: berlin.id,
    name: 'Floor',
    configuration: { schema: 'heliograph-dashboard', version: 2, tiles: [] },
  });
  elsewhere.dashboardId = floor.id;
  const value = { topic: 'default', dataKey: 'temperature', unit: '°C' };
  const both = [
    { ...value, deviceId: device.id },
    { ...value, deviceId: cellar.id },
    { ...value, tagId: tag.id },
  ];
  const downlink = { mqttDownlink: { payload: { on: true } } };
  const control = { label: 'Switch on', deviceId: cellar.id, downlink };
  const series = [{ variable: 'room', topic: 'default', dataKey: 'temperature', unit: '°C' }];
  const named = (name: string, more: object) =>
    world.must('POST', '/v3/dashboards', {
      workspaceId: world.workspaceId,
      name,
      configuration: { schema: 'heliograph-dashboard', version: 2, tiles: [], ...more },
    });
  const house = await named('House', {
    variables: [{ name: 'room', kind: 'DEVICE', default: device.id }],
    tiles: [
      { ...place, id: 'heat', kind: 'line', title: 'Heat', series },
      { ...place, x: 6, width: 3, height: 2, id: 'now', kind: 'value', title: 'Now', series },
      { ...place, x: 6, y: 4, id: 'both', kind: 'line', title: 'Both', series: both },
      { ...place, x: 9, width: 3, id: 'dial', kind: 'gauge', title: 'Dial', series },
      { ...place, y: 4, id: 'switch', kind: 'control', title: 'Switch', ...control },
    ],
  });
  dashboardId = house.id;
  otherId = (await named('Plant', {})).id;
}
