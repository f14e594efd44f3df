// Group calculations in a real browser: created with a preview, its progress, changed, refused at its field, and deleted.
import { expect, test } from 'vitest';
import { startWorld } from '../../tests/world/world.ts';
import { pageWidth } from './chromium.ts';
import { journey } from './journey.ts';

journey('calculations', { start: startWorld }, (stage) => {
  test('a calculation is created after a preview, and shows how far it is', async () => {
    const { page, world } = stage;
    const tag = await world.must('POST', '/v3/tags', {
      name: 'Meters',
      workspaceId: world.workspaceId,
    });
    for (const energy of [2, 3]) {
      const meter = await world.device({ tags: [{ id: tag.id }] });
      await world.capture(meter, { energy });
    }
    await world.device({ name: 'Building A' });
    await stage.visit('rules');
    await page.getByRole('link', { name: 'Calculations' }).click();
    await page.getByText('No calculations yet').waitFor();
    await stage.inspect('calculations-empty');
    await page.getByRole('link', { name: 'Create calculation' }).first().click();
    await page.getByLabel('Name', { exact: true }).fill('Energy <b>');
    await page.getByLabel('Tag', { exact: true }).selectOption('Meters');
    await page.getByRole('combobox', { name: 'Target device' }).fill('Building');
    await page.getByRole('option', { name: /Building A/ }).click();
    await page.getByLabel('Data key of the target').fill('energy');
    await page.getByLabel('Data key', { exact: true }).fill('energy');
    await page.getByLabel('In each device').selectOption('LAST');
    await page.getByLabel('Over the devices').selectOption('Sum');
    await page.getByRole('button', { name: 'Compute preview' }).click();
    await page.getByText('2 devices').waitFor();
    const row = page.getByRole('region', { name: 'Computed periods' }).getByRole('row').nth(1);
    await row.getByText('5', { exact: true }).waitFor();
    await stage.inspect('calculation-new');
    await page.getByRole('button', { name: 'Create calculation' }).click();
    await page.getByRole('heading', { level: 1, name: 'Energy <b>' }).waitFor();
    await page.getByText('Computed to').waitFor();
    await stage.inspect('calculation');
  });

  test('what is refused is shown at its field, and a change is saved', async () => {
    const { page, world } = stage;
    await page.getByRole('button', { name: 'Add result' }).click();
    await page.getByLabel('Data key of the target').last().fill('share');
    await page.getByLabel('Made of').last().selectOption('A formula over other results');
    await page.getByLabel('Formula', { exact: true }).fill('none / 2');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('none is not a key of an output').first().waitFor();
    expect(stage.takeComplaints().join()).toContain('status of 400');
    await page.getByLabel('Formula', { exact: true }).fill('energy / 2');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const id = page.url().split('/').at(-1) ?? '';
    const outputs = async () => (await world.must('GET', `/v3/calculations/${id}`)).outputs;
    await expect
      .poll(outputs, { timeout: 60_000 })
      .toEqual([
        expect.objectContaining({ key: 'energy', across: 'SUM' }),
        { key: 'share', expression: 'energy / 2' },
      ]);
    await page.getByRole('button', { name: 'Save', exact: true, disabled: true }).waitFor();
  });

  test('it is in the list, fits a phone, and is deleted', async () => {
    const { page } = stage;
    await page.setViewportSize({ width: 390, height: 844 });
    await stage.inspect('calculation-phone');
    await expect.poll(() => pageWidth(page)).toBeLessThanOrEqual(390);
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete Energy <b>?' });
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('No calculations yet').waitFor();
  });
});
