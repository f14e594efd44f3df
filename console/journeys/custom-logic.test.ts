// Custom logic in a real browser: created, run on an event, saved, and deleted only when no rule uses it.
import { expect, test } from 'vitest';
import { startWorld } from '../../tests/world/world.ts';
import { pageWidth } from './chromium.ts';
import { journey } from './journey.ts';

journey('custom logic', { start: startWorld }, (stage) => {
  let logicId = '';

  test('a block is created and its script runs on an example event', async () => {
    const { page } = stage;
    await stage.visit('rules');
    await page.getByRole('link', { name: 'Custom logic' }).click();
    await page.getByText('No custom logic yet').waitFor();
    await page.getByRole('button', { name: 'Create custom logic' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'Create custom logic' });
    await dialog.getByLabel('Name', { exact: true }).fill('Heat <b>');
    await dialog.getByRole('button', { name: 'Create custom logic' }).click();
    await page.getByRole('heading', { level: 1, name: 'Heat <b>' }).waitFor();
    logicId = page.url().split('/').at(-1) ?? '';
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByText('action', { exact: true }).waitFor();
    await stage.inspect('custom-logic');
  });

  test('its parts are edited, kept and saved, and a wrong name is refused at its row', async () => {
    const { page, world } = stage;
    await page.getByRole('button', { name: 'Add property', exact: true }).click();
    const rowOf = (name: string) =>
      page.getByRole('listitem').filter({
        has: page.getByRole('button', { name: `Remove property ${name}` }),
      });
    const added = rowOf('property2');
    await added.getByLabel('Type').selectOption('Boolean');
    await added.getByLabel('Default value').selectOption('True');
    await page.reload();
    await page.getByText('Unsaved changes restored').waitFor();
    await page.getByLabel('Variable').last().fill('not a name');
    await page.keyboard.press('Control+s');
    await rowOf('not a name')
      .getByRole('alert')
      .getByText('is not a valid variable name')
      .waitFor();
    expect(stage.takeComplaints().join()).toContain('status of 400');
    await page.getByLabel('Variable').last().fill('isOn');
    await stage.save('/v3/rules/custom/');
    const saved = await world.must('GET', `/v3/rules/custom/${logicId}`);
    expect(saved.properties).toEqual([
      expect.objectContaining({ variableName: 'limit', type: 'NUMERICAL', defaultValue: 25 }),
      expect.objectContaining({ variableName: 'isOn', type: 'BOOLEAN', defaultValue: true }),
    ]);
  });

  test('saving leaves the cursor of the editor where it is', async () => {
    const { page, world } = stage;
    const script = async () => (await world.must('GET', `/v3/rules/custom/${logicId}`)).script;
    await page.getByRole('textbox', { name: 'Script', exact: true }).click();
    await page.keyboard.press('Control+End');
    await page.keyboard.type('// one');
    await page.keyboard.press('Control+s');
    await expect.poll(script, { timeout: 60_000 }).toMatch(/\/\/ one$/);
    await page.getByRole('button', { name: 'Save', exact: true, disabled: true }).waitFor();
    await page.keyboard.type(' two');
    await page.keyboard.press('Control+s');
    await expect.poll(script, { timeout: 60_000 }).toMatch(/\/\/ one two$/);
  });

  test('an unused block is deleted', async () => {
    const { page } = stage;
    await page.getByText('Not used by any rule').last().waitFor();
    await page.setViewportSize({ width: 390, height: 844 });
    await stage.inspect('custom-logic-phone');
    await expect.poll(() => pageWidth(page)).toBeLessThanOrEqual(390);
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete Heat <b>?' });
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('No custom logic yet').waitFor();
  });
});
