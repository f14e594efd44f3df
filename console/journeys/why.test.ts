// "Why?" in a real browser: journey 3 (a sender with a wrong ID is found, renamed or registered), and every page that asks.
import { expect, test } from 'vitest';
import { type Receiver, startReceiver } from '../../tests/deliveries/receivers.ts';
import { startWorld, type TestDevice } from '../../tests/world/world.ts';
import { axeFindings, pageWidth } from './chromium.ts';
import { journey } from './journey.ts';

const start = () => startWorld({ environment: { EGRESS_ALLOW: '127.0.0.0/8' } });

journey('why is there nothing', { start }, (stage) => {
  let device: TestDevice;
  let receiver: Receiver;
  const dialogOf = (name: string) => stage.page.getByRole('dialog', { name });
  const sendAs = async (deviceId: string) => {
    const query = new URLSearchParams({ secret: device.secret, deviceId });
    const { status } = await fetch(`${stage.world.base}/v3/capture?${query}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"temperature":30}',
    });
    return status;
  };
  const refusals = async () =>
    (await stage.world.must('GET', `/v3/device-connectors/${device.connectorId}/refusals`)).content;

  test('a device that sends under another ID is found: rejected, with what was meant', async () => {
    const { page, world } = stage;
    device = await world.device({ name: 'Room 1' });
    expect(await sendAs(`${device.deviceId} `)).toBe(404);
    await expect.poll(async () => (await refusals()).length, { timeout: 60_000 }).toBe(1);
    await stage.visit(`devices/${device.id}/overview`);
    await page.getByRole('button', { name: 'Why?' }).click();
    const dialog = dialogOf('What happened to the uplink of Room 1?');
    await dialog.getByText('The uplink was rejected', { exact: true }).waitFor();
    await dialog.getByText(`Did you mean \`${device.deviceId}\`?`).waitFor();
    const broken = dialog.getByRole('button', { name: 'Rejected Broken' });
    await expect.poll(() => broken.getAttribute('aria-pressed')).toBe('true');
    expect(await axeFindings(page)).toEqual([]);
    // Each step opens, with the keyboard too.
    await dialog.getByRole('button', { name: 'Arrived OK' }).focus();
    await page.keyboard.press('Enter');
    await dialog.getByText('An uplink arrived over HTTP.').waitFor();
    await dialog.getByRole('link', { name: 'Change device ID' }).waitFor();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await dialog.getByRole('button', { name: 'Copy for support' }).click();
    await dialog.getByText('Copied').waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    expect(copied).toContain('Verdict REFUSED');
    expect(copied).not.toContain(device.secret);
    await stage.inspect('why');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(
      await page
        .getByRole('button', { name: 'Why?' })
        .evaluate((it) => it === document.activeElement),
    ).toBe(true);
  });

  test('it is registered with its payload, with the type that understands it', async () => {
    const { page, world } = stage;
    await world.must('POST', '/v3/device-types', {
      name: 'Thermometer',
      organizationId: world.organizationId,
      type: 'manual',
      meta: { connectivity: 'HTTP' },
      schemas: {
        default: JSON.stringify({
          type: 'object',
          properties: { temperature: { type: 'number' } },
        }),
      },
    });
    await page.getByRole('button', { name: 'Why?' }).click();
    const why = dialogOf('What happened to the uplink of Room 1?');
    await why.getByRole('button', { name: 'Register this device' }).click();
    const dialog = dialogOf(`Register ${device.deviceId}`);
    await dialog.getByText('Did you mean').waitFor();
    await dialog.getByRole('link', { name: device.deviceId, exact: true }).waitFor();
    const types = dialog.getByLabel('Device type');
    await expect.poll(() => types.locator('option:checked').textContent()).toContain('Thermometer');
    await dialog.getByText('"temperature": 30').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await stage.inspect('register-refused');
    await dialog.getByLabel('Name').fill('Room 1, second');
    await dialog.getByRole('button', { name: 'Register this device' }).click();
    await page.getByRole('heading', { level: 1, name: 'Room 1, second' }).waitFor();
    const id = page.url().split('/').at(-2) ?? '';
    const samples = await world.must('POST', `/v3/devices/${id}/query`, { topic: '*' });
    expect(samples).toMatchObject([{ data: { temperature: 30 } }]);
    await page.getByRole('button', { name: 'Why?' }).click();
    await dialogOf('What happened to the uplink of Room 1, second?')
      .getByText('Nothing is broken')
      .waitFor();
    await page.keyboard.press('Escape');
  });

  test('the connector shows the device of a rejected sender, and registers others', async () => {
    const { page } = stage;
    await sendAs('another');
    await expect.poll(async () => (await refusals()).length, { timeout: 60_000 }).toBe(2);
    await stage.visit(`flows/connectors/${device.connectorId}`);
    await page.getByRole('link', { name: 'Open device' }).waitFor();
    await page.getByRole('button', { name: 'Register this device' }).click();
    await dialogOf('Register another').getByLabel('Name').waitFor();
    await page.keyboard.press('Escape');
  });

  test('rule, alarm and delivery ask for themselves', async () => {
    const { page, world } = stage;
    receiver = await startReceiver();
    receiver.answering = (_, response) => {
      response.statusCode = 400;
      response.end('never');
    };
    const { workspaceId } = world;
    const alarm = await world.must('POST', '/v3/output-connectors', {
      name: 'Alarm',
      workspaceId,
      type: 'ALARM',
      alarmProperties: { name: 'Hot', severity: 'MAJOR' },
    });
    const rule = await world.must('POST', '/v3/rules', {
      name: 'Hot',
      workspaceId,
      inputs: [{ id: device.id, type: 'DEVICE' }],
      logic: {
        type: 'COMPARISON',
        dataSources: [
          {
            id: 's1',
            inputIds: [device.id],
            dataTopic: 'default',
            dataKey: 'temperature',
            variableName: 'temperature',
            valueType: 'NUMERICAL',
          },
        ],
        logicBlocks: [
          {
            conditions: [
              {
                operandFirst: { type: 'DATA_SOURCE', dataSourceId: 's1' },
                operator: 'GT',
                operandSecond: { type: 'CONSTANT', value: 25 },
                order: 0,
              },
            ],
            actionIds: [alarm.id],
          },
        ],
      },
      actions: [{ id: alarm.id }],
    });
    const output = await world.must('POST', '/v3/output-connectors', {
      name: 'Hook',
      workspaceId,
      type: 'WEBHOOK',
      scope: 'DATA_FLOW',
      webhookProperties: {
        uri: `${receiver.url}/hook`,
        method: 'POST',
        contentType: 'JSON',
        authType: 'NONE',
      },
    });
    const path = `/v3/data-flows/${device.dataFlowId}`;
    await world.must('PUT', path, {
      ...(await world.must('GET', path)),
      outputConnectors: [
        { id: '0900000000000000', topic: '*' },
        { id: output.id, topic: '*' },
      ],
    });
    await world.capture(device, { temperature: 30 });
    const open = async () =>
      (await world.must('GET', `/v3/alarms?workspaceId=${workspaceId}`)).content[0];
    await expect.poll(open, { timeout: 60_000 }).toBeDefined();
    const dead = `/v3/output-connectors/${output.id}/deliveries?state=DEAD`;
    await expect
      .poll(async () => (await world.must('GET', dead)).content.length, { timeout: 60_000 })
      .toBe(1);
    await stage.visit(`alarms/${(await open()).id}`);
    await page.getByRole('button', { name: 'Why?' }).click();
    const dialog = dialogOf('What happened to the uplink of Room 1?');
    await dialog.getByRole('button', { name: 'Alarm OK' }).waitFor();
    await dialog.getByText('The delivery failed').waitFor();
    await page.keyboard.press('Escape');

    await stage.visit(`outputs/${output.id}/deliveries`);
    await page
      .getByRole('button', { name: /^Delivery details/ })
      .first()
      .click();
    await page.getByRole('button', { name: 'Why?' }).click();
    await dialog.getByText('The delivery failed').waitFor();
    await dialog.getByRole('link', { name: 'Open output' }).waitFor();
    await page.keyboard.press('Escape');

    await world.capture(device, { temperature: 1 });
    const runs = async () => (await world.must('GET', `/v3/rules/${rule.id}/runs`)).content;
    await expect.poll(async () => (await runs()).length, { timeout: 60_000 }).toBe(2);
    await stage.visit(`rules/${rule.id}/edit`);
    await page.getByRole('button', { name: 'Why?' }).click();
    await dialog.getByText('The condition was not met').waitFor();
    await dialog.getByText(/no condition was met/).waitFor();
    await page.keyboard.press('Escape');
    await receiver.close();
  });

  test('a failed decoder opens at its line, with the payload that it failed on', async () => {
    const { page, world } = stage;
    const lines = ['function consume(event) {', '  const reading = event.data;'];
    const script = [...lines, ...Array(40).fill('  // ...'), '  reading.missing.value;', '}'];
    const failing = await world.device({ name: 'Room 2', script: script.join('\n') });
    await world.capture(failing, { temperature: 31.25 });
    await stage.visit(`devices/${failing.id}/overview`);
    await page.getByRole('button', { name: 'Why?' }).click();
    const dialog = dialogOf('What happened to the uplink of Room 2?');
    await dialog.getByText('The decoder failed', { exact: true }).waitFor();
    await dialog.getByRole('link', { name: 'Open decoder' }).click();
    await page.waitForURL(/\/decoder\?.*line=43/);
    await expect.poll(() => page.getByLabel(/^Payload/).inputValue()).toContain('31.25');
    // It was run at once: the line is marked and in sight.
    const marked = page.locator('.cm-lintRange-error');
    await marked.waitFor();
    await expect.poll(() => marked.textContent()).toBe('value;');
    await stage.inspect('why-decoder');
  });

  test('on a phone, in German', async () => {
    const { page } = stage;
    await page.setViewportSize({ width: 390, height: 844 });
    await page.evaluate(() => localStorage.setItem('language', 'de'));
    await stage.visit(`devices/${device.id}/overview`);
    await page.getByRole('button', { name: /^(Why|Warum)\?$/ }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('list').waitFor();
    await dialog.getByRole('button', { name: 'Angekommen In Ordnung' }).click();
    await dialog.getByText('Über HTTP ist ein Uplink mit 17 Bytes angekommen.').waitFor();
    await dialog.getByRole('button', { name: 'Decodiert In Ordnung' }).click();
    await dialog.getByText('Aus dem Payload wurde 1 Messwert.').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await expect.poll(() => pageWidth(page)).toBeLessThanOrEqual(390);
  });
});
