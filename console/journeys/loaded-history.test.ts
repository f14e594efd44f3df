// Loaded history: devices that never sent anything themselves show what was loaded for them, and say so.
import { expect, test } from 'vitest';
import { startWorld, type TestDevice, type World } from '../../tests/world/world.ts';
import { journey } from './journey.ts';

const timestamp = '2026-11-03T12:00:00.000Z';
let van: TestDevice;

const prepare = async (world: World) => {
  van = await world.device({ name: 'Van 7' });
  const data = { batteryLevel: 64, latitude: 47.5596, longitude: 7.5886, temperature: 4.5 };
  const sample = { deviceId: van.id, topic: 'default', timestamp, data };
  await world.must('POST', '/v3/samples/bulk', [sample]);
};

journey('loaded history', { start: startWorld, prepare }, (stage) => {
  test('review console M3: the list has the last data and the battery of history', async () => {
    await stage.visit('devices');
    const row = stage.page.getByRole('row', { name: /Van 7/ });
    await row.getByText('Last data 3 Nov 2026').waitFor();
    await row.getByText('64\u202f%').waitFor();
    await row.getByText('no uplinks yet').waitFor({ state: 'attached' });
  });

  test('review console M3: the page says that history is no uplink, and until when it is', async () => {
    await stage.visit(`devices/${van.id}/overview`);
    await stage.page.getByText('no uplinks yet, history up to 3 Nov 2026').waitFor();
    await stage.page.getByText('47.5596° N 7.5886° E').waitFor();
    await stage.page.getByText('64\u202f%').waitFor();
  });

  test('review console M3: the map places the device', async () => {
    const { page } = stage;
    await stage.visit('map');
    await page.getByText('1 of 1 device').first().waitFor();
    await page.getByRole('button', { name: /Van 7/ }).click();
    const card = page.getByRole('region', { name: 'Van 7' });
    await card.getByText('47.5596° N 7.5886° E').waitFor();
    await expect.poll(() => card.getByText('Never', { exact: true }).count()).toBe(1);
  });
});
