// Dashboards of device types and variables in a real browser: from a device's tab to a dashboard for all devices of its type.
import { expect, test } from 'vitest';
import { startWorld, type TestDevice, type World } from '../../tests/world/world.ts';
import { axeFindings, pageWidth } from './chromium.ts';
import { journey } from './journey.ts';

const minuteMs = 60_000;
const devices: TestDevice[] = [];
const names = ['Attic', 'Basement'];

journey('dashboards of device types', { start: startWorld, prepare }, (stage) => {
  test('contract 39: a device of a new type has a dashboard without a click', async () => {
    const { page } = stage;
    await stage.visit(`devices/${idOf(0)}/dashboard`);
    await page.getByText('Generated from the schema of').waitFor();
    const value = page.getByRole('group', { name: 'CO2', exact: true }).first();
    await value.getByText('600').waitFor();
    await page.getByRole('img', { name: /^CO2/ }).first().waitFor();
    await page.getByRole('img', { name: 'Door: True, 1 change in this time range' }).waitFor();
    await page.getByText('No alarms').waitFor();
    await stage.inspect('device-dashboard');
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByText('Generated from the schema of').waitFor();
    await expect.poll(() => pageWidth(page)).toBeLessThanOrEqual(390);
    await page.setViewportSize({ width: 1_440, height: 900 });
  });

  test('contract 39: it is customized once for all devices of the type', async () => {
    const { page } = stage;
    await page.getByRole('button', { name: 'Customize' }).click();
    await page.getByRole('button', { name: 'Done' }).waitFor();
    const picker = page.getByRole('combobox', { name: 'device' });
    await expect.poll(() => picker.inputValue()).toBe('Attic');
    await page.getByRole('button', { name: 'Edit CO2' }).first().click();
    await page.getByLabel('Title').fill('CO2 in {{device}}');
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.getByRole('region', { name: 'CO2 in Attic' }).waitFor();
    const saved = page.waitForResponse((answer) => answer.request().method() === 'PUT');
    await page.keyboard.press('Control+s');
    expect((await saved).status()).toBe(200);
    await page.getByRole('button', { name: 'Done' }).click();
    await stage.inspect('dashboard-variables');
    await stage.visit(`devices/${idOf(1)}/dashboard`);
    await page.getByText('Dashboard of all devices of type').waitFor();
    await page.getByRole('region', { name: 'CO2 in Basement' }).getByText('900').waitFor();
  });

  test('contract 39: another device is chosen by key, stands in the address, and is remembered', async () => {
    const { page } = stage;
    await page.getByRole('link', { name: 'Edit dashboard' }).click();
    await page.getByRole('button', { name: 'Done' }).click();
    const picker = page.getByRole('combobox', { name: 'device' });
    await expect.poll(() => picker.inputValue()).toBe('Basement');
    await picker.focus();
    const kept = page.waitForResponse(
      (answer) =>
        answer.url().endsWith('/v3/auth/me/preferences') && answer.request().method() === 'PUT',
    );
    await page.keyboard.type('Att');
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'CO2 in Attic' }).waitFor();
    await expect.poll(() => new URL(page.url()).searchParams.get('var.device')).toBe(idOf(0));
    expect((await kept).status()).toBe(200);
    await page.goBack();
    await page.getByRole('region', { name: 'CO2 in Basement' }).waitFor();
    const { origin, pathname } = new URL(page.url());
    await page.goto(`${origin}${pathname}`);
    await page.getByRole('region', { name: 'CO2 in Attic' }).waitFor();
  });

  test('contract 39: a link fixes the values that are chosen, and the list of links says them', async () => {
    const { page } = stage;
    await page.getByRole('button', { name: 'Share' }).click();
    const dialog = page.getByRole('dialog', { name: /^Share / });
    await dialog.getByText('device: Attic').waitFor();
    await dialog.getByRole('button', { name: 'Create link' }).click();
    const link = await dialog.getByLabel('Link', { exact: true }).inputValue();
    const links = dialog.getByRole('region', { name: 'Active links' });
    await links.getByText('device: Attic').waitFor();
    await links.getByText('never used').waitFor();
    await stage.inspect('share-variables');
    const guest = await page.context().newPage();
    try {
      await guest.goto(link);
      const tile = guest.getByRole('region', { name: /^CO2 in / }).first();
      await tile.getByText('600').waitFor();
    } finally {
      await guest.close();
    }
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  });

  test('contract 39: a variable of several values is added, and a tile repeats for each', async () => {
    const { page } = stage;
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await page.getByRole('button', { name: 'Dashboard settings' }).click();
    await page.getByRole('button', { name: 'Add variable' }).click();
    const added = page.getByRole('group', { name: 'Variable 2' });
    await added.getByLabel('Name').fill('rooms');
    await added.getByLabel('Label').fill('Rooms');
    await added.getByLabel('Several values').check();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.getByRole('button', { name: 'Edit CO2 in Attic' }).click();
    await page.getByLabel('Source').selectOption('Variable: Rooms');
    await page.getByLabel('Data key').selectOption('CO2 (ppm)');
    await page.getByLabel('Title').fill('{{rooms}} air');
    await page.getByLabel('Repeat').selectOption('For each value of Rooms');
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('region', { name: 'Attic air' }).waitFor();
    const rooms = page.getByRole('combobox', { name: 'Rooms' });
    await rooms.focus();
    await page.keyboard.type('Base');
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'Basement air' }).getByText('900').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Remove Attic' }).click();
    await page.getByRole('region', { name: 'Attic air' }).waitFor({ state: 'detached' });
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByRole('region', { name: 'Basement air' }).waitFor();
    await expect.poll(() => pageWidth(page)).toBeLessThanOrEqual(390);
    await page.setViewportSize({ width: 1_440, height: 900 });
    await page.getByRole('button', { name: 'Discard' }).click();
  });
});

function idOf(place: number): string {
  return devices[place]?.id ?? '';
}

/** Two devices of one type, which declares a number with a unit and a boolean. */
async function prepare(world: World): Promise<void> {
  const { workspaceId } = world;
  const first = await world.device({
    name: names[0] ?? '',
    schemas: {
      default: {
        type: 'object',
        properties: {
          co2: { type: 'number', title: 'CO2', unit: 'ppm' },
          door: { type: 'boolean', title: 'Door' },
        },
      },
    },
  });
  const second = await world.must('POST', '/v3/devices', {
    name: names[1],
    deviceId: 'basement-1',
    workspaceId,
    dataFlowId: first.dataFlowId,
    connectivity: 'HTTP',
  });
  devices.push(first, { ...first, id: second.id, deviceId: 'basement-1' });
  const now = Date.now();
  const samples = devices.flatMap(({ id: deviceId }, place) =>
    [4, 3, 2, 1, 0].map((at) => ({
      deviceId,
      timestamp: new Date(now - at * 10 * minuteMs).toISOString(),
      data: { co2: (place === 0 ? 400 : 700) + (4 - at) * 50, door: at < 2 },
    })),
  );
  await world.must('POST', '/v3/samples/bulk', samples);
}
