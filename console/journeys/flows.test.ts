// Data flows in a real browser: built, a payload sent through one to its outputs, changed, refused and deleted.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { startWorld } from '../../tests/world/world.ts';
import { axeFindings, pageWidth } from './chromium.ts';
import { journey } from './journey.ts';

const bodies: string[] = [];
const target: Server = createServer((request, response) => {
  let body = '';
  request.on('data', (chunk) => (body += chunk));
  request.on('end', () => {
    bodies.push(body);
    response.end('taken');
  });
});
const listening = new Promise<number>((resolve) => {
  target.listen(0, '127.0.0.1', () => resolve((target.address() as AddressInfo).port));
});

const script = `function consume(event) {
  emit('sample', { data: { temperature: event.data.t / 10 }, topic: 'climate' });
}`;

journey(
  'data flows',
  {
    start: () => startWorld({ environment: { EGRESS_ALLOW: '127.0.0.0/8' } }),
    async prepare(world) {
      const { organizationId, workspaceId } = world;
      await world.must('POST', '/v3/device-types', {
        name: 'Climate',
        organizationId,
        type: 'manual',
        meta: {},
        schemas: {},
        uplinkScript: { code: script },
      });
      await world.must('POST', '/v3/output-connectors', {
        name: 'Site office',
        workspaceId,
        type: 'WEBHOOK',
        scope: 'DATA_FLOW',
        webhookProperties: { uri: `http://127.0.0.1:${await listening}/in` },
      });
    },
    close: () => void target.close(),
  },
  (stage) => {
    let flowId = '';
    const node = (name: string | RegExp) => stage.page.getByRole('button', { name });

    test('a workspace without flows leads to the first one', async () => {
      const { page } = stage;
      await page.keyboard.type('gf');
      await page.getByText('No data flows yet').waitFor();
      expect(await axeFindings(page)).toEqual([]);
      await page.getByRole('link', { name: 'Create data flow' }).first().click();
    });

    test('a flow is built in its lanes, with a new connector', async () => {
      const { page } = stage;
      await page.getByLabel('Name', { exact: true }).fill('Rooms <b>');
      await node(/^Connector/).click();
      await page.getByRole('button', { name: 'Create connector' }).click();
      const dialog = page.getByRole('dialog', { name: 'Create connector' });
      await dialog.getByLabel('Name', { exact: true }).fill('Gateway');
      await dialog.getByLabel('Protocol').selectOption('MQTT');
      await dialog.getByLabel('Device authentication').waitFor();
      expect(await axeFindings(page)).toEqual([]);
      await dialog.getByLabel('Protocol').selectOption('HTTP');
      await dialog.getByRole('button', { name: 'Create connector' }).click();
      await node(/^Gateway/).click();
      await node(/^No decoder/).click();
      await page.getByLabel('Device type').selectOption('Climate');
      await node(/^Climate/).press('ArrowRight');
      await page.keyboard.press('+');
      await page
        .getByLabel('Output', { exact: true })
        .selectOption({ label: 'Site office · Webhook' });
      await page.getByLabel('Topic').fill('climate');
      await page
        .getByText(
          /^Payloads from Gateway are decoded by Climate; .* topic climate goes to Site office\.$/,
        )
        .waitFor();
      await page.reload();
      await page.getByText(/climate goes to Site office\.$/).waitFor();
      await stage.inspect('flows-new');
      await page.getByRole('button', { name: 'Create data flow' }).click();
      await page.getByRole('heading', { level: 1, name: 'Rooms <b>' }).waitFor();
      flowId = page.url().split('/').at(-1) ?? '';
      await page.getByText('No devices use this data flow').waitFor();
    });

    test('a payload sent through it arrives at its outputs', async () => {
      const { page, world } = stage;
      await page.getByRole('button', { name: 'Send test payload' }).click();
      await page.getByText('No device can send').waitFor();
      await page.keyboard.press('Escape');
      await world.must('POST', '/v3/devices', {
        name: 'Room 1',
        deviceId: 'room-1',
        workspaceId: world.workspaceId,
        dataFlowId: flowId,
        connectivity: 'HTTP',
      });
      await page.reload();
      await page.getByRole('button', { name: 'Send test payload' }).click();
      const dialog = page.getByRole('dialog', { name: 'Send test payload' });
      await dialog.getByLabel('Payload (JSON)').fill('{"t": ');
      await dialog.getByText('Enter a JSON object or array').waitFor();
      await dialog.getByLabel('Payload (JSON)').fill('{"t": 215}');
      await dialog.getByRole('button', { name: 'Send', exact: true }).click();
      await dialog.getByText('Stored in topic climate').waitFor();
      await dialog.getByText('21.5', { exact: true }).waitFor();
      await dialog.getByText('delivered · HTTP 200 taken').waitFor();
      expect(bodies.map((body) => JSON.parse(body) as unknown)).toEqual([
        expect.objectContaining({ data: { temperature: 21.5 }, topic: 'climate' }),
      ]);
      expect(await axeFindings(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await page.getByRole('link', { name: 'Room 1' }).waitFor();
      await page.getByText('1 device', { exact: true }).waitFor();
      await stage.inspect('flows-one');
    });

    test('what a script does wrong is noted', async () => {
      const { page } = stage;
      await page.getByRole('button', { name: 'Send test payload' }).click();
      const dialog = page.getByRole('dialog', { name: 'Send test payload' });
      await dialog.getByLabel('Payload (JSON)').fill('{"t": {"no": "number"}}');
      await dialog.getByRole('button', { name: 'Send', exact: true }).click();
      await dialog
        .getByText(/^Logged:/)
        .first()
        .waitFor();
      await page.keyboard.press('Escape');
    });

    test('edits are kept, and the work of others is not overwritten in silence', async () => {
      const { page, world } = stage;
      await page.getByLabel('Description').fill('All rooms');
      await page.reload();
      await expect.poll(() => page.getByLabel('Description').inputValue()).toBe('All rooms');
      await world.must('PUT', `/v3/data-flows/${flowId}`, { description: 'Theirs' });
      await page.keyboard.press('Control+s');
      await page.getByText('Someone else changed this').waitFor();
      expect(stage.takeComplaints().join()).toContain('status of 409');
      expect(await axeFindings(page)).toEqual([]);
      await stage.save('/v3/data-flows/', () =>
        page.getByRole('button', { name: 'Overwrite' }).click(),
      );
      await page.getByRole('link', { name: 'Data flows' }).last().click();
      await page.getByText('All rooms').waitFor();
      await page.getByRole('cell', { name: /1 device, last sample/ }).waitFor();
      await stage.inspect('flows');
    });

    test('a used flow is not deleted, and says who uses it', async () => {
      const { page } = stage;
      await page.getByRole('link', { name: 'Rooms <b>' }).click();
      await page.getByRole('button', { name: 'Delete', exact: true }).click();
      const dialog = page.getByRole('dialog', { name: 'Delete Rooms <b>?' });
      await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
      await dialog.getByText(/is in use by device Room 1/).waitFor();
      expect(stage.takeComplaints().join()).toContain('status of 409');
      expect(await axeFindings(page)).toEqual([]);
      await page.keyboard.press('Escape');
    });

    test('the page fits a phone', async () => {
      const { page } = stage;
      await page.setViewportSize({ width: 390, height: 844 });
      await stage.inspect('flows-phone');
      await expect.poll(() => pageWidth(page)).toBeLessThanOrEqual(390);
      await page.setViewportSize({ width: 1_440, height: 900 });
    });
  },
);
