// Explore as a person uses it: the consumption of a counter, the range that is usual, and when a battery is empty.
import { expect, test } from 'vitest';
import { startWorld, type TestDevice, type World } from '../../tests/world/world.ts';
import { journey } from './journey.ts';

const hourMs = 3_600_000;
const days = 35;
let device: TestDevice;

journey('expected range', { start: startWorld, prepare }, (stage) => {
  const range = (back: number): string => {
    const to = Math.floor(Date.now() / hourMs) * hourMs;
    const at = (ms: number): string => new Date(ms).toISOString();
    return `from=${at(to - back * 24 * hourMs)}&to=${at(to)}`;
  };
  const explored = (keys: readonly string[]): string =>
    `devices/${device.id}/explore?keys=${encodeURIComponent(JSON.stringify(keys))}`;

  test('shows the increase of a counter by day, and how much of the time is covered', async () => {
    const { page } = stage;
    await stage.visit(`${explored(['energy'])}&${range(4)}&bucket=P1D`);
    await page.getByLabel('Aggregation').selectOption({ label: 'Increase (counter)' });
    await page.getByText(/Samples cover \d+ % of the time shown/).waitFor();
    // One kilowatt hour per hour.
    await page.getByRole('cell', { name: '24', exact: true }).first().waitFor();
    expect(page.url()).toContain('acc=INCREASE');
  });

  test('draws the expected range and says when the battery is empty', async () => {
    const { page } = stage;
    await stage.visit(`${explored(['battery'])}&${range(14)}&bucket=PT1H`);
    const asked = page.waitForResponse(/query\/expected/);
    await page.getByLabel('Expected range').selectOption({ label: 'High sensitivity' });
    const answer = await (await asked).json();
    expect(answer.method).toBe('HOUR_OF_WEEK');
    await page.getByLabel('Forecast to value').fill('0');
    await page.getByText(/^Empty about .+ \(.+ to .+\)$/).waitFor();
    await page.locator('canvas').waitFor();
    await stage.inspect('device-expected-range');
    await page.getByLabel('Forecast to value').fill('90');
    await page.getByText('No forecast: the value moves away from the target').waitFor();
  });
});

async function prepare(world: World): Promise<void> {
  device = await world.device({ name: 'Meter' });
  const now = Math.floor(Date.now() / hourMs) * hourMs;
  const rows = Array.from({ length: days * 24 }, (_, i) => {
    const hour = days * 24 - i;
    const daily = Math.sin((i / 12) * Math.PI) + ((i * 7_919) % 13) / 10;
    return {
      deviceId: device.id,
      timestamp: new Date(now - hour * hourMs).toISOString(),
      data: { energy: 1_000 + i, battery: 30 + hour / 24 + daily },
    };
  });
  for (let at = 0; at < rows.length; at += 500)
    await world.must('POST', '/v3/samples/bulk', rows.slice(at, at + 500));
}
