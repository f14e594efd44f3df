// Workspace settings in a real browser: every tab, edits that are kept, conflicts, and what is refused.
import { expect, test } from 'vitest';
import { startWorld, type World } from '../../tests/world/world.ts';
import { axeFindings, pageWidth } from './chromium.ts';
import { journey } from './journey.ts';

let tagId = '';

async function prepare(world: World): Promise<void> {
  const { workspaceId } = world;
  const tag = { workspaceId, name: 'Roof <i>', color: '#3456BF' };
  ({ id: tagId } = await world.must('POST', '/v3/tags', tag));
  const script = 'function consume(event) { emit("sample", { data: event.data }); }';
  const device = await world.device({ name: 'Meter 1', tags: [{ id: tagId }], script });
  await world.capture(device, { temperature: 21.5 });
  const timestamp = new Date(Date.now() - 200 * 86_400_000).toISOString();
  const [old] = [await world.device({ name: 'Old' })];
  await world.capture(old, { temperature: 19 }, { timestamp });
}

journey('workspace settings', { start: startWorld, prepare }, (stage) => {
  const settings = async () => {
    const { world } = stage;
    return world.must('GET', `/v3/workspaces/${world.workspaceId}`);
  };
  const save = () =>
    stage.save('/v3/workspaces/', () =>
      stage.page.getByRole('button', { name: 'Save', exact: true }).click(),
    );

  test('the name and zone are changed; edits survive a reload, and another save is not lost', async () => {
    const { page, world } = stage;
    await stage.visit('');
    await page.getByRole('link', { name: 'Settings', exact: true }).click();
    await page.waitForURL(/\/settings\/general$/);
    await page.getByLabel('Name', { exact: true }).fill('Campus <b>');
    await page.getByLabel('Time zone').selectOption('Europe/Zurich');
    await page.reload();
    await expect
      .poll(() => page.getByLabel('Name', { exact: true }).inputValue())
      .toBe('Campus <b>');
    await stage.inspect('settings-general');
    const { id, version } = await settings();
    await world.must('PUT', `/v3/workspaces/${id}`, { id, version, description: 'of another' });
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('button', { name: 'Overwrite' }).waitFor();
    expect(stage.takeComplaints()).toEqual([expect.stringContaining('409')]);
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Load their version' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Campus <b>');
    await page.getByLabel('Time zone').selectOption('Europe/Zurich');
    await save();
    expect(await settings()).toMatchObject({
      name: 'Campus <b>',
      description: 'of another',
      settings: { timezone: 'Europe/Zurich' },
    });
    await page.getByRole('option', { name: 'Campus <b>' }).first().waitFor({ state: 'attached' });
  });

  test('a week is set by keyboard, numbers and dragging', async () => {
    const { page } = stage;
    await page.getByRole('link', { name: 'Working hours' }).click();
    await page.getByRole('checkbox', { name: /Limit occupancy to working hours/ }).check();
    await page.getByRole('button', { name: 'Add hours on Monday' }).click();
    const end = page.getByRole('slider', { name: 'Monday, end' });
    await end.focus();
    await page.keyboard.press('PageUp');
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => end.getAttribute('aria-valuetext')).toBe('17:15');
    await page.getByRole('textbox', { name: 'Monday, from' }).fill('07:10');
    await page.getByRole('button', { name: 'Copy Monday to all weekdays' }).click();
    const track = page.locator('[data-day="SATURDAY"]');
    const box = (await track.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
    const at = (hour: number) => box.x + (box.width * hour) / 24;
    const middle = box.y + box.height / 2;
    await page.mouse.move(at(9.1), middle);
    await page.mouse.down();
    await page.mouse.move(at(12.05), middle, { steps: 4 });
    await page.mouse.up();
    await page.getByLabel('Public holidays').selectOption('CH');
    await page.getByLabel('Region').fill('nowhere');
    await page.getByRole('button', { name: 'Add date' }).click();
    await page.getByLabel('Date', { exact: true }).fill('2026-12-24');
    await page.getByLabel('Name', { exact: true }).fill('Party');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText(/CH-ZH/).first().waitFor();
    expect(stage.takeComplaints()).toEqual([expect.stringContaining('400')]);
    await page.getByLabel('Region').fill('zh');
    // What has scrolled below the bar is no target.
    await page.evaluate(() => scrollTo(0, 0));
    await stage.inspect('settings-hours');
    await save();
    const workday = [{ from: '07:10', to: '17:15' }];
    expect((await settings()).settings).toMatchObject({
      workingHours: {
        enabled: true,
        days: { MONDAY: workday, FRIDAY: workday, SATURDAY: [{ from: '09:00', to: '12:00' }] },
      },
      holidayRegion: 'CH-ZH',
      holidays: [{ date: '2026-12-24', name: 'Party' }],
    });
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await axeFindings(page)).toEqual([]);
    await expect.poll(() => pageWidth(page)).toBeLessThanOrEqual(390);
    await page.setViewportSize({ width: 1_440, height: 900 });
  });

  test('contract 38: implausible times can be stored as the time of receipt', async () => {
    const { page, world } = stage;
    await stage.visit('settings/retention');
    await page.getByLabel('Stored time').selectOption('Time of receipt');
    await page.getByText('Changes saved').waitFor();
    const { settings } = await world.must('GET', `/v3/workspaces/${world.workspaceId}`);
    expect(settings.implausibleTimes).toBe('RECEIPT');
  });

  test('a shorter retention asks first', async () => {
    const { page } = stage;
    await stage.visit('settings/retention');
    await page.getByText(/Stored: 2 samples/).waitFor();
    await page.getByLabel('Days').fill('0');
    await page.getByText('Enter a whole number from 1 to 36500, or leave empty').waitFor();
    await page.getByRole('button', { name: '90 days' }).click();
    await page.getByText(/This deletes about 1 sample \(\d+/).waitFor();
    await stage.inspect('settings-retention');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('heading', { name: 'Keep samples for only 90 days?' }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Delete older samples' }).click();
    await expect.poll(async () => (await settings()).settings.retentionDays).toBe(90);
  });

  test('usage compares workspaces, types and limits', async () => {
    const { page } = stage;
    await stage.visit('settings/usage');
    await page.getByRole('cell', { name: 'Campus <b>' }).waitFor();
    await page.getByRole('link', { name: 'Meter 1' }).waitFor();
    await page.getByRole('heading', { name: 'Quotas' }).waitFor();
    await stage.inspect('settings-usage');
  });

  test('tags are created, renamed, colored and deleted with the count of their devices', async () => {
    const { page, world } = stage;
    await page.getByRole('link', { name: 'Tags' }).click();
    await page.getByRole('button', { name: 'Edit Roof <i>' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Roof 2');
    await page.getByRole('radio', { name: '#12703a' }).check();
    await stage.inspect('settings-tag');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('cell', { name: 'Roof 2', exact: true }).waitFor();
    expect(await world.must('GET', `/v3/tags/${tagId}`)).toMatchObject({
      name: 'Roof 2',
      color: '#12703a',
      taggedDevices: 1,
    });
    await page.getByRole('button', { name: 'Create tag' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Cellar');
    await page.keyboard.press('Enter');
    await page.getByRole('cell', { name: 'Cellar', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Delete Roof 2' }).click();
    await page.getByText("Removes it from 1 device. This can't be undone.").waitFor();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('Roof 2 deleted').waitFor();
    expect((await world.call('GET', `/v3/tags/${tagId}`)).status).toBe(404);
  });

  test('a custom field with values is deleted only after a second question', async () => {
    const { page, world } = stage;
    await page.getByRole('link', { name: 'Custom fields' }).click();
    await page.getByText("Custom fields store what a device doesn't send").waitFor();
    await page.getByRole('button', { name: 'Create custom field' }).first().click();
    await page.getByLabel('Name', { exact: true }).fill('Floor');
    await page.getByLabel('Options').fill('ground\nfirst\n\nfirst');
    await stage.inspect('settings-field');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('cell', { name: 'ground, first' }).waitFor();
    const { workspaceId } = world;
    const metas = await world.must('GET', `/v3/custom-fields/meta?workspaceId=${workspaceId}`);
    const assets = await world.must('GET', `/v3/assets?workspaceId=${workspaceId}`);
    const [{ id, version, name }] = assets.content;
    const customFields = [{ fieldMetaId: metas.content[0].id, STRING: 'first' }];
    await world.must('PUT', `/v3/devices/${id}`, { id, version, name, customFields });
    await page.getByRole('button', { name: 'Delete Floor' }).click();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('button', { name: 'Delete field and values' }).waitFor();
    expect(stage.takeComplaints()).toEqual([expect.stringContaining('409')]);
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Delete field and values' }).click();
    await page.getByText('Floor deleted').waitFor();
  });

  test('a member of this workspace only is invited, changed and removed', async () => {
    const { page } = stage;
    await page.getByRole('navigation', { name: 'Workspace settings' }).getByText('Members').click();
    await page.getByText('No workspace-only members').waitFor();
    await page.getByRole('button', { name: 'Invite member' }).click();
    await page.getByLabel('Email').fill('grace@example.org');
    await page.getByRole('button', { name: 'Invite', exact: true }).click();
    await page.getByText('/invitations/').waitFor();
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByLabel('Role of grace@example.org').selectOption('EDITOR');
    await page.getByText('grace@example.org is now Editor').waitFor();
    await stage.inspect('settings-members');
    await page.getByRole('button', { name: 'Remove grace@example.org' }).click();
    await page.getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByText('grace@example.org removed').waitFor();
  });

  test('a workspace is created in the side bar, and deleted by its name while it is empty', async () => {
    const { page, world } = stage;
    await stage.visit('settings/general');
    await page.getByRole('button', { name: 'Delete workspace' }).click();
    await page.getByLabel(/Type “Campus/).fill('Campus <b>');
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page
      .getByRole('alert')
      .getByText(/2 devices/)
      .waitFor();
    expect(stage.takeComplaints()).toEqual([expect.stringContaining('409')]);
    await page.keyboard.press('Escape');
    await page.locator('nav select').selectOption({ label: 'Create workspace…' });
    await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('Second site');
    expect(await axeFindings(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await page.getByText('Second site created').waitFor();
    await page.getByRole('link', { name: 'Send your first sample' }).waitFor();
    expect(page.url()).not.toContain(world.workspaceId);
    await page.getByRole('link', { name: 'Settings', exact: true }).click();
    await page.getByRole('button', { name: 'Delete workspace' }).click();
    await page.getByLabel('Type “Second site” to confirm').fill('Second site');
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('Second site deleted').waitFor();
    await page.waitForURL(new RegExp(world.workspaceId));
  });
});
