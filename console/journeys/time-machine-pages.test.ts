// Time machine of pages in a real browser: every page that has it as of an earlier moment, by mouse, keyboard and phone.
import { expect, test } from 'vitest';
import { alarmRules } from '../../tests/world/alarm-rules.ts';
import { startWorld, type TestDevice, type World } from '../../tests/world/world.ts';
import { journey } from './journey.ts';

const minuteMs = 60_000;
const thenMs = Date.now() - 300 * minuteMs;
/** Minutes after the moment that most pages show. */
const timeOf = (minutes: number) => new Date(thenMs + minutes * minuteMs).toISOString();
const then = timeOf(0);

/** While the alarm was open, which is cleared since. */
let whileOpen = '';
let cellarId = '';

async function prepare(world: World): Promise<void> {
  const room = await world.device({ name: 'Cold room' });
  const attic = await world.device({ name: 'Attic' });
  await world.device({ name: 'Spare' });
  for (const { id } of [room, attic]) {
    const { version } = await world.must('GET', `/v3/devices/${id}`);
    await world.must('PUT', `/v3/devices/${id}`, { version, onlineTimeout: 3_600 });
  }
  await world.must('POST', '/v3/samples/bulk', [
    {
      deviceId: room.id,
      timestamp: timeOf(-1),
      data: { temperature: 11, latitude: 47, longitude: 8 },
    },
    { deviceId: attic.id, timestamp: timeOf(-301), data: { temperature: 4, batteryLevel: 12 } },
  ]);
  await world.capture(attic, { temperature: 23, batteryLevel: 90, latitude: 46, longitude: 7 });
  await world.capture(room, { latitude: 45, longitude: 9 });
  const { workspaceId } = world;
  const { id } = await world.must('POST', '/v3/places', { workspaceId, name: 'Cellar' });
  await world.must('POST', `/v3/places/${id}/devices`, { add: [room.id, attic.id] });
  cellarId = id;
  await openAndClear(world, room);
}

async function openAndClear(world: World, room: TestDevice): Promise<void> {
  const alarms = alarmRules(world);
  await alarms.hotRule(room, [[30, await alarms.output()]]);
  await alarms.send(room, 61);
  const { id, lastTriggered } = await alarms.newest(room);
  await world.must('POST', `/v3/alarms/${id}/clear`, {});
  whileOpen = lastTriggered;
}

journey('time machine of pages', { start: startWorld, prepare }, (stage) => {
  const bar = () => stage.page.getByRole('region', { name: /^As of / });
  const row = (name: string) => stage.page.getByRole('row').filter({ hasText: name });
  const button = (name: string) => stage.page.getByRole('button', { name });
  const moment = () => new URL(stage.page.url()).searchParams.get('at');
  const goBack = async () => {
    await bar().getByRole('button', { name: 'Back to now' }).click();
    await bar().waitFor({ state: 'detached' });
    expect(moment()).toBeNull();
  };
  /** A device of 390 pixels shows all of it without scrolling sideways. */
  const onPhone = async (look: () => Promise<unknown>) => {
    await stage.page.setViewportSize({ width: 390, height: 844 });
    await look();
    const width = await stage.page.evaluate(() => document.documentElement.scrollWidth);
    expect(width).toBeLessThanOrEqual(390);
    await stage.page.setViewportSize({ width: 1_440, height: 900 });
  };

  test('contract 39.5: a link shows the alarms that were open then, which nobody can change', async () => {
    const { page } = stage;
    await stage.visit(`alarms?at=${whileOpen}`);
    const alarm = row('Cold room is hot');
    await alarm.getByText('Open', { exact: true }).waitFor();
    await alarm.getByText('Cleared').waitFor();
    await page.getByText('1 open alarm').waitFor();
    for (const name of ['Acknowledge Cold room is hot', 'Clear Cold room is hot'])
      expect(await button(name).count()).toBe(0);
    expect(await page.getByRole('checkbox').count()).toBe(0);
    await page.getByRole('grid', { name: 'Alarms' }).focus();
    for (const key of ['ArrowDown', 'x', 'e', 'y']) await page.keyboard.press(key);
    expect(await page.getByRole('toolbar').count()).toBe(0);
    expect(await page.getByRole('dialog').count()).toBe(0);
    await stage.inspect('alarms-then');
    await onPhone(() => alarm.getByText('Open', { exact: true }).waitFor());
  });

  test('the slider leads to a time before the alarm, and one button back to now', async () => {
    const { page } = stage;
    await bar().getByRole('slider', { name: 'Move through the range' }).focus();
    await page.keyboard.press('PageDown');
    await page.getByText('No open alarms at that time').waitFor();
    expect(Date.parse(moment() ?? '')).toBeLessThan(Date.now() - 30 * minuteMs);
    await page.reload();
    await page.getByText('No open alarms at that time').waitFor();
    await goBack();
    await page.getByText('Nothing needs attention').waitFor();
    await button('Time machine').click();
    await page.getByText('No open alarms at that time').waitFor();
  });

  test('the device list has values, states and battery of then, without what changes devices', async () => {
    const { page } = stage;
    await stage.visit(`devices?state=online&sort=seen&at=${then}`);
    await row('Cold room').getByText('Online', { exact: true }).waitFor();
    await row('Cold room').getByText('11', { exact: true }).waitFor();
    await row('Attic').getByText('no uplink within 1 h').waitFor();
    await row('Attic').getByText('5 hours ago').waitFor();
    await row('Attic').getByText('12').waitFor();
    await row('Spare').getByText('no data in the 7 days before').waitFor();
    await page.getByText('so devices cannot be filtered by the status of that time').waitFor();
    for (const name of ['Online', 'Save view', 'Export CSV', 'Last seen'])
      expect(await button(name).count()).toBe(0);
    for (const name of ['Add device', 'Import'])
      expect(await page.getByRole('link', { name }).count()).toBe(0);
    expect(await page.getByRole('checkbox').count()).toBe(0);
    await page.getByRole('grid', { name: 'Devices' }).focus();
    for (const key of ['ArrowDown', 'x', 'e']) await page.keyboard.press(key);
    expect(await page.getByRole('toolbar').count()).toBe(0);
    expect(await page.getByRole('dialog').count()).toBe(0);
    await page.getByRole('searchbox', { name: 'Search' }).fill('att');
    await row('Cold room').waitFor({ state: 'detached' });
    await row('Attic').getByText('5 hours ago').waitFor();
    await stage.inspect('devices-then');
    await onPhone(() => row('Attic').getByText('5 hours ago').waitFor());
  });

  test('back to now, the list is live and can be changed again', async () => {
    await goBack();
    await row('Attic').getByText('90').waitFor();
    await stage.page.getByRole('link', { name: 'Add device' }).waitFor();
    await button('Time machine').click();
    await bar().waitFor();
  });

  test('the map has positions and states of then; its own place stays in the address', async () => {
    const { page } = stage;
    await stage.visit(`map?at=${then}`);
    await page.getByText('1 of 3 devices on the map').waitFor();
    await page.getByRole('grid', { name: 'Devices in view' }).focus();
    for (const key of ['ArrowDown', 'Enter']) await page.keyboard.press(key);
    const card = page.getByRole('region', { name: 'Cold room' });
    await card.getByText('47° N 8° E').waitFor();
    await card.getByText('Online').waitFor();
    await card.getByText('1 minute ago').first().waitFor();
    await page.waitForURL(/view=/);
    expect(moment()).toBe(then);
    await stage.inspect('map-then');
    await onPhone(() => card.getByText('47° N 8° E').waitFor());
    await button('Offline').click();
    await page.getByText('No matching devices').waitFor();
    await button('All').click();
    await page.getByText('1 of 3 devices on the map').waitFor();
    await goBack();
    await page.getByText('2 of 3 devices on the map').waitFor();
    await page.getByRole('region', { name: 'Cold room' }).getByText('45° N 9° E').waitFor();
  });

  test('an older address of the map, which has its place as `at`, shows the same place', async () => {
    const { page } = stage;
    await stage.visit('map?at=46,7,10');
    await page.getByText('2 of 3 devices on the map').waitFor();
    await page.getByText('1 in view').waitFor();
    expect(await bar().count()).toBe(0);
  });

  test('an address with no moment in `at` shows the page as it is now', async () => {
    const { page } = stage;
    await stage.visit('alarms?at=yesterday&state=gone');
    await page.getByText('Nothing needs attention').waitFor();
    await stage.visit('devices?at=2026-13-01');
    await page.getByRole('link', { name: 'Add device' }).waitFor();
    expect(await bar().count()).toBe(0);
  });

  test('devices and alarms of a place are those of then, from tab to tab and in the tree', async () => {
    const { page } = stage;
    await stage.visit(`places/${cellarId}/devices?at=${then}`);
    await row('Cold room').getByText('online').waitFor();
    await row('Attic').getByText('offline').waitFor();
    await row('Attic').getByText('5 hours ago').waitFor();
    await page.getByText('2 devices, no open alarms').waitFor();
    for (const name of ['Add device', 'Add place here', 'Remove Attic from this place'])
      expect(await button(name).count()).toBe(0);
    await stage.inspect('place-devices-then');
    await onPhone(() => row('Attic').getByText('5 hours ago').waitFor());
    await page.getByRole('link', { name: 'Alarms' }).last().click();
    await page.getByText('Open alarms of devices at this place').waitFor();
    await bar().waitFor();
    await stage.visit(`places/${cellarId}/alarms?at=${whileOpen}`);
    await row('Cold room is hot').getByText('Open', { exact: true }).waitFor();
    await page.getByText('2 devices, 1 open alarm').waitFor();
    await stage.inspect('place-alarms-then');
    await page.getByRole('treeitem', { name: 'Cellar' }).click();
    await page.getByText('No plan yet').waitFor();
    expect(moment()).toBe(whileOpen);
    await page.getByRole('link', { name: 'Settings' }).last().click();
    await button('Edit').waitFor();
    expect(moment()).toBeNull();
    await page.getByRole('link', { name: 'Devices' }).last().click();
    await button('Remove Attic from this place').waitFor();
    await button('Time machine').click();
    await bar().waitFor();
    await goBack();
    await button('Add device').waitFor();
  });

  test('the home page sums up then, and leads to the alarms and devices of then', async () => {
    const { page } = stage;
    const heading = (name: string) => page.getByRole('heading', { level: 1, name });
    await stage.visit(`?at=${then}`);
    await heading('1 device is offline').waitFor();
    await page.getByText('1 of 3 devices online').waitFor();
    await page.getByText('Offline: Attic').waitFor();
    const sample = page.getByRole('listitem').filter({ hasText: 'temperature 11' });
    await sample.getByRole('link', { name: 'Cold room' }).waitFor();
    await sample.getByText('1 minute ago').waitFor();
    expect(await page.getByRole('link', { name: 'Add device' }).count()).toBe(0);
    await stage.inspect('home-then');
    await onPhone(() => page.getByText('Offline: Attic').waitFor());
    await stage.visit(`?at=${whileOpen}`);
    await heading('1 open alarm').waitFor();
    await page.getByRole('link', { name: 'View alarms at that time' }).click();
    await row('Cold room is hot').getByText('Open', { exact: true }).waitFor();
    expect(moment()).toBe(whileOpen);
  });

  test('from the home page of now one key leads to then, and another back', async () => {
    const { page } = stage;
    await stage.visit('');
    await button('Time machine').focus();
    await page.keyboard.press('Enter');
    await bar().waitFor();
    await page.getByText('Newest samples').waitFor();
    await bar().getByRole('button', { name: 'Back to now' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('Live samples').waitFor();
    expect(moment()).toBeNull();
  });

  test('in German too', async () => {
    const { page } = stage;
    await stage.visit(`?at=${then}`);
    await page.evaluate(() => localStorage.setItem('language', 'de'));
    await page.reload();
    await page.getByRole('region', { name: /^Stand von / }).waitFor();
    await page.getByRole('heading', { level: 1, name: '1 Gerät ist offline' }).waitFor();
    await page.getByText('vor 1 Minute').first().waitFor();
    await stage.inspect('home-then-german');
    await onPhone(() => page.getByText('Offline: Attic').waitFor());
  });
});
