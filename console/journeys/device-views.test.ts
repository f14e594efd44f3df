// Filter, views and columns of the device list: built, saved, shared by link, and read by a second user.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { startWorld } from '../../tests/world/world.ts';
import { axeFindings, openBrowser, pageWidth, signIn } from './chromium.ts';
import { journey } from './journey.ts';

const reader = { email: 'reader@example.org', password: 'seven green hills at dawn' };
let link = '';

journey(
  'filters, views and columns',
  {
    start: startWorld,
    async prepare(world) {
      const { workspaceId } = world;
      const tag = await world.must('POST', '/v3/tags', { workspaceId, name: 'Basel' });
      const tags = [{ id: tag.id }];
      const field = { workspaceId, name: 'Floor', type: 'NUMBER' };
      await world.must('POST', '/v3/custom-fields/meta', field);
      const boiler = await world.device({ name: 'Boiler room', tags });
      await world.device({ name: 'Bakery', tags });
      await world.device({ name: 'Attic' });
      const sent = await world.capture(boiler, { temperature: 61.5, batteryLevel: 21 });
      expect(sent.status).toBe(201);
      const path = `/v3/workspaces/${workspaceId}/members`;
      const made = await world.must('POST', path, { email: reader.email, role: 'VIEWER' });
      const token = String(made.invitationUrl).split('/').at(-1);
      const body = { name: 'Reader', password: reader.password };
      await world.must('POST', `/v3/auth/invitations/${token}`, body);
    },
  },
  (stage) => {
    const dialog = () => stage.page.getByRole('dialog');
    const row = (name: string) => stage.page.getByRole('row').filter({ hasText: name });

    test('a filter is built: sentence, count and JSON follow, chips take it apart', async () => {
      const { page } = stage;
      await stage.visit('devices');
      await row('Attic').waitFor();
      await page.getByRole('button', { name: 'Add filter' }).click();
      await dialog().getByLabel('Add value').selectOption({ label: 'Basel' });
      await dialog().getByText('Devices where tag is Basel').waitFor();
      await dialog().getByText('2 of 3 devices match').waitFor();
      await dialog().getByRole('button', { name: 'Add condition' }).click();
      await dialog().getByLabel('Field').nth(1).selectOption({ label: 'battery (%)' });
      await dialog().getByLabel('Value', { exact: true }).fill('30');
      await dialog().getByRole('button', { name: 'Add group', exact: true }).click();
      await dialog().getByLabel('Value', { exact: true }).nth(1).fill('o');
      await dialog()
        .getByText('Devices where tag is Basel and battery (%) < 30 and name contains o')
        .waitFor();
      await dialog().getByText('1 of 3 devices match').waitFor();
      await dialog().getByText('API filter (JSON)').click();
      await expect
        .poll(() => dialog().locator('code').innerText())
        .toContain('"uplinkMetrics.batteryLevel"');
      await stage.inspect('filter');
      await dialog().getByRole('button', { name: 'Show 1' }).click();
      await page.getByText('1 device', { exact: true }).waitFor();
      await page.getByRole('button', { name: 'Remove name contains o' }).click();
      await page.getByRole('button', { name: 'Remove battery (%) < 30' }).click();
      await page.getByText('2 devices', { exact: true }).waitFor();
    });

    test('nothing under a filter names the one condition to leave away', async () => {
      const { page } = stage;
      await page.getByLabel('Search by name or ID').fill('attic');
      await page.getByText('No matching devices').waitFor();
      await stage.inspect('filter-nothing');
      await page.getByRole('button', { name: 'Clear “attic”: 2 devices' }).click();
      await row('Bakery').waitFor();
    });

    test('columns are added, moved and sized by keyboard and by drag', async () => {
      const { page } = stage;
      await page.keyboard.press('.');
      await page.getByRole('option', { name: 'Columns' }).click();
      await dialog().getByLabel('Add column').selectOption({ label: 'Floor' });
      await dialog().getByLabel('Add column').selectOption({ label: 'temperature' });
      await dialog().getByRole('button', { name: 'Hide Type' }).click();
      await dialog().getByRole('button', { name: 'Move temperature' }).press('ArrowUp');
      await page.getByText('temperature moved to position 5 of 6').waitFor({ state: 'attached' });
      await dialog().getByLabel('Width of temperature').fill('150');
      await dialog().getByLabel('Width of temperature').press('Enter');
      await stage.inspect('columns');
      await dialog().getByRole('button', { name: 'Done' }).click();
      const headers = () => page.getByRole('columnheader').allInnerTexts();
      expect((await headers()).map((text) => text.trim())).toEqual([
        '',
        'Device',
        'Last seen',
        'Tags',
        'Last 24 h',
        'Battery',
        'temperature',
        'Floor',
      ]);
      const header = page.getByRole('columnheader', { name: 'temperature' });
      const box = await header.boundingBox();
      expect(box?.width).toBe(150);
      const [x, y] = [(box?.x ?? 0) + 147, (box?.y ?? 0) + 10];
      await page.mouse.move(x, y);
      await page.mouse.down();
      await page.mouse.move(x + 40, y, { steps: 4 });
      await page.mouse.up();
      await expect.poll(async () => (await header.boundingBox())?.width).toBe(190);
      const saving = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Export', exact: true }).click();
      const [head, ...lines] = readFileSync(await (await saving).path(), 'utf8').split('\r\n');
      expect(head).toMatch(/,Battery,temperature,Floor$/);
      expect(lines.filter(Boolean)).toHaveLength(2);
    });

    test('what is shown becomes a view, which is shared with the workspace', async () => {
      const { page } = stage;
      await page.getByRole('button', { name: 'Save view' }).click();
      await dialog().getByLabel('Name', { exact: true }).fill('Basel');
      await dialog().getByRole('button', { name: 'Everyone in the workspace' }).click();
      expect(await axeFindings(page)).toEqual([]);
      await dialog().getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByText('Basel created').waitFor();
      const tabs = page.getByRole('navigation', { name: 'Views' });
      await tabs.locator('[aria-current="page"]', { hasText: 'Basel' }).waitFor();
      await stage.inspect('views');
      await page.getByRole('button', { name: 'Offline' }).click();
      await page.getByRole('button', { name: 'Save changes' }).waitFor();
      await page.getByRole('button', { name: 'Reset' }).click();
      await page.getByText('2 devices', { exact: true }).waitFor();
      link = page.url();
      await tabs.getByRole('button', { name: 'All devices' }).click();
      await row('Attic').waitFor();
      expect(new URL(page.url()).search).toBe('');
    });

    test('the selection is tagged with e, offered to the palette, and cleared with Escape', async () => {
      const { page } = stage;
      await page.keyboard.press('j');
      await page.keyboard.press('e');
      await dialog().getByLabel('Tag').fill('Zug');
      await dialog().getByRole('button', { name: 'Create and add tag' }).click();
      await page.getByText('1 device tagged Zug').waitFor();
      await page.keyboard.press('x');
      await page.keyboard.press('.');
      await page.getByRole('option', { name: 'Move 1 device' }).waitFor();
      expect(await axeFindings(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await page.keyboard.press('Escape');
      await page.getByLabel('Search by name or ID').waitFor();
    });

    test('a second user, who may only read, opens the link and keeps an own view', async () => {
      const other = await openBrowser(stage.world.base);
      const { page } = other;
      try {
        await signIn(page, stage.world.base, reader);
        await page.goto(link);
        await page.getByText('2 devices', { exact: true }).waitFor();
        await page.getByRole('columnheader', { name: 'Floor' }).waitFor();
        await page.getByText('tag is Basel').waitFor();
        await page.getByRole('button', { name: 'View settings' }).click();
        await page.getByText('Shared by someone else').waitFor();
        expect(await axeFindings(page)).toEqual([]);
        await page.keyboard.press('Escape');
        await page.getByRole('button', { name: 'Online', exact: true }).click();
        await page.getByRole('button', { name: 'Save as new view' }).click();
        await page.getByText('Sharing requires').waitFor();
        await page.getByLabel('Name', { exact: true }).fill('Mine');
        await page.getByRole('button', { name: 'Save', exact: true }).click();
        await page.getByText('Mine created').waitFor();
        await expect.poll(() => page.getByRole('button', { name: 'Save changes' }).count()).toBe(0);
        expect(other.complaints).toEqual([]);
      } finally {
        await other.close();
      }
      const { content } = await stage.world.must(
        'GET',
        `/v3/views?workspaceId=${stage.world.workspaceId}`,
      );
      expect(content.map(({ name }: { name: string }) => name)).toEqual(['Basel']);
    });

    test('on a phone nothing is wider than the screen', async () => {
      const { page } = stage;
      await page.setViewportSize({ width: 390, height: 844 });
      await page.goto(link);
      await row('Bakery').waitFor();
      await stage.inspect('views-phone');
      await expect.poll(() => pageWidth(page)).toBeLessThanOrEqual(390);
      await page.getByRole('button', { name: 'Edit filter' }).click();
      await dialog().getByText('Devices where').waitFor();
      await stage.inspect('filter-phone');
    });
  },
);
