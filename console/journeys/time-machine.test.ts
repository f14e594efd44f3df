// Time machine in a real browser: a dashboard as of an earlier moment, by slider, field, address, and back to now.
import { expect, test } from 'vitest';
import { alarmRules } from '../../tests/world/alarm-rules.ts';
import { startWorld, type World } from '../../tests/world/world.ts';
import { pageWidth } from './chromium.ts';
import { journey } from './journey.ts';

const minuteMs = 60_000;
let dashboardId = '';

async function prepare(world: World): Promise<void> {
  const device = await world.device({ name: 'Cold room' });
  const alarms = alarmRules(world);
  await alarms.hotRule(device, [[30, await alarms.output()]]);
  const earlier = new Date(Date.now() - 300 * minuteMs).toISOString();
  await world.must('POST', '/v3/samples/bulk', [
    { deviceId: device.id, timestamp: earlier, data: { temperature: 11 } },
  ]);
  await alarms.send(device, 61);
  await alarms.newest(device);
  const series = [{ deviceId: device.id, topic: 'default', dataKey: 'temperature' }];
  const place = { x: 0, width: 4, height: 4 };
  const tiles = [
    { id: 'v', kind: 'value', title: 'Now or then', y: 0, ...place, series },
    { id: 'a', kind: 'alarms', title: 'Alarms of then', y: 4, ...place, series: [] },
  ];
  const { workspaceId } = world;
  const configuration = { schema: 'heliograph-dashboard', version: 2, tiles };
  const body = { workspaceId, name: 'Cooling', configuration };
  ({ id: dashboardId } = await world.must('POST', '/v3/dashboards', body));
}

journey('time machine', { start: startWorld, prepare }, (stage) => {
  const bar = () => stage.page.getByRole('region', { name: /^As of / });
  const tile = (name: string) => stage.page.getByRole('region', { name });
  const moment = () => new URL(stage.page.url()).searchParams.get('at');
  const isNow = async () => {
    await tile('Now or then').getByText('61').waitFor();
    await tile('Alarms of then').getByText('Cold room is hot').waitFor();
  };
  const isThen = async () => {
    await tile('Now or then').getByText('11').waitFor();
    await tile('Alarms of then').getByText('No alarms').waitFor();
  };

  test('contract 39.5: the slider shows values and open alarms of then, and the address keeps it', async () => {
    const { page } = stage;
    await stage.visit(`dashboards/${dashboardId}`);
    await isNow();
    await page.getByRole('button', { name: 'Time machine' }).click();
    const slider = bar().getByRole('slider', { name: 'Move through the range' });
    await slider.focus();
    await page.keyboard.press('PageDown');
    await isThen();
    await page.getByText(/ – .* · Europe\/Zurich$/).waitFor();
    await stage.inspect('time-machine');
    expect(Date.parse(moment() ?? '')).toBeLessThan(Date.now() - 30 * minuteMs);
    const address = page.url();
    await page.reload();
    await isThen();
    expect(page.url()).toBe(address);
  });

  test('a moment is typed; before the first value there is none', async () => {
    const { page } = stage;
    await bar().getByLabel('Date and time').fill('2026-01-02T03:04');
    await expect.poll(moment).toMatch(/^2026-01-0[12]T/);
    await tile('Now or then').getByText('11').waitFor({ state: 'detached' });
    await page.goBack();
    await isThen();
  });

  test('on a phone too, and one button leads back to now', async () => {
    const { page } = stage;
    await page.setViewportSize({ width: 390, height: 844 });
    await isThen();
    await bar().waitFor();
    await expect.poll(() => pageWidth(page)).toBeLessThanOrEqual(390);
    await bar().getByRole('button', { name: 'Back to now' }).click();
    await isNow();
    expect(moment()).toBeNull();
    await page.setViewportSize({ width: 1_440, height: 900 });
  });
});
