// New devices in a real browser: one by a form, many from the file of a vendor.
import { expect, test } from 'vitest';
import { startWorld } from '../../tests/world/world.ts';
import { axeFindings } from './chromium.ts';
import { journey } from './journey.ts';

const vendorFile = [
  'DevEUI;Label;Online Timeout',
  '0102030405060701;Room 1;3600',
  '0102030405060702;;3600',
  '0102030405060703;Room 3;soon',
  '0102030405060704;Room 4;3600',
  '',
].join('\r\n');

journey('new devices', { start: startWorld }, (stage) => {
  test('a device is registered, and the command shown sends its first reading', async () => {
    const { page } = stage;
    await stage.visit('devices');
    await page.getByText('No device yet').waitFor();
    await page.getByRole('link', { name: 'Register' }).first().click();
    await page.getByLabel('Name', { exact: true }).fill('Boiler room');
    await page.getByLabel('Device id').fill('boiler-1');
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Register' }).click();
    await page.getByText('Boiler room is registered').waitFor();
    const command = await page.getByText(/^curl /).innerText();
    expect(await axeFindings(page)).toEqual([]);
    const address = /'(http[^']+)'/.exec(command)?.[1] ?? '';
    const headers = { 'content-type': 'application/json' };
    const sent = await fetch(address, { method: 'POST', headers, body: '{"temperature":21.5}' });
    expect(sent.status).toBe(201);
    await page.getByRole('link', { name: 'Back to the list' }).click();
    await page.getByRole('row').filter({ hasText: 'Boiler room' }).getByText('21.5').waitFor();
  });

  test('a file is checked first, repaired in place, and only then imported', async () => {
    const { page } = stage;
    await page.getByLabel('Name or id').fill('');
    await page.getByRole('link', { name: 'Import' }).click();
    const buffer = Buffer.from(vendorFile);
    await page
      .getByLabel('Choose a CSV file')
      .setInputFiles({ name: 'vendor.csv', mimeType: 'text/csv', buffer });
    await page.getByLabel('Data flow of all devices').selectOption({ label: 'Boiler room' });
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Check' }).click();
    await page.getByText('2 devices are ready').waitFor();
    await page.getByText('2 lines need a repair').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    expect(await deviceNames()).toEqual(['Boiler room']);
    await page.getByRole('button', { name: 'Import 2 devices' }).click();
    await page.getByText('2 imported', { exact: true }).first().waitFor();
    await page.getByLabel('Name of line 3').fill('Room 2');
    await page.getByLabel('Online time-out in seconds of line 4').fill('7200');
    await page.getByRole('button', { name: 'Check these again' }).click();
    await page.getByRole('button', { name: 'Import 2 devices' }).click();
    await page.getByText('Every line is imported.').waitFor();
    expect(await deviceNames()).toEqual(['Boiler room', 'Room 1', 'Room 2', 'Room 3', 'Room 4']);
    await page.getByRole('link', { name: 'Show the devices' }).click();
    await page.getByText('5 devices').waitFor();
  });

  async function deviceNames(): Promise<string[]> {
    const { content } = await stage.world.must(
      'GET',
      `/v3/assets?workspaceId=${stage.world.workspaceId}`,
    );
    return (content as { name: string }[]).map(({ name }) => name).sort();
  }
});
