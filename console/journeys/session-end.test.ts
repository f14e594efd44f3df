// End of a session and failures of the platform while a form is open: told beside its button, nothing lost.
import { expect, test } from 'vitest';
import { startWorld, type World } from '../../tests/world/world.ts';
import { addressOf, goTo, type PageIds } from './every-page.ts';
import { type HostileRecords, makeRecords, plainWords } from './hostile-records.ts';
import { journey } from './journey.ts';

let records: HostileRecords;

const prepare = async (world: World) => {
  records = await makeRecords(world, plainWords);
};

journey('end of a session', { start: startWorld, prepare, startMs: 240_000 }, (stage) => {
  const idsOf = ({ organizationId, workspaceId }: World): PageIds => ({
    ...records.ids,
    organizationId,
    workspaceId,
  });

  test('console H7: why a form was not saved is beside its button, in view', async () => {
    const { page, world } = stage;
    const hidden: string[] = [];
    await page.route(
      (url) => url.pathname.startsWith('/v3/'),
      (route) =>
        ['PUT', 'PATCH'].includes(route.request().method())
          ? route.fulfill({ status: 500, json: { message: 'disk on fire', requestId: 'r-1' } })
          : route.continue(),
    );
    for (const path of forms) {
      await goTo(page, addressOf(path, idsOf(world)));
      await page.getByLabel('Name', { exact: true }).first().fill('Another name');
      await page.locator('#content').getByRole('button', { name: 'Save', exact: true }).click();
      const failure = page.locator('[role="alert"]').getByText('disk on fire');
      await failure.waitFor();
      await expect
        .poll(() => failure.evaluate(isInView))
        .toBe(true)
        .catch(() => hidden.push(path));
      await page.getByRole('button', { name: 'Discard' }).click();
    }
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    stage.takeComplaints();
    expect(hidden).toEqual([]);
  }, 240_000);

  test('console H7: a change after the end of the session is made when the user has signed in again', async () => {
    const { page, world, browser } = stage;
    await goTo(page, addressOf('/w/$workspaceId/rules/$ruleId/edit', idsOf(world)));
    await page.getByLabel('Name', { exact: true }).first().fill('Kept name');
    await browser.context.clearCookies();
    await page.locator('#content').getByRole('button', { name: 'Save', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Sign in to Heliograph' });
    await dialog.getByLabel('Password').fill('correct horse battery staple');
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('Saved', { exact: true }).waitFor();
    const rule = await world.must('GET', `/v3/rules/${records.ids['ruleId']}`);
    expect(rule['name']).toBe('Kept name');
    stage.takeComplaints();
  });

  test('console H7: who does not sign in again reads why nothing was saved', async () => {
    const { page, browser } = stage;
    await page.getByLabel('Name', { exact: true }).first().fill('Lost name');
    await browser.context.clearCookies();
    await page.locator('#content').getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('dialog', { name: 'Sign in to Heliograph' }).waitFor();
    await page.keyboard.press('Escape');
    await page.locator('#content [role="alert"]').first().waitFor();
    stage.takeComplaints();
  });
});

function isInView(element: Element): boolean {
  const { top, bottom, left } = element.getBoundingClientRect();
  const seen = document.elementFromPoint(left + 4, (top + bottom) / 2);
  return top >= 0 && bottom <= innerHeight && (seen?.closest('[role="alert"]') ?? null) !== null;
}

/** Pages with a form of a record that has a name. */
const forms = [
  '/w/$workspaceId/devices/$deviceId/settings',
  '/w/$workspaceId/flows/$flowId',
  '/w/$workspaceId/flows/connectors/$connectorId',
  '/w/$workspaceId/flows/integrations/$integrationId',
  '/w/$workspaceId/outputs/$outputId/settings',
  '/w/$workspaceId/rules/$ruleId/edit',
  '/w/$workspaceId/rules/logic/$logicId',
  '/w/$workspaceId/rules/calculations/$calculationId',
  '/w/$workspaceId/settings/general',
];
