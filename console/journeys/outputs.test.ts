// Outputs in a real browser: created, tested, failing, sent again and changed.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { databaseConnectorId } from '../../src/model/ids.ts';
import { startWorld, type World } from '../../tests/world/world.ts';
import { axeFindings } from './chromium.ts';
import { journey } from './journey.ts';

/** A target that refuses everything until its status is changed. */
function startTarget() {
  const target = { status: 400, bodies: [] as string[] };
  const server: Server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += chunk));
    request.on('end', () => {
      target.bodies.push(body);
      response.writeHead(target.status).end(target.status < 300 ? 'taken' : 'not today');
    });
  });
  const listening = new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
  return { target, listening, close: () => server.close() };
}

const receiver = startTarget();
let address: string;

async function start(): Promise<World> {
  address = `http://127.0.0.1:${await receiver.listening}/in`;
  return startWorld({ environment: { EGRESS_ALLOW: '127.0.0.0/8' } });
}

async function prepare(world: World): Promise<void> {
  const device = await world.device({ name: 'Room 1' });
  await world.capture(device, { temperature: 21.5 });
}

journey('outputs', { start, prepare, close: () => void receiver.close() }, (stage) => {
  const heading = (name: string) => stage.page.getByRole('heading', { level: 1, name });

  test('a webhook is created in its form, and the fault of a field is at the field', async () => {
    const { page } = stage;
    await stage.visit('outputs');
    await page.getByRole('link', { name: 'Create output' }).first().click();
    await page.getByLabel('Name', { exact: true }).fill('Site office');
    await page.getByLabel('URL', { exact: true }).fill('nowhere');
    await page.getByRole('button', { name: 'Create output' }).click();
    await page.getByText('must be an http or https URL', { exact: true }).waitFor();
    // Review console editor: the bar does not repeat it.
    await page.getByText('Check the marked fields.', { exact: true }).waitFor();
    const field = page.getByLabel('URL', { exact: true });
    await expect.poll(() => field.evaluate((one) => one === document.activeElement)).toBe(true);
    expect(stage.takeComplaints().join()).toContain('status of 400');
    expect(await axeFindings(page)).toEqual([]);
    await page.getByLabel('URL', { exact: true }).fill(address);
    await page.getByRole('checkbox', { name: /custom payload/ }).check();
    await page
      .getByLabel('Payload', { exact: true })
      .fill('{"room": {{device.name}}, "t": {{data.temperature}}}');
    await page.getByText('{"room": "Room 1", "t": 21.5}').waitFor();
    await page.reload();
    await expect
      .poll(() => page.getByLabel('Name', { exact: true }).inputValue())
      .toBe('Site office');
    await page.getByRole('button', { name: 'Create output' }).click();
    await heading('Site office').waitFor();
  });

  test('a test shows what the target said', async () => {
    const { page } = stage;
    await page.getByRole('button', { name: 'Send test' }).click();
    const dialog = page.getByRole('dialog', { name: 'Send test message' });
    await dialog.getByRole('combobox', { name: 'Use latest sample from' }).fill('Room');
    await dialog.getByRole('option', { name: /Room 1/ }).click();
    await dialog.getByRole('button', { name: 'Send test' }).click();
    await dialog.getByText('not today').first().waitFor();
    expect(receiver.target.bodies.at(-1)).toBe('{"room": "Room 1", "t": 21.5}');
    expect(await axeFindings(page)).toEqual([]);
    await page.keyboard.press('Escape');
  });

  test('failed deliveries are in the log and sent again together', async () => {
    const { page } = stage;
    const id = page.url().split('/').at(-2) ?? '';
    const sender = await stage.world.device({
      name: 'Room 2',
      outputs: [
        { id: databaseConnectorId, topic: '*' },
        { id, topic: '*' },
      ],
    });
    await stage.world.capture(sender, { temperature: 40 });
    await page.getByText('Permanently failed').last().waitFor();
    await page.getByRole('button', { name: /^Delivery details/ }).click();
    await page.getByRole('heading', { name: 'Error' }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    receiver.target.status = 200;
    await page.getByRole('button', { name: 'Resend 1 failed' }).click();
    await page.getByText('1 queued again').waitFor();
    await page.getByText('taken').first().waitFor();
    await page.getByRole('button', { name: 'Delivered', exact: true }).click();
    await page.waitForURL(/state=DELIVERED/);
    const log = page.url();
    await stage.visit('outputs');
    await page.getByText('1 delivered, 1 failed').waitFor();
    await page.getByRole('img', { name: 'Per hour: 1 delivered, 1 failed' }).waitFor();
    await stage.inspect('outputs');
    await page.goto(log);
  });

  test('edits that are not saved survive the way to another page', async () => {
    const { page } = stage;
    await page.getByRole('link', { name: 'Settings', exact: true }).last().waitFor();
    const tabs = page.getByRole('navigation', { name: 'Output tabs' });
    await tabs.getByRole('link', { name: 'Settings' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Front desk');
    await page.getByText('Unsaved changes').waitFor();
    await tabs.getByRole('link', { name: 'Deliveries' }).click();
    await tabs.getByRole('link', { name: 'Settings' }).click();
    await expect
      .poll(() => page.getByLabel('Name', { exact: true }).inputValue())
      .toBe('Front desk');
    expect(await axeFindings(page)).toEqual([]);
    await page.keyboard.press('Control+s');
    await heading('Front desk').waitFor();
    await page.getByRole('link', { name: 'Outputs' }).last().click();
    await page.getByRole('row', { name: /Front desk/ }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
  });
});
