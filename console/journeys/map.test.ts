// Map in a real browser: devices where they are, by mouse, keyboard and list, close and far, live.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { startWorld, type TestDevice, type World } from '../../tests/world/world.ts';
import { axeFindings, pageWidth } from './chromium.ts';
import { journey } from './journey.ts';
import { colorAt, magenta, magentaPixel } from './map-colors.ts';

const cities = [
  ['Basel', 47.5596, 7.5886],
  ['Bern', 46.948, 7.4474],
  ['Geneva', 46.2044, 6.1432],
  ['Lugano', 46.0037, 8.9511],
  ['Zurich', 47.3769, 8.5417],
] as const;
const devices = new Map<string, TestDevice>();

journey('map', { start: startWorld, prepare }, (stage) => {
  test('the map shows all devices with a position', async () => {
    const { page } = stage;
    await stage.visit('map');
    await page.getByText('5 of 6 devices on the map').waitFor();
    await page.getByRole('application', { name: 'Map of 5 devices' }).waitFor();
    await page.getByText('5 in view').waitFor();
    await stage.inspect('map');
  });

  test('a device is found in the list by keyboard, and its card leads to its page', async () => {
    const { page } = stage;
    await page.getByRole('grid', { name: 'Devices in view' }).focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    const card = page.getByRole('region', { name: 'Bern' });
    await card.getByText('46.948° N 7.4474° E').waitFor();
    await page.waitForURL(/device=/);
    await stage.inspect('map-card');
    await expect
      .poll(() => card.getByRole('link', { name: 'Bern' }).getAttribute('href'))
      .toContain(devices.get('Bern')?.id);
  });

  test('review console M2: keys zoom and move; below 30 km a grid takes the place of the outline, and says who can add streets', async () => {
    const { page } = stage;
    await page.getByRole('application').focus();
    for (let step = 0; step < 4; step++) await page.keyboard.press('+');
    await page.getByText(/No street map/).waitFor();
    await page.waitForURL(/view=/);
    await stage.inspect('map-grid');
    await page.keyboard.press('0');
    await page.getByText('5 in view').waitFor();
    await page.getByText('Map data: Natural Earth').waitFor();
  });

  test('dragging moves the map, and its button shows all devices again', async () => {
    const { page } = stage;
    const map = page.getByRole('application');
    const box = await map.boundingBox();
    if (box === null) throw new Error('the map is not shown');
    const middle = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
    await page.mouse.move(middle.x, middle.y);
    await page.mouse.down();
    await page.mouse.move(middle.x - box.width, middle.y, { steps: 4 });
    await page.mouse.up();
    await page.getByText('No devices in view').waitFor();
    await page.getByRole('button', { name: 'Fit all devices' }).click();
    await page.getByText('5 in view').waitFor();
  });

  test('a position that arrives moves the device', async () => {
    const { page, world } = stage;
    const lost = devices.get('Van');
    if (lost === undefined) throw new Error('no device was made');
    await expect
      .poll(
        async () => {
          await world.capture(lost, { latitude: 47.05, longitude: 8.3 });
          return page.getByText('6 in view').count();
        },
        { timeout: 60_000, interval: 300 },
      )
      .toBe(1);
  });

  test('the page of a device and a tile of a dashboard show the same map', async () => {
    const { page, world } = stage;
    const bern = devices.get('Bern')?.id ?? '';
    await stage.visit(`devices/${bern}/overview`);
    await page.getByRole('application', { name: 'Map of 1 device' }).waitFor();
    const series = [...devices.values()].map(({ id }) => ({ deviceId: id, dataKey: 'latitude' }));
    const place = { x: 0, y: 0, width: 6, height: 5 };
    const { id } = await world.must('POST', '/v3/dashboards', {
      workspaceId: world.workspaceId,
      name: 'Fleet',
      configuration: {
        schema: 'heliograph-dashboard',
        version: 1,
        tiles: [
          { id: 'a', kind: 'map', title: 'Fleet', ...place, series },
          { id: 'b', kind: 'text', ...place, x: 6, text: '# Fleet\n\n- **five** cities' },
          {
            id: 'c',
            kind: 'bar',
            title: 'Counted',
            ...place,
            y: 5,
            series: series.map((one) => ({ ...one, accumulator: 'COUNT' })),
          },
        ],
      },
    });
    await stage.visit(`dashboards/${id}?kiosk=true`);
    await page.getByRole('application', { name: 'Map of 6 devices' }).waitFor();
    await page.getByRole('img', { name: 'Counted' }).waitFor();
    await expect.poll(() => page.getByRole('navigation', { name: 'Main' }).count()).toBe(0);
    await stage.inspect('dashboard-kiosk');
    await page.keyboard.press('Escape');
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
    await stage.visit('map');
  });

  test('the filter of the list filters the map, a click on a dot opens its card, and the phone shows both', async () => {
    const { page } = stage;
    await page.getByRole('searchbox', { name: 'Search devices' }).fill('Zur');
    await page.getByText('1 of 1 device on the map').waitFor();
    await page.getByRole('button', { name: 'Fit all devices' }).click();
    // The one device is in the middle now; a click on its dot opens its card.
    await page.getByRole('application', { name: 'Map of 1 device' }).click();
    await page.getByRole('region', { name: 'Zurich' }).waitFor();
    await page.getByRole('searchbox', { name: 'Search devices' }).fill('');
    await page.getByText('of 6 devices on the map').waitFor();
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await axeFindings(page)).toEqual([]);
    await expect.poll(() => pageWidth(page)).toBeLessThanOrEqual(390);
    await page.setViewportSize({ width: 1_440, height: 900 });
  });
});

async function prepare(world: World): Promise<void> {
  for (const [name, latitude, longitude] of cities) {
    const device = await world.device({ name });
    devices.set(name, device);
    await world.capture(device, { latitude, longitude, temperature: 21 });
  }
  devices.set('Van', await world.device({ name: 'Van' }));
}

const attribution = '© Streets of the test';
const asked: { readonly path: string; readonly referer: string | undefined }[] = [];
let isDown = false;
const soon = { timeout: 60_000, interval: 200 };
const tileServer = createServer(({ url = '', headers }, answer) => {
  asked.push({ path: url, referer: headers.referer });
  if (isDown) answer.writeHead(503).end();
  else answer.writeHead(200, { 'content-type': 'image/png' }).end(magentaPixel);
});

journey('map with tiles', { start: startWithTiles, prepare, close: closeTiles }, (stage) => {
  test('tiles of the operator are under the devices, and from no other host', async () => {
    const { page } = stage;
    const answer = await page.goto(stage.at('map'));
    await page.getByText('5 in view').waitFor();
    await page.getByText(attribution).waitFor();
    expect(answer?.headers()['content-security-policy']).toContain(
      `img-src 'self' https://tile.openstreetmap.org ${tilesBase()};`,
    );
    await expect.poll(() => colorAt(page, 12), soon).toEqual(magenta);
    for (const { path, referer } of asked) {
      expect(path).toMatch(/^\/\d+\/\d+\/\d+\.png\?key=a$/);
      expect(referer).toBe(`${stage.world.base}/`);
    }
    await stage.inspect('map-tiles');
    expect(beyondTiles(stage.takeComplaints())).toEqual([]);
  });

  test('moving asks for the tiles beyond, and close there are streets in place of a grid', async () => {
    const { page } = stage;
    const before = new Set(asked.map(({ path }) => path));
    await page.getByRole('application').focus();
    for (let step = 0; step < 6; step++) await page.keyboard.press('+');
    await expect.poll(() => asked.some(({ path }) => !before.has(path)), soon).toBe(true);
    await expect.poll(() => colorAt(page, 12), soon).toEqual(magenta);
    await expect.poll(() => page.getByText(/No street map/).count()).toBe(0);
    expect(beyondTiles(stage.takeComplaints())).toEqual([]);
  });

  test('without answers of the tile server the outline is shown, and why', async () => {
    const { page } = stage;
    isDown = true;
    await page.reload();
    await page.getByText(`Couldn't load map tiles from ${new URL(tilesBase()).host}`).waitFor();
    // Before the devices are there, it shows none of them.
    await expect
      .poll(async () => {
        await page.keyboard.press('0');
        return page.getByText('5 in view').count();
      }, soon)
      .toBe(1);
    const others = beyondTiles(stage.takeComplaints());
    expect(others.filter((one) => !one.includes('status of 503'))).toEqual([]);
  });
});

/** Without the requests to the tile server, which is the only other host. */
function beyondTiles(complaints: readonly string[]): readonly string[] {
  return complaints.filter((one) => !one.startsWith(`request to another host: ${tilesBase()}/`));
}

async function startWithTiles(): Promise<World> {
  await new Promise<void>((resolve) => {
    tileServer.listen(0, '127.0.0.1', resolve);
  });
  const environment = {
    MAP_TILES_URL: `${tilesBase()}/{z}/{x}/{y}.png?key=a`,
    MAP_TILES_ATTRIBUTION: attribution,
  };
  return startWorld({ environment });
}

function tilesBase(): string {
  return `http://127.0.0.1:${(tileServer.address() as AddressInfo).port}`;
}

function closeTiles(): void {
  tileServer.close();
  tileServer.closeAllConnections();
}
