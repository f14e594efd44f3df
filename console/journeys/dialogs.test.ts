// Dialogs of every page: the first field has the focus, which goes back to what opened the dialog.
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { startWorld, type World } from '../../tests/world/world.ts';
import { addressOf, goTo, type PageIds } from './every-page.ts';
import { type HostileRecords, makeRecords, plainWords } from './hostile-records.ts';
import { journey } from './journey.ts';

let records: HostileRecords;

const prepare = async (world: World) => {
  records = await makeRecords(world, plainWords);
};

journey('dialogs', { start: startWorld, prepare, startMs: 240_000 }, (stage) => {
  test('console H3: every dialog begins in its first field and ends at its opener', async () => {
    const { page, world } = stage;
    const { organizationId, workspaceId } = world;
    const ids: PageIds = { ...records.ids, organizationId, workspaceId };
    const wrong: string[] = [];
    for (const [path, name] of dialogs) {
      await goTo(page, addressOf(path, ids));
      try {
        wrong.push(
          ...(await faultsOf(page, name)).map((fault) => `${path} ${String(name)} ${fault}`),
        );
      } catch (error) {
        wrong.push(`${path} ${String(name)}: ${String(error).slice(0, 300)}`);
        await page.reload();
      }
    }
    expect(wrong).toEqual([]);
    stage.takeComplaints();
  }, 240_000);

  test('every dialog fits a phone: nothing beyond its side, every button within reach', async () => {
    const { page, world } = stage;
    const { organizationId, workspaceId } = world;
    const ids: PageIds = { ...records.ids, organizationId, workspaceId };
    const wrong: string[] = [];
    for (const [path, name] of dialogs) {
      await page.setViewportSize(desk);
      await goTo(page, addressOf(path, ids));
      try {
        await page.locator('#content').getByRole('button', { name }).first().press('Enter');
        await page.locator('dialog:modal h2').waitFor();
        // Openers may be in a menu on a phone; what they open is the same.
        await page.setViewportSize(phone);
        // A chart takes its new width in the next frame.
        await expect
          .poll(() => beyondReach(page))
          .toEqual([])
          .catch((error) => wrong.push(`${path} ${String(name)} ${error}`));
        await closeDialog(page);
      } catch (error) {
        wrong.push(`${path} ${String(name)}: ${String(error).slice(0, 300)}`);
        await page.reload();
      }
    }
    await page.setViewportSize(desk);
    expect(wrong).toEqual([]);
    stage.takeComplaints();
  }, 240_000);

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

/** Opens the dialog by keyboard and closes it again. */
async function faultsOf(page: Page, name: RegExp): Promise<string[]> {
  const opener = page.locator('#content').getByRole('button', { name }).first();
  await opener.focus();
  await page.keyboard.press('Enter');
  await page.locator('dialog:modal h2').waitFor();
  const faults: string[] = [];
  await expect
    .poll(() => startOf(page))
    .toBe(undefined)
    .catch(async () => faults.push(`begins at ${await startOf(page)}`));
  await closeDialog(page);
  const isBack = await opener.evaluate((one) => one === document.activeElement);
  return isBack ? faults : [...faults, 'ends elsewhere'];
}

/** Pages, and the buttons on them that open a dialog. */
const dialogs: readonly (readonly [string, RegExp])[] = [
  ['/w/$workspaceId/devices', /^Export samples/],
  ['/w/$workspaceId/devices', /^Add filter/],
  ['/w/$workspaceId/devices', /^Columns/],
  ['/w/$workspaceId/devices/$deviceId/overview', /^Custom/],
  ['/w/$workspaceId/devices/$deviceId/overview', /^Add alarm/],
  ['/w/$workspaceId/devices/$deviceId/explore', /^Add device to chart/],
  ['/w/$workspaceId/devices/$deviceId/explore', /^Add to dashboard/],
  ['/w/$workspaceId/devices/$deviceId/explore', /^Delete samples/],
  ['/w/$workspaceId/devices/$deviceId/settings', /^Delete device/],
  ['/w/$workspaceId/dashboards', /^Create dashboard/],
  ['/w/$workspaceId/dashboards', /^Rename/],
  ['/w/$workspaceId/dashboards', /^Delete/],
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

/** What has the focus in place of the first field; undefined if that has it, or there is no field. */
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
    if (first === undefined) return at?.closest('header') === null ? undefined : name;
    const isSameChoice = first.type === 'radio' && (at as HTMLInputElement).name === first.name;
    return at === first || isSameChoice ? undefined : name;
  });
}

async function closeDialog(page: Page): Promise<void> {
  await page.keyboard.press('Escape');
  await page.locator('dialog:modal').waitFor({ state: 'detached' });
}
