// Home in a real browser: nothing yet, then the first sample, live, and what needs attention.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { startWorld, type TestDevice } from '../../tests/world/world.ts';
import { axeFindings, pageWidth } from './chromium.ts';
import { journey } from './journey.ts';

/** A target that answers 500 to everything. */
const target = createServer((request, response) => {
  request.resume();
  response.writeHead(500).end('not today');
});

const start = () => startWorld({ environment: { EGRESS_ALLOW: '127.0.0.0/8' } });

journey('home', { start, close: () => void target.close() }, (stage) => {
  let room: TestDevice;

  test('an empty workspace says so', async () => {
    const { page } = stage;
    await page.getByRole('heading', { name: 'No devices yet' }).waitFor();
    await page.getByText('Nothing needs attention').waitFor();
    expect(await axeFindings(page)).toEqual([]);
  });

  test('the keys g and d lead to the devices, g and h back', async () => {
    const { page } = stage;
    await page.keyboard.type('gd');
    await page.waitForURL(/\/devices$/);
    await page.keyboard.type('gh');
    await page.getByText('Nothing needs attention').waitFor();
  });

  test('a sample appears as it is stored, with the name of its device', async () => {
    const { page, world } = stage;
    room = await world.device({ name: 'Room <b>1</b>' });
    await page.reload();
    await page.getByText('Waiting for samples…').waitFor();
    // The subscription is open when the server has acknowledged it; samples before are not shown.
    await expect
      .poll(
        async () => {
          await world.capture(room, { temperature: 21.5, open: true });
          return page.getByRole('link', { name: 'Room <b>1</b>' }).count();
        },
        { timeout: 60_000, interval: 250 },
      )
      .toBeGreaterThan(0);
    await page.getByText('21.5', { exact: true }).first().waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    expect(await axeFindings(page)).toEqual([]);
    await page.reload();
    await page.getByRole('heading', { name: 'No open alarms, no devices offline' }).waitFor();
    await page.getByText('1 of 1 device online').waitFor();
    await page.getByText(/^since .*, plus the one before$/).waitFor();
    await page.getByText('21.5', { exact: true }).first().waitFor();
  });

  test('the dark page and the narrow page have no fault either', async () => {
    const { page } = stage;
    await page.getByRole('button', { name: 'Theme' }).click();
    expect(await axeFindings(page)).toEqual([]);
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await expect.poll(() => pageWidth(page)).toBeLessThanOrEqual(390);
    await page.setViewportSize({ width: 1_440, height: 900 });
    await page.getByRole('button', { name: 'Theme' }).click();
    await stage.inspect('home');
  });

  test('console H4: an output whose target fails is said first, with its reason', async () => {
    const { page, world } = stage;
    await new Promise<void>((resolve) => void target.listen(0, '127.0.0.1', resolve));
    const { port } = target.address() as AddressInfo;
    const hook = await world.must('POST', '/v3/output-connectors', {
      name: 'Hook',
      workspaceId: world.workspaceId,
      scope: 'DATA_FLOW',
      type: 'WEBHOOK',
      webhookProperties: { uri: `http://127.0.0.1:${port}/`, method: 'POST', headers: {} },
    });
    const outputs = [{ id: hook['id'] as string, topic: '*' }];
    const sender = await world.device({ name: 'Sender', outputs });
    await world.capture(sender, { temperature: 1 });
    const outputsPath = `/v3/output-connectors?workspaceId=${world.workspaceId}&details=health`;
    await expect
      .poll(async () => JSON.stringify(await world.must('GET', outputsPath)))
      .toMatch(/"nextTry":"/);
    await stage.visit('');
    await page.getByRole('heading', { name: 'Hook is failing' }).waitFor();
    await page.getByText(/^since \d\d:\d\d.*: .*500/).waitFor();
    await page.getByRole('link', { name: 'Failing: Hook' }).click();
    await page.waitForURL(/\/outputs\/\w+\/deliveries$/);
    await stage.visit('outputs');
    await page.getByText(/^since \d\d:\d\d.*: .*500/).waitFor();
    expect(await axeFindings(page)).toEqual([]);
  });
});
