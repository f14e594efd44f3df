// Zones: all times of a workspace are in its zone, which is named where the browser has another.
import { expect, test } from 'vitest';
import { startWorld, type TestDevice, type World } from '../../tests/world/world.ts';
import { journey } from './journey.ts';

const zone = 'Asia/Tokyo';
let device: TestDevice;

const prepare = async (world: World) => {
  await world.must('PUT', `/v3/workspaces/${world.workspaceId}`, { settings: { timezone: zone } });
  device = await world.device();
  await world.capture(device, { temperature: 21.5 });
};

journey('zones', { start: startWorld, prepare }, (stage) => {
  test.each(['', 'alarms', 'devices/ID/overview', 'devices/ID/uplinks', 'settings/general'])(
    'review console M5: /%s names the zone of its times',
    async (path) => {
      await stage.visit(path.replace('ID', device.id));
      await stage.page.getByText(`Times in ${zone}`).waitFor();
    },
  );

  test('review console M5: the list and the page of a device show the same clock', async () => {
    const { page } = stage;
    await stage.visit('devices');
    const seen = page.getByRole('row').locator('time').first();
    const inList = await seen.getAttribute('title');
    await stage.visit(`devices/${device.id}/overview`);
    const onPage = page.locator('time').first();
    await expect.poll(() => onPage.getAttribute('title')).toBe(inList);
    const at = Date.parse((await onPage.getAttribute('datetime')) ?? '');
    const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium', timeZone: zone });
    expect(inList).toContain(clock.format(at));
  });
});
