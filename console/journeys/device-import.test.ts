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
    await page.getByText('No devices yet').waitFor();
    // Review console: the empty list had each of these links twice.
    await expect.poll(() => page.getByRole('link', { name: 'Import' }).count()).toBe(1);
    await page.getByRole('link', { name: 'Add device' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Boiler room');
    await page.getByLabel('Device ID').fill('boiler-1');
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Add device' }).click();
    await page.getByText('Boiler room added').waitFor();
    const command = await page.getByText(/^curl /).innerText();
    expect(await axeFindings(page)).toEqual([]);
    const address = /'(http[^']+)'/.exec(command)?.[1] ?? '';
    const headers = { 'content-type': 'application/json' };
    const sent = await fetch(address, { method: 'POST', headers, body: '{"temperature":21.5}' });
    expect(sent.status).toBe(201);
    await page.getByRole('link', { name: 'Back to devices' }).click();
    await page.getByRole('row').filter({ hasText: 'Boiler room' }).getByText('21.5').waitFor();
  });

  test('a file is checked first, repaired in place, and only then imported', async () => {
    const { page } = stage;
    await page.getByLabel('Search by name or ID').fill('');
    await page.getByRole('link', { name: 'Import' }).first().click();
    const buffer = Buffer.from(vendorFile);
    await page
      .getByLabel('Select a CSV file')
      .setInputFiles({ name: 'vendor.csv', mimeType: 'text/csv', buffer });
    await page.getByLabel('Default data flow').selectOption({ label: 'Boiler room' });
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Validate' }).click();
    await page.getByText('2 devices ready to import').waitFor();
    await page.getByText('2 rows have errors').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    expect(await deviceNames()).toEqual(['Boiler room']);
    await page.getByRole('button', { name: 'Import 2 devices' }).click();
    await page.getByText('2 devices imported', { exact: true }).first().waitFor();
    await page.getByLabel('Name, row 3').fill('Room 2');
    await page.getByLabel('Online timeout (seconds), row 4').fill('7200');
    await page.getByRole('button', { name: 'Validate again' }).click();
    await page.getByRole('button', { name: 'Import 2 devices' }).click();
    await page.getByText('All rows imported').waitFor();
    expect(await deviceNames()).toEqual(['Boiler room', 'Room 1', 'Room 2', 'Room 3', 'Room 4']);
    await page.getByRole('link', { name: 'View devices' }).click();
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
