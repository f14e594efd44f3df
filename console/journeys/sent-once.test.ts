// Sent once: every form that creates something sends it once, also when it is submitted twice before the page can answer.
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

/** Pages that create something, and the button that opens the form; none where the page is the form. */
const forms: readonly { readonly path: string; readonly opener?: RegExp }[] = [
  { path: '/w/$workspaceId/devices/new' },
  { path: '/w/$workspaceId/dashboards', opener: /^Create dashboard/ },
  { path: '/w/$workspaceId/types', opener: /^Create device type/ },
  { path: '/w/$workspaceId/flows/connectors', opener: /^Create connector/ },
  { path: '/w/$workspaceId/rules/logic', opener: /^Create custom logic/ },
  { path: '/w/$workspaceId/settings/tags', opener: /^Create tag/ },
  { path: '/w/$workspaceId/settings/fields', opener: /^Create custom field/ },
  { path: '/o/$organizationId/settings/members', opener: /^Invite/ },
  { path: '/o/$organizationId/settings/keys', opener: /key$/ },
  { path: '/o/$organizationId/settings/clients', opener: /client$/ },
];

journey('sent once', { start: startWorld, prepare, startMs: 240_000 }, (stage) => {
  test.each(forms)('review console M10: two submits on $path create one record', async (form) => {
    const { path, opener } = form;
    const { page, world } = stage;
    const { organizationId, workspaceId } = world;
    const ids: PageIds = { ...records.ids, organizationId, workspaceId };
    const sent: string[] = [];
    const note = (request: { method(): string; url(): string; postData(): string | null }) => {
      const isChange =
        request.method() === 'POST' && !/\/(query|list|activity)/.test(request.url());
      if (isChange) sent.push(`${request.url()} ${request.postData() ?? ''}`);
    };
    await goTo(page, addressOf(path, ids));
    if (opener !== undefined) {
      await page.locator('#content').getByRole('button', { name: opener }).first().click();
      await page.locator('dialog:modal h2').waitFor();
    }
    await fill(page, path);
    page.on('request', note);
    await page.evaluate(() => {
      const form =
        document.querySelector<HTMLFormElement>('dialog:modal form') ??
        document.querySelector<HTMLFormElement>('#content form');
      const button = document.querySelector<HTMLButtonElement>(
        `button[type="submit"][form="${form?.id}"]`,
      );
      if (button?.disabled === true) throw new Error('the form cannot be submitted');
      form?.requestSubmit();
      form?.requestSubmit();
    });
    await expect.poll(() => sent.length).toBeGreaterThan(0);
    await page.waitForLoadState('networkidle');
    page.off('request', note);
    expect(sent).toEqual([...new Set(sent)]);
    stage.takeComplaints();
    await page.reload();
  });

  test('review console M10: a device that is refused leaves no data flow', async () => {
    const { page, world } = stage;
    const flows = async () =>
      (await world.must('GET', `/v3/data-flows?workspaceId=${world.workspaceId}`)).totalElements;
    const before = await flows();
    const device = await world.device({ name: 'Room 1' });
    const after = await flows();
    await stage.visit('devices/new');
    await page.getByLabel('Name').fill('Room 1 again');
    await page.getByLabel('Device ID').fill(device.deviceId);
    await page.locator('#content').getByRole('button', { name: 'Add device' }).click();
    await page.getByRole('alert').first().waitFor();
    await expect.poll(flows).toBe(after);
    expect(before).toBeLessThan(after);
    await page.getByLabel('Device ID').fill('room-again');
    await page.locator('#content').getByRole('button', { name: 'Add device' }).click();
    await page.getByRole('link', { name: 'Open device' }).click();
    await page.getByRole('heading', { name: 'Room 1 again' }).waitFor();
    stage.takeComplaints();
  });
});

/** Fills what must have a value. */
async function fill(page: Page, path: string): Promise<void> {
  const form = page.locator('dialog:modal form, #content form').first();
  const fields = form.locator('input:not([type]), input[type="text"], input[type="email"]');
  for (const field of await fields.all()) {
    if (!(await field.isVisible()) || (await field.inputValue()) !== '') continue;
    const isEmail = (await field.getAttribute('type')) === 'email';
    const name = `twice ${path.replaceAll(/\W+/g, ' ').trim()}`;
    await field.fill(isEmail ? 'twice@example.org' : name);
  }
}
