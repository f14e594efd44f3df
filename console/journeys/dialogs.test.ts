// Dialogs of every page: the first field has the focus, which goes back to what opened the dialog.
import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { startWorld, type World } from '../../tests/world/world.ts';
import { addressOf, goTo, type PageIds } from './every-page.ts';
import { makeRecords, plainWords } from './hostile-records.ts';
import { journey } from './journey.ts';

let ids: PageIds;

const prepare = async (world: World) => {
  const { organizationId, workspaceId } = world;
  const records = await makeRecords(world, plainWords);
  const dashboardId = await dashboardOf(world, records.ids['deviceId'] ?? '');
  ids = { ...records.ids, organizationId, workspaceId, dashboardId };
};

const longTitle = 'Temperature and humidity of the meeting room on floor 2';

/** With every tile that has dialogs of its own, under titles that a phone has no room for. */
async function dashboardOf(world: World, deviceId: string): Promise<string> {
  const series = [{ deviceId, topic: 'default', dataKey: 'temperature', unit: '°C' }];
  const place = { x: 0, y: 0, width: 6, height: 4 };
  const { id } = await world.must('POST', '/v3/dashboards', {
    workspaceId: world.workspaceId,
    name: `Dashboard of the ${longTitle.toLowerCase()}`,
    configuration: {
      schema: 'heliograph-dashboard',
      version: 2,
      variables: [{ name: 'room', kind: 'DEVICE', default: deviceId }],
      tiles: [
        { ...place, id: 'chart', kind: 'line', title: longTitle, series },
        { ...place, x: 6, id: 'value', kind: 'value', title: 'Value', series },
      ],
    },
  });
  return id;
}

journey('dialogs', { start: startWorld, prepare, startMs: 240_000 }, (stage) => {
  test('console H3: every dialog begins in its first field and ends at its opener', async () => {
    const { page } = stage;
    const wrong: string[] = [];
    for (const dialog of dialogs) {
      const [path] = dialog;
      await goTo(page, addressOf(path, ids));
      try {
        wrong.push(...(await faultsOf(page, dialog)).map((fault) => `${nameOf(dialog)} ${fault}`));
      } catch (error) {
        wrong.push(`${nameOf(dialog)}: ${String(error).slice(0, 300)}`);
        await page.reload();
      }
    }
    expect(wrong).toEqual([]);
    stage.takeComplaints();
  }, 480_000);

  test('every dialog fits a phone, light and dark: nothing beyond its side, every button within reach', async () => {
    const { page } = stage;
    const wrong: string[] = [];
    for (const dialog of dialogs) {
      const [path] = dialog;
      await page.setViewportSize(desk);
      await goTo(page, addressOf(path, ids));
      try {
        await openDialog(page, dialog);
        // Openers may be in a menu on a phone; what they open is the same.
        await page.setViewportSize(phone);
        // A chart takes its new width in the next frame.
        await expect
          .poll(() => beyondReach(page))
          .toEqual([])
          .catch((error) => wrong.push(`${nameOf(dialog)} ${error}`));
        await stage
          .inspect(`dialog-${nameOf(dialog).replaceAll(/\W+/g, '-')}`)
          .catch((error) => wrong.push(`${nameOf(dialog)} ${error}`));
        await closeDialog(page);
      } catch (error) {
        wrong.push(`${nameOf(dialog)}: ${String(error).slice(0, 300)}`);
        await page.reload();
      }
    }
    await page.setViewportSize(desk);
    expect(wrong).toEqual([]);
    stage.takeComplaints();
  }, 600_000);

  test('console H3: palette and keys end at what had the focus', async () => {
    const { page } = stage;
    await stage.visit('devices');
    const search = page.getByRole('searchbox').first();
    await search.focus();
    await page.keyboard.press('Control+k');
    await page.locator('dialog:modal input').waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => search.evaluate((one) => one === document.activeElement)).toBe(true);
  });

  test('console H3: what is gone leaves the focus near its place', async () => {
    const { page } = stage;
    await stage.visit('rules');
    const link = page.locator('#content tbody a').first();
    await link.focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/edit/);
    await page.locator('h1').first().waitFor();
    const isLost = () => page.evaluate(() => document.activeElement === document.body);
    await expect.poll(isLost).toBe(false);
    await page.keyboard.press('Control+k');
    await page.locator('dialog:modal input').fill('Device types');
    await page.locator('dialog:modal [role="option"]').first().waitFor();
    await page.keyboard.press('Enter');
    await page.locator('dialog:modal').waitFor({ state: 'detached' });
    await expect.poll(isLost).toBe(false);
  });
});

const desk = { width: 1_440, height: 900 };
const phone = { width: 390, height: 844 };

/** What of the open dialog is beyond its sides, and which buttons cannot be scrolled to. */
function beyondReach(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const dialog = document.querySelector('dialog:modal');
    if (dialog === null) return ['is closed'];
    const found: string[] = [];
    const page = document.documentElement.scrollWidth - innerWidth;
    if (page > 0) found.push(`the page scrolls sideways by ${page} px`);
    const { left, right } = dialog.getBoundingClientRect();
    if (left < 0 || right > innerWidth) found.push(`is from ${left} to ${right} px`);
    const wide = dialog.scrollWidth - dialog.clientWidth;
    if (wide > 0) {
      const beyond = [...dialog.querySelectorAll('*')].filter(
        (one) => one.getBoundingClientRect().right > right + 1,
      );
      const names = beyond.map(({ tagName, textContent }) => `${tagName} ${textContent}`);
      found.push(`scrolls sideways by ${wide} px: ${names.join(', ').slice(0, 200)}`);
    }
    for (const one of dialog.querySelectorAll('button, a, input, select, textarea, summary')) {
      if (!one.checkVisibility({ visibilityProperty: true }) || one.closest('.sr') !== null)
        continue;
      one.scrollIntoView({ block: 'nearest', inline: 'nearest' });
      const box = one.getBoundingClientRect();
      // Some are shown with the focus alone, and clipped to a point before.
      const around = one.parentElement?.getBoundingClientRect() ?? box;
      if (Math.min(box.width, box.height, around.width) < 2) continue;
      const isWithin = box.left >= -1 && box.right <= innerWidth + 1;
      const isInSight = box.bottom > 0 && box.top < innerHeight;
      const name = one.getAttribute('aria-label') ?? one.textContent;
      if (!isWithin || !isInSight) found.push(`${one.tagName} "${name.slice(0, 40)}"`);
    }
    return found;
  });
}

/** Opens it by keyboard, and returns what has the focus again afterwards. */
async function openDialog(page: Page, [, name, menu]: DialogRow): Promise<Locator> {
  const opener = page
    .locator('#content')
    .getByRole('button', { name: menu ?? name })
    .first();
  await opener.focus();
  await page.keyboard.press('Enter');
  if (menu !== undefined) {
    // The menu gives the focus to its first item once it is open.
    await page.waitForFunction(() => document.activeElement?.role === 'menuitem');
    await page.getByRole('menuitem', { name }).press('Enter');
  }
  await page.locator('dialog:modal h2').waitFor();
  return opener;
}

/** Opens the dialog and closes it again. */
async function faultsOf(page: Page, dialog: DialogRow): Promise<string[]> {
  const opener = await openDialog(page, dialog);
  const faults: string[] = [];
  await expect
    .poll(() => startOf(page))
    .toBe(undefined)
    .catch(async () => faults.push(`begins at ${await startOf(page)}`));
  await closeDialog(page);
  const isBack = await opener.evaluate((one) => one === document.activeElement);
  return isBack ? faults : [...faults, 'ends elsewhere'];
}

/** A page, the button on it that opens a dialog, and the menu that the button is an item of. */
type DialogRow = readonly [path: string, name: RegExp, menu?: RegExp];

const nameOf = ([path, name]: DialogRow): string => `${path} ${String(name)}`;

const dialogs: readonly DialogRow[] = [
  ['/w/$workspaceId/devices', /^Export samples/],
  ['/w/$workspaceId/devices', /^Add filter/],
  ['/w/$workspaceId/devices', /^Columns/],
  ['/w/$workspaceId/devices/$deviceId/overview', /^Custom/],
  ['/w/$workspaceId/devices/$deviceId/overview', /^Add alarm/],
  ['/w/$workspaceId/devices/$deviceId/overview', /^Why/],
  ['/w/$workspaceId/devices/$deviceId/explore', /^Add device to chart/],
  ['/w/$workspaceId/devices/$deviceId/explore', /^Add to dashboard/],
  ['/w/$workspaceId/devices/$deviceId/explore', /^Delete samples/],
  ['/w/$workspaceId/devices/$deviceId/settings', /^Delete device/],
  ['/w/$workspaceId/dashboards', /^Create dashboard/],
  ['/w/$workspaceId/dashboards', /^Rename/],
  ['/w/$workspaceId/dashboards', /^Delete/],
  ['/w/$workspaceId/dashboards/$dashboardId', /^Share/],
  ['/w/$workspaceId/dashboards/$dashboardId', /^Send regularly/, /^More$/],
  ['/w/$workspaceId/dashboards/$dashboardId', /^Download/, /^More$/],
  ['/w/$workspaceId/dashboards/$dashboardId', /^Versions/, /^More$/],
  ['/w/$workspaceId/dashboards/$dashboardId', /^JSON/, /^More$/],
  ['/w/$workspaceId/dashboards/$dashboardId', /^Add alarm to/],
  ['/w/$workspaceId/dashboards/$dashboardId', /^Notes on/],
  ['/w/$workspaceId/dashboards/$dashboardId', /^Copy to another/, /^More actions of Value/],
  ['/w/$workspaceId/dashboards/$dashboardId', /^Add alarm/, /^More actions of Value/],
  ['/w/$workspaceId/types', /^Import library/],
  ['/w/$workspaceId/types', /^Create device type/],
  ['/w/$workspaceId/types/$typeId/schema', /^Add key/],
  ['/w/$workspaceId/types/$typeId/use', /^Delete device type/],
  ['/w/$workspaceId/flows/$flowId', /^Send test payload/],
  ['/w/$workspaceId/flows/$flowId', /^Delete/],
  ['/w/$workspaceId/flows/connectors', /^Create connector/],
  ['/w/$workspaceId/outputs/$outputId/deliveries', /^Send test/],
  ['/w/$workspaceId/outputs/$outputId/settings', /^Delete/],
  ['/w/$workspaceId/rules/logic', /^Create custom logic/],
  ['/w/$workspaceId/rules/$ruleId/edit', /^Delete/],
  ['/w/$workspaceId/places', /^Import/],
  ['/w/$workspaceId/places', /^Add place/],
  ['/w/$workspaceId/places/$placeId/$tab', /^Edit/],
  ['/w/$workspaceId/places/$placeId/$tab', /^Move/],
  ['/w/$workspaceId/places/$placeId/$tab', /^Delete/],
  ['/w/$workspaceId/settings/tags', /^Create tag/],
  ['/w/$workspaceId/settings/tags', /^Delete/],
  ['/w/$workspaceId/settings/fields', /^Create custom field/],
  ['/w/$workspaceId/settings/notifications', /^New on-call order/],
  ['/w/$workspaceId/settings/notifications', /^New mute/],
  ['/w/$workspaceId/settings/general', /^Delete/],
  ['/o/$organizationId/settings/members', /^Invite/],
  ['/o/$organizationId/settings/keys', /key$/],
  ['/o/$organizationId/settings/clients', /client$/],
];

/** What has the focus in place of the first field or the main button; undefined if that has it. */
function startOf(page: Page): Promise<string | undefined> {
  return page.evaluate(() => {
    const dialog = document.querySelector('dialog:modal');
    const at = document.activeElement;
    const name = `${at?.tagName} ${at?.ariaLabel ?? at?.textContent ?? ''}`;
    if (dialog?.contains(at) !== true) return name;
    const fields = dialog.querySelectorAll<HTMLInputElement>(
      'input:not([type="hidden"], [type="file"], :disabled), select:not(:disabled), textarea:not(:disabled)',
    );
    const first = [...fields].find((field) => field.checkVisibility());
    // Without a field it begins at its main button, and to close it is all that is left without one.
    const hasButton = dialog.querySelector('footer button:not(:disabled)') !== null;
    if (first === undefined) return hasButton && at?.closest('header') ? name : undefined;
    const isSameChoice = first.type === 'radio' && (at as HTMLInputElement).name === first.name;
    return at === first || isSameChoice ? undefined : name;
  });
}

async function closeDialog(page: Page): Promise<void> {
  await page.keyboard.press('Escape');
  await page.locator('dialog:modal').waitFor({ state: 'detached' });
}
