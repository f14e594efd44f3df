// Places in a real browser: the place of a device, the filter of the list, the search, and a place as the input of a rule.
import { expect, test } from 'vitest';
import { startWorld, type TestDevice, type World } from '../../tests/world/world.ts';
import { axeFindings } from './chromium.ts';
import { journey } from './journey.ts';

let device: TestDevice;
let world: World;
let floor: { id: string };

async function prepare(started: World): Promise<void> {
  world = started;
  device = await world.device({ name: 'Probe' });
  await world.device({ name: 'Elsewhere' });
  const { workspaceId } = world;
  const site = await world.must('POST', '/v3/places', { workspaceId, name: '<b>Site</b>' });
  floor = await world.must('POST', '/v3/places', {
    workspaceId,
    name: 'Floor 2',
    parentId: site.id,
  });
}

journey('places', { start: startWorld, prepare }, (stage) => {
  test('contract 39.2: a device gets its place, and the list is filtered by it', async () => {
    const { page } = stage;
    await stage.visit(`devices/${device.id}/settings`);
    await page
      .getByLabel('Place', { exact: true })
      .selectOption({ label: '<b>Site</b> / Floor 2' });
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Save' }).click();
    await expect
      .poll(async () => (await world.must('GET', `/v3/devices/${device.id}`)).place?.id)
      .toBe(floor.id);
    await expect.poll(() => page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    await stage.visit('devices');
    await page.getByRole('link', { name: 'Elsewhere' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search or jump to' }).fill('floor 2');
    await page.getByRole('option', { name: /Floor 2/ }).click();
    await page.getByRole('heading', { name: 'Floor 2', level: 1 }).waitFor();
    await page.getByRole('navigation').getByRole('link', { name: 'Devices' }).last().click();
    await page.getByRole('link', { name: 'Probe' }).waitFor();
  });

  test('contract 39.2: a rule takes a place as an input', async () => {
    const { page } = stage;
    await stage.visit('rules/new');
    await page.getByRole('button', { name: 'Add device, tag, or place' }).click();
    await page
      .getByLabel('or any device at the place')
      .selectOption({ label: '<b>Site</b> / Floor 2' });
    await page.getByText('any device at this place or below it').waitFor();
    expect(await axeFindings(page)).toEqual([]);
  });
});
