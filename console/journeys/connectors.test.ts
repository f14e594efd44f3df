// Connectors and integrations in a real browser: created, tried with a real payload, secret, refused, deleted.
import { expect, test } from 'vitest';
import { startWorld } from '../../tests/world/world.ts';
import { axeFindings } from './chromium.ts';
import { journey } from './journey.ts';

const eui = '70b3d57ed0001a2b';

journey('connectors and integrations', { start: startWorld }, (stage) => {
  let connectorId = '';

  test('a connector is created, and its secret stays behind dots until it is asked for', async () => {
    const { page, world } = stage;
    await stage.visit('flows/connectors');
    await page.getByText('No connectors yet').waitFor();
    await page.getByRole('button', { name: 'Create connector' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'Create connector' });
    await dialog.getByLabel('Name', { exact: true }).fill('ChirpStack hall');
    await dialog.getByLabel('Payload format').selectOption('ChirpStack webhook');
    await dialog.getByRole('button', { name: 'Create connector' }).click();
    await page.getByRole('heading', { level: 1, name: 'ChirpStack hall' }).waitFor();
    connectorId = page.url().split('/').at(-1) ?? '';
    const { uplinkSecret } = await world.must('GET', `/v3/device-connectors/${connectorId}`);
    expect(await page.content()).not.toContain(uplinkSecret);
    await page.getByRole('button', { name: 'Show secret' }).click();
    await page.getByText(String(uplinkSecret), { exact: true }).waitFor();
  });

  test('a message in the form of its server goes through the connector', async () => {
    const { page, world } = stage;
    const flow = await world.must('POST', '/v3/data-flows', {
      name: 'Hall',
      workspaceId: world.workspaceId,
      deviceConnector: { id: connectorId },
      outputConnectors: [{ id: '0900000000000000', topic: '*' }],
    });
    await world.must('POST', '/v3/devices', {
      name: 'Sensor 1',
      deviceId: eui,
      workspaceId: world.workspaceId,
      dataFlowId: flow.id,
      connectivity: 'HTTP',
    });
    await page.reload();
    await page.getByRole('link', { name: 'Hall' }).waitFor();
    await page.getByRole('button', { name: 'Send test payload' }).click();
    const dialog = page.getByRole('dialog', { name: 'Send test payload' });
    await dialog.getByRole('button', { name: 'Send', exact: true }).click();
    await dialog.getByText('Stored in topic default').waitFor();
    await dialog.getByText('0167010e').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await stage.inspect('connector');
  });

  test('a used connector is not deleted, and says which flow uses it', async () => {
    const { page } = stage;
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete ChirpStack hall?' });
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
    await dialog.getByText(/is in use by data flow Hall/).waitFor();
    expect(stage.takeComplaints().join()).toContain('status of 409');
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Connectors', exact: true }).click();
    await page.getByRole('cell', { name: /1 device, last sample/ }).waitFor();
  });

  test('an integration is created with the settings of its server, which are masked', async () => {
    const { page } = stage;
    await page.getByRole('link', { name: 'Integrations' }).click();
    await page.getByText('No integrations yet').waitFor();
    await page.getByRole('link', { name: 'Create integration' }).first().click();
    await page.getByLabel('Server URL').fill('nowhere');
    await page.getByRole('button', { name: 'Create integration' }).click();
    await page.getByText('must be an http or https URL', { exact: true }).waitFor();
    await page.getByText('Check the marked fields.').waitFor();
    expect(stage.takeComplaints().join()).toContain('status of 400');
    await page.getByLabel('Server URL').fill('https://stack.example.com');
    await page.getByLabel('API key').fill('NNSXS.secret');
    await page.getByRole('button', { name: 'Create integration' }).click();
    await page.getByText(/To send commands, add: Application ID\./).waitFor();
    await expect.poll(() => page.getByLabel('API key').inputValue()).toBe('********');
    await stage.inspect('integration');
    await page.getByLabel('Application ID').fill('my-app');
    await page.keyboard.press('Control+s');
    await page.getByText('Supports uplinks and commands').waitFor();
  });

  test('an unused integration is deleted with its connector', async () => {
    const { page, world } = stage;
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete The Things Stack?' });
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('No integrations yet').waitFor();
    const left = await world.must('GET', `/v3/device-connectors?workspaceId=${world.workspaceId}`);
    expect(left.totalElements).toBe(1);
  });

  test('a connector for line protocol shows its command, and its mapping is changed', async () => {
    const { page, world } = stage;
    await stage.visit('flows/connectors');
    await page.getByRole('button', { name: 'Create connector' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'Create connector' });
    await dialog.getByLabel('Name', { exact: true }).fill('Telegraf');
    const form = 'InfluxDB line protocol (Telegraf, Home Assistant)';
    await dialog.getByLabel('Payload format').selectOption(form);
    await dialog.getByRole('button', { name: 'Create connector' }).click();
    await page.getByRole('heading', { level: 1, name: 'Telegraf' }).waitFor();
    await page.getByText('HTTP, line protocol').waitFor();
    await page.getByText(/-d 'room,device=DEVICE_ID temperature=21.5'/).waitFor();
    await page.getByLabel('Device ID templates').fill('{domain}.{entity_id}');
    await page.getByLabel('Sample topic').fill('default');
    await page.getByText('Create devices for unknown points').click();
    await page.getByLabel('Maximum devices').fill('20');
    await stage.save('/v3/device-connectors/');
    await stage.inspect('line-protocol-connector');
    const path = `/v3/device-connectors/${page.url().split('/').at(-1)}`;
    expect((await world.must('GET', path)).lineProtocol).toEqual({
      device: ['{domain}.{entity_id}'],
      topic: 'default',
      createDevices: { devicesMax: 20 },
    });
  });

  test('a connector for Sparkplug shows a birth, and its mapping is changed', async () => {
    const { page, world } = stage;
    await stage.visit('flows/connectors');
    await page.getByRole('button', { name: 'Create connector' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'Create connector' });
    await dialog.getByLabel('Name', { exact: true }).fill('Plant');
    await dialog.getByLabel('Protocol').selectOption('MQTT');
    await dialog.getByLabel('Payload format').selectOption('Sparkplug B (Ignition, edge gateways)');
    await dialog.getByRole('button', { name: 'Create connector' }).click();
    await page.getByRole('heading', { level: 1, name: 'Plant' }).waitFor();
    await page.getByText('MQTT, Sparkplug B').waitFor();
    await page.getByText(/spBv1.0\/GROUP\/NBIRTH\/EDGE -s/).waitFor();
    await page.getByLabel('Device ID behind an edge node').fill('{edge}-{device}');
    await page.getByText('Create devices for unknown births').click();
    await page.getByLabel('Maximum devices').fill('20');
    await stage.save('/v3/device-connectors/');
    await stage.inspect('sparkplug-connector');
    const path = `/v3/device-connectors/${page.url().split('/').at(-1)}`;
    expect((await world.must('GET', path)).sparkplug).toEqual({
      node: '{group}/{edge}',
      device: '{edge}-{device}',
      topic: 'default',
      hostId: 'heliograph',
      createDevices: { devicesMax: 20 },
    });
  });

  test('console H6: refused uplinks stand at their connector, with reason, payload and a way to register', async () => {
    const { page, world } = stage;
    const known = await world.device({ name: 'Known' });
    const url = `${world.base}/v3/capture?secret=${known.secret}&deviceId=`;
    const send = (id: string, body: string) =>
      fetch(url + id, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    expect((await send('0042', '{"t":21}')).status).toBe(404);
    expect((await send(known.deviceId, '{"t":')).status).toBe(400);
    await stage.visit(`flows/connectors/${known.connectorId}`);
    await page.getByRole('heading', { name: 'Rejected uplinks' }).waitFor();
    const row = page.getByRole('row', { name: /0042/ });
    await row.getByText('Unknown device ID').waitFor();
    await row.getByText('Details').click();
    await row.getByText('{"t":21}').waitFor();
    await page.getByText('Invalid payload').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await stage.visit('');
    await page.getByRole('link', { name: 'Rejected: 0042' }).click();
    await row.getByRole('button', { name: 'Register this device' }).click();
    const dialog = page.getByRole('dialog', { name: 'Register 0042' });
    await expect.poll(() => dialog.getByLabel('Name').inputValue()).toBe('0042');
    await dialog.getByRole('button', { name: 'Register this device' }).click();
    await page.getByRole('heading', { level: 1, name: '0042' }).waitFor();
  });
});
