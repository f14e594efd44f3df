// First run in a real browser: four answers to a first live reading, a pasted payload, and the demo.
import { expect, test } from 'vitest';
import { startWorld } from '../../tests/world/world.ts';
import { axeFindings, pageWidth } from './chromium.ts';
import { journey } from './journey.ts';

const options = { isSignedOut: true, start: () => startWorld() };

journey('welcome', options, (stage) => {
  const fillIn = async () => {
    const { page, world } = stage;
    await page.goto(`${world.base}/sign-in`);
    await page.getByLabel('Email').fill('admin@localhost');
    await page.getByLabel('Password').fill('correct horse battery staple');
    await page.keyboard.press('Enter');
  };
  const open = () => stage.page.locator('[aria-current="step"]');
  const begins = (title: string) =>
    open().getByRole('heading', { name: title, exact: true }).waitFor();

  test('the sign-in leads here until there is a sample, and Enter four times sends one', async () => {
    const { page } = stage;
    await fillIn();
    await page.waitForURL(/\/welcome$/);
    await page.getByText('No device at hand?').waitFor();
    await stage.inspect('welcome-1');
    await page.keyboard.press('Enter');
    await begins('Choose a protocol');
    await page.getByText('Disabled on this installation').first().waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await begins('Choose a payload format');
    await stage.inspect('welcome-3');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Listening for Room 1' }).waitFor();
    await page.getByText('-d \'{"temperature":21.5}\'').waitFor();
    await stage.inspect('welcome-4');
    await page.reload();
    await page.getByRole('heading', { name: 'Listening for Room 1' }).waitFor();
    await page.getByRole('button', { name: 'Send a test sample' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByText('Room 1 is online').waitFor();
    await expect.poll(() => page.getByText('21.5').last().innerText()).toContain('21.5');
    await page.getByText('Send another sample to start the chart.').waitFor();
  });

  test('a terminal sends the next one, and the chart begins', async () => {
    const { page, world } = stage;
    const [, path] = /'(http[^']+)'/.exec(await page.locator('code').first().innerText()) ?? [];
    const headers = { 'content-type': 'application/json' };
    const body = '{"temperature": 23}';
    const sent = await fetch(path ?? '', { method: 'POST', headers, body });
    expect([sent.status, path?.startsWith(world.base)]).toEqual([201, true]);
    await page.getByRole('img', { name: 'Chart of temperature' }).waitFor();
    await page.getByText('What was created').click();
    await page.getByText(/\/v3\/devices' -H/).waitFor();
    await stage.inspect('welcome-alive');
    await page.getByRole('link', { name: 'Open Room 1' }).waitFor();
    await page.setViewportSize({ width: 390, height: 844 });
    await stage.inspect('welcome-alive-phone');
    await expect.poll(() => pageWidth(page)).toBeLessThanOrEqual(390);
    await page.setViewportSize({ width: 1_440, height: 900 });
    await page.goto(`${world.base}/`);
    await page.waitForURL(/\/w\//);
  });

  test('pasted JSON shows its values and is stored with its schema', async () => {
    const { page, world } = stage;
    await page.goto(`${world.base}/welcome`);
    await page.getByLabel('Name', { exact: true }).fill('Büro <b>2</b>');
    await page.keyboard.press('Enter');
    await begins('Choose a protocol');
    await page.keyboard.press('Enter');
    await page.getByText('Paste a payload').click();
    const payload = page.getByLabel('Payload', { exact: true });
    await payload.fill('hello there');
    await page.getByText('Not valid JSON, hex, or base64').waitFor();
    expect(await page.getByRole('button', { name: 'Continue' }).isDisabled()).toBe(true);
    await payload.fill('{"co2": 412, "air": {"open": true}}');
    await page.getByText('2 values, stored with a schema').waitFor();
    await stage.inspect('welcome-json');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('JSON with a schema').waitFor();
    await page.getByRole('button', { name: 'Send a test sample' }).click();
    await page.getByText('Büro <b>2</b> is online').waitFor();
    const { content } = await world.must('GET', `/v3/assets?workspaceId=${world.workspaceId}`);
    expect(content.map(({ deviceId }: { deviceId: string }) => deviceId).sort()).toEqual([
      'buro-b-2-b',
      'room-1',
    ]);
  });

  test('pasted hex finds the device type whose decoder reads it', async () => {
    const { page, world } = stage;
    const script = (code: string) => ({ code: `function consume(event) { ${code} }` });
    const type = (name: string, code: string) =>
      world.must('POST', '/v3/device-types', {
        name,
        organizationId: world.organizationId,
        meta: { encoding: 'HEX' },
        uplinkScript: script(code),
      });
    const read =
      'emit("sample", { data: { temperature: parseInt(event.data.payloadHex.slice(4), 16) / 10 }, topic: "default" });';
    await type('Acme T1', read);
    await type('Acme X9', 'throw new Error("not mine");');
    await page.goto(`${world.base}/welcome`);
    await page.getByLabel('Name', { exact: true }).press('Enter');
    await begins('Choose a protocol');
    await page.keyboard.press('Enter');
    await page.getByText('Paste a payload').click();
    await page.getByLabel('Payload', { exact: true }).fill('01 67 00 D7');
    await page.getByLabel('Search device types').fill('acme');
    await page.getByText('temperature 21.5').waitFor();
    await page.getByText("can't decode this payload").waitFor();
    await stage.inspect('welcome-hex');
    await page.getByRole('radio', { name: /Acme T1/, checked: true }).waitFor();
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('Decoder “Acme T1”').waitFor();
    // The name of the first device is taken, so its id gets a number.
    await page.getByText('deviceId=room-1-2').first().waitFor();
    await page.getByRole('button', { name: 'Send a test sample' }).click();
    await page.getByText('Room 1 is online').waitFor();
  });

  test('the demo fills an own workspace', async () => {
    const { page, world } = stage;
    await page.goto(`${world.base}/welcome`);
    await page.getByRole('button', { name: 'Load demo data' }).click();
    await page.getByText(/\d+ devices, [\d.,\u202fk M]+ samples so far/).waitFor();
    await stage.inspect('welcome-demo');
    await page.getByRole('link', { name: 'Open the demo' }).click();
    await page.waitForURL(/\/w\//);
    expect(page.url()).not.toContain(world.workspaceId);
  });
});
