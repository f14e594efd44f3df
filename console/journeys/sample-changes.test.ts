// Deletion and correction of samples in a real browser: counts before, progress, and the mark of a corrected value.
import { expect, test } from 'vitest';
import { startWorld, type TestDevice, type World } from '../../tests/world/world.ts';
import { axeFindings } from './chromium.ts';
import { journey } from './journey.ts';

const minuteMs = 60_000;
let device: TestDevice;
let world: World;

async function prepare(started: World): Promise<void> {
  world = started;
  device = await world.device({ name: 'Probe' });
  const now = Date.now();
  const samples = Array.from({ length: 60 }, (_, at) => ({
    deviceId: device.id,
    timestamp: new Date(now - (60 - at) * minuteMs).toISOString(),
    data: { temperature: at < 30 ? 60 : 20 },
  }));
  await world.must('POST', '/v3/samples/bulk', samples);
}

const stored = () => world.must('POST', `/v3/devices/${device.id}/query`, { limit: 8_000 });

journey('sample changes', { start: startWorld, prepare }, (stage) => {
  test('contract 38: a range is deleted after its samples were counted', async () => {
    const { page } = stage;
    const samples = await stored();
    const [from, to] = [samples[59].timestamp, samples[29].timestamp];
    const range = `from=${encodeURIComponent(from)}&to=${encodeURIComponent(to)}`;
    await stage.visit(`devices/${device.id}/explore?${range}`);
    await page.getByRole('button', { name: 'Delete samples…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete samples' });
    await dialog.getByText(/Deletes 30 samples of topic default between/).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await dialog.getByLabel('Reason').fill('probe lay in the sun');
    await dialog.getByRole('button', { name: 'Delete 30 samples' }).click();
    await page.getByText('30 samples deleted').waitFor();
    expect(await stored()).toHaveLength(30);
  });

  test('contract 38: a sample is corrected, old and new side by side, and marked', async () => {
    const { page } = stage;
    await stage.visit(`devices/${device.id}/live`);
    await page.getByRole('list', { name: 'Samples' }).locator('summary').first().click();
    await page.getByRole('button', { name: 'Correct…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Correct sample' });
    await dialog.getByLabel('Corrected').fill('{ "temperature": 21.5 }');
    await dialog.getByLabel('Reason').fill('unit');
    expect(await axeFindings(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Correct', exact: true }).click();
    await page.getByText('Sample corrected').waitFor();
    await page.getByRole('img', { name: /^Corrected by .*: unit$/ }).waitFor();
    const [newest] = await stored();
    expect(newest.data).toEqual({ temperature: 21.5 });
  });
});
