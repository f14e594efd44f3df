// Places screen in a real browser: an import, the tree by mouse and keyboard, one place with its tabs, and a phone.
import { expect, test } from 'vitest';
import { alarmRules } from '../../tests/world/alarm-rules.ts';
import { startWorld, type TestDevice, type World } from '../../tests/world/world.ts';
import { pageWidth } from './chromium.ts';
import { journey } from './journey.ts';

let world: World;
let device: TestDevice;

async function prepare(started: World): Promise<void> {
  world = started;
  device = await world.device({ name: 'Probe <i>7</i>' });
  await alarmRules(world).hotRule(device, [[30, await alarmRules(world).output()]]);
}

const csv = (lines: readonly string[]) => ({
  name: 'places.csv',
  mimeType: 'text/csv',
  buffer: Buffer.from(lines.join('\n')),
});

interface Place {
  readonly id: string;
  readonly name: string;
  readonly parentId: string | null;
  readonly devices: number;
}

async function place(name: string): Promise<Place | undefined> {
  const query = `workspaceId=${world.workspaceId}&search=${encodeURIComponent(name)}`;
  const { content } = await world.must('GET', `/v3/places?${query}`);
  return content.find((one: Place) => one.name === name);
}
const parentOf = async (name: string) => (await place(name))?.parentId;

journey('the places screen', { start: startWorld, prepare }, (stage) => {
  test('contract 39.2: a CSV with a problem stores nothing, the mended one makes the tree', async () => {
    const { page } = stage;
    await stage.visit('places');
    await page.getByText('No places yet').waitFor();
    await stage.inspect('places-empty');
    await page.getByRole('button', { name: 'Import' }).last().click();
    const dialog = page.getByRole('dialog', { name: 'Import places' });
    const choose = dialog.locator('input[type="file"]');
    await choose.setInputFiles(csv(['path,latitude,longitude', 'Site,north,8']));
    const row = dialog.getByRole('row').nth(1);
    await expect.poll(() => row.getByRole('cell').first().textContent()).toBe('2');
    await expect.poll(() => row.getByRole('cell').nth(1).textContent()).toBe('latitude');
    expect(await dialog.getByRole('button', { name: 'Import' }).isDisabled()).toBe(true);
    await stage.inspect('places-import');
    await dialog.getByRole('button', { name: 'Choose another file' }).click();
    const lines = [
      'path,kind,devices',
      'Site,SITE,',
      'Site/Floor 1,FLOOR,',
      `Site/Floor 2,FLOOR,`,
      `Site/Floor 2/Room,ROOM,${device.deviceId}`,
    ];
    await choose.setInputFiles(csv(lines));
    await dialog.getByText('4 new, 0 changed, 0 unchanged').waitFor();
    await dialog.getByRole('button', { name: 'Import' }).click();
    await page.getByRole('treeitem', { name: /Site/ }).waitFor();
    expect((await place('Room'))?.devices).toBe(1);
  });

  test('the tree opens by keyboard, and shows devices and the worst open alarm', async () => {
    const { page } = stage;
    await world.capture(device, { temperature: 50 });
    await expect
      .poll(async () => {
        const query = `workspaceId=${world.workspaceId}&details=health&parentId=null`;
        return (await world.must('GET', `/v3/places?${query}`)).content[0].health;
      })
      .toEqual({ places: 2, openAlarms: 1, worstSeverity: 'MAJOR' });
    await stage.visit('places');
    const tree = page.getByRole('tree', { name: 'Tree of places' });
    const site = tree.getByRole('treeitem', { name: /Site/ });
    await tree.getByTitle('1 open alarm: Major').waitFor();
    await site.focus();
    await page.keyboard.press('ArrowRight');
    await tree.getByRole('treeitem', { name: /Floor 2/ }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Floor 2', level: 1 }).waitFor();
    await page.getByText('1 device, 1 open alarm').waitFor();
    await page
      .getByRole('navigation', { name: 'Pages of the place' })
      .getByRole('link', { name: 'Devices' })
      .click();
    await page.getByRole('link', { name: 'Probe <i>7</i>' }).waitFor();
    await stage.inspect('places-devices');
    await page
      .getByRole('navigation', { name: 'Pages of the place' })
      .getByRole('link', { name: 'Alarms' })
      .click();
    await page.getByRole('cell', { name: 'Major' }).waitFor();
    await stage.inspect('places-alarms');
  });

  test('a place is added, renamed, moved by dragging and by a dialog, and deleted by force', async () => {
    const { page } = stage;
    await stage.visit(`places/${(await place('Floor 1'))?.id}`);
    await page.getByRole('button', { name: 'Add place here' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name', { exact: true }).fill('Kitchen');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Kitchen', level: 1 }).waitFor();
    expect(await parentOf('Kitchen')).toBe((await place('Floor 1'))?.id);

    const item = (name: RegExp) => page.getByRole('treeitem', { name });
    await item(/Kitchen/).dragTo(item(/Floor 2/));
    await expect.poll(() => parentOf('Kitchen')).toBe((await place('Floor 2'))?.id);

    await page
      .getByRole('navigation', { name: 'Pages of the place' })
      .getByRole('link', { name: 'Settings' })
      .click();
    await page.getByRole('button', { name: 'Edit' }).click();
    await dialog.getByLabel('Name', { exact: true }).fill('Canteen');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Canteen', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Move' }).click();
    await dialog.getByLabel('New parent').selectOption({ label: 'Top level' });
    await dialog.getByRole('button', { name: 'Move' }).click();
    await expect.poll(() => parentOf('Canteen')).toBeNull();
    await stage.inspect('places-settings');

    await stage.visit(`places/${(await place('Floor 2'))?.id}/settings`);
    await page.getByRole('button', { name: 'Delete' }).click();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await dialog.getByText(/1 place below it/).waitFor();
    expect(stage.takeComplaints()).toHaveLength(1);
    await dialog.getByRole('button', { name: 'Delete everything' }).click();
    await expect.poll(() => place('Floor 2')).toBeUndefined();
    await page.getByRole('heading', { name: 'Site', level: 1 }).waitFor();
    expect((await world.must('GET', `/v3/devices/${device.id}`)).place).toBeNull();
  });

  test('a device is added and removed', async () => {
    const { page } = stage;
    await page
      .getByRole('navigation', { name: 'Pages of the place' })
      .getByRole('link', { name: 'Devices' })
      .click();
    await page.getByRole('button', { name: 'Add device' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add device' });
    await dialog.getByRole('combobox').fill('Probe');
    await dialog.getByRole('option', { name: /Probe/ }).click();
    await expect.poll(async () => (await place('Site'))?.devices).toBe(1);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: /Remove Probe/ }).click();
    await expect.poll(async () => (await place('Site'))?.devices).toBe(0);
  });

  test('places are searched, from the palette too, and a phone shows the tree, then the place', async () => {
    const { page } = stage;
    await stage.visit('places');
    await page.getByRole('searchbox', { name: 'Search places' }).fill('floor 1');
    await page.getByRole('button', { name: /Floor 1/ }).click();
    await page.getByRole('heading', { name: 'Floor 1', level: 1 }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search or jump to' }).fill('canteen');
    await page.getByRole('option', { name: /Canteen/ }).click();
    await page.getByRole('heading', { name: 'Canteen', level: 1 }).waitFor();
    await page.setViewportSize({ width: 390, height: 844 });
    await expect.poll(() => page.getByRole('tree').isVisible()).toBe(false);
    await stage.inspect('places-phone');
    await page.getByRole('link', { name: '← Places' }).click();
    await page.getByRole('tree').waitFor();
    await stage.inspect('places-phone-tree');
    await expect.poll(() => pageWidth(page)).toBeLessThanOrEqual(390);
  });
});
