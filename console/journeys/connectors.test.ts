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
    await page.getByText('No connector yet').waitFor();
    await page.getByRole('button', { name: 'New connector' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'New connector' });
    await dialog.getByLabel('Name', { exact: true }).fill('ChirpStack hall');
    await dialog.getByLabel('In which form?').selectOption('webhook of ChirpStack');
    await dialog.getByRole('button', { name: 'Create connector' }).click();
    await page.getByRole('heading', { level: 1, name: 'ChirpStack hall' }).waitFor();
    connectorId = page.url().split('/').at(-1) ?? '';
    const { uplinkSecret } = await world.must('GET', `/v3/device-connectors/${connectorId}`);
    expect(await page.content()).not.toContain(uplinkSecret);
    await page.getByRole('button', { name: 'Show the uplink secret' }).click();
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
    await page.getByRole('button', { name: 'Send a payload' }).click();
    const dialog = page.getByRole('dialog', { name: 'Send a payload' });
    await dialog.getByRole('button', { name: 'Send', exact: true }).click();
    await dialog.getByText('Stored with topic default').waitFor();
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
    await page.getByText('No integration yet').waitFor();
    await page.getByRole('link', { name: 'New integration' }).first().click();
    await page.getByLabel('Address of the server').fill('nowhere');
    await page.getByRole('button', { name: 'Create integration' }).click();
    await page.getByText('must be an http or https URL', { exact: true }).waitFor();
    await page.getByText('Check the marked fields.').waitFor();
    expect(stage.takeComplaints().join()).toContain('status of 400');
    await page.getByLabel('Address of the server').fill('https://stack.example.com');
    await page.getByLabel('API key').fill('NNSXS.secret');
    await page.getByRole('button', { name: 'Create integration' }).click();
    await page.getByText(/Commands to devices also need: Application id\./).waitFor();
    expect(await page.getByLabel('API key').inputValue()).toBe('********');
    await stage.inspect('integration');
    await page.getByLabel('Application id').fill('my-app');
    await page.keyboard.press('Control+s');
    await page.getByText('Uplinks arrive, commands can be sent.').waitFor();
  });

  test('an unused integration is deleted with its connector', async () => {
    const { page, world } = stage;
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete The Things Stack?' });
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('No integration yet').waitFor();
    const left = await world.must('GET', `/v3/device-connectors?workspaceId=${world.workspaceId}`);
    expect(left.totalElements).toBe(1);
  });

  test('a connector for line protocol shows its command, and its mapping is changed', async () => {
    const { page, world } = stage;
    await stage.visit('flows/connectors');
    await page.getByRole('button', { name: 'New connector' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'New connector' });
    await dialog.getByLabel('Name', { exact: true }).fill('Telegraf');
    const form = 'InfluxDB line protocol (Telegraf, Home Assistant)';
    await dialog.getByLabel('In which form?').selectOption(form);
    await dialog.getByRole('button', { name: 'Create connector' }).click();
    await page.getByRole('heading', { level: 1, name: 'Telegraf' }).waitFor();
    await page.getByText('HTTP, line protocol').waitFor();
    await page.getByText(/-d 'room,device=DEVICE_ID temperature=21.5'/).waitFor();
    await page.getByLabel('Device of a point').fill('{domain}.{entity_id}');
    await page.getByLabel('Topic of a point').fill('default');
    await page.getByText('Create the devices of unknown points').click();
    await page.getByLabel('At most so many devices').fill('20');
    await page.keyboard.press('Control+s');
    await page.getByText('Saved').first().waitFor();
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
    await page.getByRole('button', { name: 'New connector' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'New connector' });
    await dialog.getByLabel('Name', { exact: true }).fill('Plant');
    await dialog.getByLabel('How do the devices send?').selectOption('MQTT');
    await dialog.getByLabel('In which form?').selectOption('Sparkplug B (Ignition, edge gateways)');
    await dialog.getByRole('button', { name: 'Create connector' }).click();
    await page.getByRole('heading', { level: 1, name: 'Plant' }).waitFor();
    await page.getByText('MQTT, Sparkplug B').waitFor();
    await page.getByText(/spBv1.0\/GROUP\/NBIRTH\/EDGE -s/).waitFor();
    await page.getByLabel('Device behind an edge node').fill('{edge}-{device}');
    await page.getByText('Create the devices of unknown births').click();
    await page.getByLabel('At most so many devices').fill('20');
    await page.keyboard.press('Control+s');
    await page.getByText('Saved').first().waitFor();
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
    await page.getByRole('heading', { name: 'Refused here' }).waitFor();
    const row = page.getByRole('row', { name: /0042/ });
    await row.getByText('No device has this id').waitFor();
    await row.getByText('Details').click();
    await row.getByText('{"t":21}').waitFor();
    await page.getByText('The payload cannot be read').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await stage.visit('');
    await page.getByRole('link', { name: 'Refused: 0042' }).click();
    await row.getByRole('link', { name: 'Register' }).click();
    await expect.poll(() => page.getByLabel('Device id').inputValue()).toBe('0042');
  });
});
