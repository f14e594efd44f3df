// Streets in a real browser: nothing is loaded from elsewhere until somebody chooses it, then only that; and the map file.
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { pmtilesOf } from '../../src/storage/maps/testing-pmtiles.ts';
import { startWorld, type World } from '../../tests/world/world.ts';
import { axeFindings, pageWidth } from './chromium.ts';
import { journey, type Stage } from './journey.ts';
import { colorAt, magenta, magentaPixel } from './map-colors.ts';

const osm = 'https://tile.openstreetmap.org/';
const soon = { timeout: 60_000, interval: 200 };
const asked: { readonly url: string; readonly referer: string | undefined }[] = [];
let isDown = false;

/** In place of the host, which tests do not ask. A page whose policy refuses it never gets here. */
async function answerTiles(page: Page): Promise<void> {
  await page.route(`${osm}**`, async (route) => {
    const referer = (await route.request().allHeaders())['referer'];
    asked.push({ url: route.request().url(), referer });
    if (isDown) await route.fulfill({ status: 503 });
    else await route.fulfill({ contentType: 'image/png', body: magentaPixel });
  });
}

async function openClose(stage: Stage): Promise<void> {
  const { page } = stage;
  await stage.visit('map');
  await page.getByText('1 in view').waitFor();
  await page.getByRole('application').focus();
  for (let step = 0; step < 5; step++) await page.keyboard.press('+');
}

async function prepare(world: World): Promise<void> {
  const device = await world.device({ name: 'Basel' });
  await world.capture(device, { latitude: 47.5596, longitude: 7.5886 });
}

/** Requests to the host that was chosen; every other request elsewhere stays a complaint. */
function beyondStreets(stage: Stage): readonly string[] {
  const others = stage
    .takeComplaints()
    .filter((one) => !one.startsWith(`request to another host: ${osm}`));
  return others.filter((one) => !(isDown && one.includes('status of 503')));
}

journey('streets', { start: startWorld, prepare }, (stage) => {
  const card = () => stage.page.getByRole('region', { name: 'Show streets' });

  test('close up, the map asks before it loads anything from elsewhere; "Not now" is remembered', async () => {
    const { page } = stage;
    await answerTiles(page);
    await openClose(stage);
    await card()
      .getByText(/openstreetmap\.org, which sees the addresses/)
      .waitFor();
    await stage.inspect('map-show-streets');
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await axeFindings(page)).toEqual([]);
    await expect.poll(() => pageWidth(page)).toBeLessThanOrEqual(390);
    await page.setViewportSize({ width: 1_440, height: 900 });
    await card().getByRole('button', { name: 'Not now' }).click();
    await expect.poll(() => card().count(), soon).toBe(0);
    await openClose(stage);
    await page.getByText(/No street map/).waitFor();
    await expect.poll(() => card().count()).toBe(0);
    expect(asked).toEqual([]);
    await page.evaluate(() => {
      for (const key of Object.keys(localStorage).filter((one) => one.startsWith('no streets')))
        localStorage.removeItem(key);
    });
  });

  test('one click by key shows streets to the whole workspace, and loads tiles from that host alone', async () => {
    const { page, world } = stage;
    await openClose(stage);
    await card().getByRole('button', { name: 'Use OpenStreetMap' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: '© OpenStreetMap contributors' }).waitFor();
    await expect.poll(() => colorAt(page, 12), soon).toEqual(magenta);
    const { settings } = await world.must('GET', `/v3/workspaces/${world.workspaceId}`);
    expect(settings.map.source).toBe('OPEN_STREET_MAP');
    for (const { url, referer } of asked) {
      expect(url).toMatch(/^https:\/\/tile\.openstreetmap\.org\/\d+\/\d+\/\d+\.png$/);
      expect(referer).toBe(`${world.base}/`);
    }
    await stage.inspect('map-streets');
    expect(beyondStreets(stage)).toEqual([]);
  });

  test('a tile server that does not answer is named', async () => {
    const { page } = stage;
    isDown = true;
    await page.reload();
    await page.getByText("Couldn't load map tiles from tile.openstreetmap.org").waitFor();
    // Other tiles may still be refused until the map is gone.
    await stage.visit('settings/map');
    await page.getByText('Maps load https://tile.openstreetmap.org/{z}/{x}/{y}.png').waitFor();
    expect(beyondStreets(stage)).toEqual([]);
    isDown = false;
  });

  test('the settings refuse other servers at their field, and take the streets back', async () => {
    const { page, world } = stage;
    await page.getByLabel('Tiles', { exact: true }).selectOption('URL');
    await page.getByLabel('URL of a tile').fill('https://evil.example/{z}/{x}/{y}.png');
    await page.getByLabel('Attribution').fill('© Evil');
    await page.keyboard.press('Control+s');
    await page
      .getByText(/https:\/\/evil\.example is not allowed/)
      .first()
      .waitFor();
    await stage.inspect('settings-map');
    expect(stage.takeComplaints().filter((one) => !one.includes('status of 400'))).toEqual([]);
    await page.getByLabel('Tiles', { exact: true }).selectOption('NONE');
    await stage.save(`/v3/workspaces/${world.workspaceId}`);
    await page.getByText('Maps show no streets.').waitFor();
    asked.splice(0);
    await openClose(stage);
    await page.getByText(/No street map/).waitFor();
    await expect.poll(() => card().count()).toBe(0);
    expect(asked).toEqual([]);
  });

  test('a map file is shown without any other host, and a damaged one is named', async () => {
    const { page, world } = stage;
    const folder = join(world.directory, 'maps');
    const put = (bytes: Buffer) => {
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, 'new'), bytes);
      renameSync(join(folder, 'new'), join(folder, 'city.pmtiles'));
    };
    const map = `/v3/workspaces/${world.workspaceId}/map`;
    const tiles = [{ name: { z: 0, x: 0, y: 0 }, bytes: magentaPixel }];
    put(pmtilesOf({ tiles, metadata: { attribution: '© City' } }));
    const choose = () =>
      world.call('PUT', `/v3/workspaces/${world.workspaceId}`, {
        settings: { map: { source: 'FILE' } },
      });
    await expect.poll(async () => (await choose()).status, soon).toBe(200);
    await openClose(stage);
    await page.getByText('© City').waitFor();
    await expect.poll(() => colorAt(page, 12), soon).toEqual(magenta);
    put(Buffer.from('damaged'));
    await expect.poll(async () => (await world.call('GET', map)).status, soon).toBe(503);
    await page.reload();
    await page
      .getByText(/city\.pmtiles cannot be read/)
      .first()
      .waitFor();
    expect(stage.takeComplaints().filter((one) => !one.includes('status of 503'))).toEqual([]);
  });
});
