// Calculated keys in a real browser: a formula is tried on history, added to the type, and history is calculated again.
import { expect, test } from 'vitest';
import { startWorld, type TestDevice, type World } from '../../tests/world/world.ts';
import { axeFindings } from './chromium.ts';
import { journey } from './journey.ts';

const minuteMs = 60_000;
let device: TestDevice;
let world: World;

async function prepare(started: World): Promise<void> {
  world = started;
  device = await world.device({ name: 'Room', schemas: {} });
  const now = Date.now();
  const samples = Array.from({ length: 30 }, (_, at) => ({
    deviceId: device.id,
    timestamp: new Date(now - (30 - at) * minuteMs).toISOString(),
    data: { temperature: 20 + at / 10, humidity: 50 },
  }));
  await world.must('POST', '/v3/samples/bulk', samples);
}

const stored = () => world.must('POST', `/v3/devices/${device.id}/query`, { limit: 8_000 });

journey('calculated keys', { start: startWorld, prepare }, (stage) => {
  const row = (key: string) => stage.page.getByRole('row', { name: new RegExp(`^${key} `) });

  test('contract 38: a key is added, and an error stands at its place', async () => {
    const { page } = stage;
    await stage.visit(`types/${device.deviceTypeId}/calculated`);
    await page.getByText('No calculated keys yet').waitFor();
    await page.getByRole('button', { name: 'Add key' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add key' });
    await dialog.getByLabel('Key', { exact: true }).fill('dewPoint');
    await dialog.getByLabel('Formula').fill('dewPoint(temperature, missing()');
    await dialog.getByLabel('Unit').fill('°C');
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await dialog.getByText(/\^$/).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await dialog.getByLabel('Formula').fill('round(dewPoint(temperature, humidity), 1)');
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await row('dewPoint').waitFor();
    await expect.poll(() => row('dewPoint').innerText()).toContain('°C');
    expect(await axeFindings(page)).toEqual([]);
  });

  test('keys are ordered and edited, and the platform refuses a cycle at its row', async () => {
    const { page } = stage;
    await page.getByRole('button', { name: 'Add key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Key', { exact: true }).fill('spread');
    await dialog.getByLabel('Formula').fill('temperature - spread');
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await page.getByRole('button', { name: 'Move spread up' }).click();
    await page.getByRole('button', { name: 'Save keys' }).click();
    await row('spread')
      .getByText(/itself/)
      .waitFor();
    expect(stage.takeComplaints()).toEqual([expect.stringContaining('400 (Bad Request)')]);
    await row('spread').getByRole('button', { name: 'spread', exact: true }).click();
    await dialog.getByLabel('Formula').fill('temperature - dewPoint');
    await dialog.getByRole('button', { name: 'Apply' }).click();
    const rows = page.getByRole('group', { name: 'Calculated keys' }).getByRole('row');
    expect((await rows.allInnerTexts()).slice(1).map((text) => text.split(/\s/)[0])).toEqual([
      'spread',
      'dewPoint',
    ]);
  });

  test('a preview shows what would change, and a recalculation changes it', async () => {
    const { page } = stage;
    expect(await page.getByRole('button', { name: 'Recalculate…' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByText('30 of 30 samples would change').waitFor();
    const examples = page.getByRole('list', { name: 'Examples' }).getByRole('listitem');
    await expect.poll(() => examples.count()).toBe(20);
    await expect.poll(() => examples.first().innerText()).toContain('"dewPoint": 9.3');
    expect(await axeFindings(page)).toEqual([]);
    expect((await stored())[0].data).not.toHaveProperty('dewPoint');
    await page.getByRole('button', { name: 'Save keys' }).click();
    await page.getByText('Calculated keys saved').waitFor();
    await page.getByRole('button', { name: 'Recalculate…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Recalculate samples' });
    await dialog.getByText('Stored samples', { exact: true }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Recalculate' }).click();
    await page.getByText('30 samples of 1 device changed').waitFor();
    const samples = await stored();
    expect(samples.at(-1).data).toMatchObject({ temperature: 20, dewPoint: 9.3, spread: 10.7 });
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByText('0 of 30 samples would change').waitFor();
    // The address keeps the operation.
    await page.reload();
    await page.getByText('30 samples of 1 device changed').waitFor();
  });
});
