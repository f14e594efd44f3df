// List of devices in a real browser: find, sort, select, tag, undo, export, delete, by mouse and keyboard.
import { readFileSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import { startWorld, type TestDevice, type World } from '../../tests/world/world.ts';
import { axeFindings } from './chromium.ts';
import { journey } from './journey.ts';

let heard: TestDevice;

async function prepare(world: World): Promise<void> {
  heard = await world.device({ name: 'Boiler room' });
  await world.device({ name: 'Attic' });
  await world.device({ name: 'Cellar' });
  for (const temperature of [20.5, 21.5])
    expect((await world.capture(heard, { temperature, batteryLevel: 21 })).status).toBe(201);
  await vi.waitFor(
    async () => {
      const { uplinkMetrics } = await world.must('GET', `/v3/devices/${heard.id}`);
      expect(uplinkMetrics).not.toBeNull();
    },
    { timeout: 60_000 },
  );
}

journey('devices', { start: startWorld, prepare }, (stage) => {
  const row = (name: string) => stage.page.getByRole('row').filter({ hasText: name });

  test('shows state, id, age and newest value of each device', async () => {
    const { page } = stage;
    await stage.visit('devices');
    await row('Boiler room').getByText('21.5').waitFor();
    await expect.poll(() => page.getByText('3 devices').isVisible()).toBe(true);
    await expect.poll(() => row('Boiler room').innerText()).toMatch(/online[\s\S]*(ago|now)/i);
    await expect.poll(() => row('Attic').innerText()).toContain('no uplinks yet');
    const id = row('Attic').getByText(/^physical-/);
    await expect.poll(() => id.evaluate((it) => it.scrollWidth <= it.clientWidth + 1)).toBe(true);
    await row('Attic').hover();
    await row('Attic')
      .getByRole('button', { name: /^Copy / })
      .click();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    expect(copied).toBe(await id.innerText());
    expect(await axeFindings(page)).toEqual([]);
  });

  test('search, state and order are in the address and survive a reload', async () => {
    const { page } = stage;
    await stage.visit('devices');
    await page.getByRole('button', { name: 'Never seen' }).click();
    await page.getByText('2 devices').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('cell');
    await page.getByText('1 device', { exact: true }).waitFor();
    await page.waitForURL(/state=never.*q=cell|q=cell.*state=never/);
    await page.reload();
    await page.getByText('1 device', { exact: true }).waitFor();
    await page.getByLabel('Search by name or ID').fill('boiler');
    await page.getByText('No matching devices').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Clear “boiler”: 2 devices' }).click();
    await row('Cellar').waitFor();
    await stage.visit('devices');
    await page.getByRole('button', { name: 'Last seen' }).click();
    await page.waitForURL(/sort=seen/);
    const first = page.getByRole('row').nth(1);
    await expect.poll(() => first.innerText()).toContain('Boiler room');
  });

  test('keys select and tag; undo takes the tag back', async () => {
    const { page } = stage;
    await stage.visit('devices');
    await row('Attic').waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await page.keyboard.press('Shift+J');
    await page.getByText('2 selected').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Tag', exact: true }).click();
    await page.getByRole('combobox', { name: 'Tag' }).fill('Basel');
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Create and add tag' }).click();
    await page.getByText('2 devices tagged Basel').waitFor();
    expect(await taggedNames()).toEqual(['Attic', 'Boiler room']);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Undone').waitFor();
    expect(await taggedNames()).toEqual([]);
  });

  async function taggedNames(): Promise<string[]> {
    const { content } = await stage.world.must(
      'GET',
      `/v3/assets?workspaceId=${stage.world.workspaceId}`,
    );
    return (content as { name: string; tags: unknown[] }[])
      .filter(({ tags }) => tags.length > 0)
      .map(({ name }) => name)
      .sort();
  }

  test('exports what is shown', async () => {
    const { page } = stage;
    await stage.visit('devices?q=boiler');
    await row('Boiler room').getByText('21.5').waitFor();
    const saving = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export', exact: true }).click();
    const path = await (await saving).path();
    const [head, line] = readFileSync(path, 'utf8').split('\r\n');
    expect(head).toBe('Device,Device ID,id,Status,Last seen,Type,Tags,Value,Unit,Battery');
    expect(line).toContain(`Boiler room,${heard.deviceId},${heard.id},Online,`);
    expect(line).toContain(',21.5,,21');
  });

  test('writes samples of all devices to a file', async () => {
    const { page } = stage;
    await stage.visit('devices');
    await row('Boiler room').waitFor();
    await page.getByRole('button', { name: 'Export samples' }).click();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Start export' }).click();
    await page.getByText('3 of 3 devices, 2 samples').waitFor();
    const saving = page.waitForEvent('download');
    await page.getByRole('link', { name: /^Download/ }).click();
    const path = await (await saving).path();
    expect(readFileSync(path).subarray(0, 4).toString()).toBe('PAR1');
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Delete file' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });

  describe('what cannot be done says why', () => {
    test('a refused move names each device', async () => {
      const { page } = stage;
      await stage.visit('devices');
      await row('Cellar').getByRole('checkbox').click();
      const doomed = (
        await stage.world.must(
          'GET',
          `/v3/assets?search=Cellar&workspaceId=${stage.world.workspaceId}`,
        )
      ).content[0] as { id: string };
      await stage.world.must('DELETE', `/v3/devices/${doomed.id}`);
      await page.getByRole('button', { name: 'Move', exact: true }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Data flow').selectOption({ label: 'Attic' });
      expect(await axeFindings(page)).toEqual([]);
      await dialog.getByRole('button', { name: 'Move', exact: true }).click();
      await page.getByRole('heading', { name: '1 failed' }).waitFor();
      expect(await axeFindings(page)).toEqual([]);
      await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
    });

    test('a filter that the platform refuses shows its message and the request', async () => {
      const { page } = stage;
      const filter = btoa('{"field":"moon","predicate":"EQUALS","values":["1"]}');
      await stage.visit(`devices?filter=${filter.replace(/=+$/, '')}`);
      await page.getByText('Something went wrong').waitFor();
      await expect
        .poll(() => page.getByRole('alert').innerText())
        .toMatch(/unknown field moon[\s\S]*Request ID /);
      expect(await axeFindings(page)).toEqual([]);
      // The browser itself reports the refused request.
      expect(stage.takeComplaints().every((one) => one.includes('400'))).toBe(true);
    });
  });

  test('deletes all that match, after asking', async () => {
    const { page } = stage;
    await stage.visit('devices');
    await row('Attic').getByRole('checkbox').click();
    await page.getByRole('button', { name: 'Select all 2 matches' }).click();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('button', { name: 'Delete 2 devices' }).click();
    await page.getByText('2 devices deleted').waitFor();
    await page.getByText('No devices yet').waitFor();
    expect(await axeFindings(page)).toEqual([]);
  });
});
