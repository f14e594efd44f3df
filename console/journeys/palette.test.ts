// Palette and keys in a real browser: everything is found and reached from the keyboard, and follows the user.
import { expect, test } from 'vitest';
import { startWorld, type TestDevice } from '../../tests/world/world.ts';
import { axeFindings, openBrowser, signIn } from './chromium.ts';
import { journey } from './journey.ts';

let boiler: TestDevice;

journey(
  'palette',
  {
    start: startWorld,
    async prepare(world) {
      const { workspaceId } = world;
      const tag = await world.must('POST', '/v3/tags', { workspaceId, name: 'Basel' });
      boiler = await world.device({ name: 'Boiler room', tags: [{ id: tag.id }] });
      expect((await world.capture(boiler, { temperature: 61.5 })).status).toBe(201);
      await world.device({ name: 'Attic', script: 'function consume(event) {}' });
      await world.must('POST', '/v3/workspaces', {
        organizationId: world.organizationId,
        name: 'Second site',
      });
    },
  },
  (stage) => {
    const field = () => stage.page.getByRole('combobox', { name: 'Search or jump to' });
    const option = (name: string | RegExp) => stage.page.getByRole('option', { name });
    const open = async (typed = '') => {
      await stage.page
        .getByRole('button', { name: /^(Search|Suche)/ })
        .first()
        .waitFor();
      await stage.page.keyboard.press('Control+k');
      await field().fill(typed);
    };
    const kept = async () => {
      const cookies = await stage.page.context().cookies();
      const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
      const answer = await fetch(`${stage.world.base}/v3/auth/me/preferences`, {
        headers: { cookie },
      });
      return answer.json();
    };
    const stored = () =>
      stage.page.evaluate(async () => (await fetch('/v3/auth/me/preferences')).json());

    test('finds a device by its name and opens it; then it is a recent thing', async () => {
      const { page } = stage;
      await stage.visit('');
      await page.getByRole('button', { name: 'Search or jump to' }).click();
      await page.getByRole('group', { name: 'Pages' }).waitFor();
      await stage.inspect('palette-empty');
      await field().fill('boil');
      await page.getByRole('group', { name: 'Devices' }).waitFor();
      const first = page.getByRole('listbox', { name: 'Results' }).getByRole('option').first();
      await expect.poll(() => first.innerText()).toBe('Boiler room');
      await expect.poll(() => first.getAttribute('aria-selected')).toBe('true');
      await stage.inspect('palette');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Boiler room' }).waitFor();
      await page.waitForURL(new RegExp(`${boiler.id}/overview`));
      await expect.poll(async () => (await stored()).recents?.[0]?.name).toBe('Boiler room');
      await page.keyboard.type('gh');
      await open();
      await page.getByRole('group', { name: 'Recent' }).getByText('Boiler room').click();
      await page.getByRole('heading', { name: 'Boiler room' }).waitFor();
    });

    test('# finds tags, @ members, > commands; nothing and a failure say so', async () => {
      const { page } = stage;
      await open('#bas');
      await option(/^Basel/).click();
      await page.getByText('1 device', { exact: true }).waitFor();
      await open('@');
      await page.getByText('Type a name or email').waitFor();
      await field().fill('@admin');
      await option(/^admin/i).click();
      await page.waitForURL(/settings\/members/);
      await open('>boil');
      await page.getByText('No results for “boil”').waitFor();
      await page.route('**/v3/search**', (request) => request.abort());
      await field().fill('attic');
      await page.getByText('Search failed').waitFor();
      expect(await axeFindings(page)).toEqual([]);
      await page.unroute('**/v3/search**');
      await page.keyboard.press('Escape');
      await expect.poll(() => field().count()).toBe(0);
      expect(stage.takeComplaints().every((one) => one.includes('ERR_FAILED'))).toBe(true);
    });

    test('a question leads to its chart, and says what it did not understand', async () => {
      const { page } = stage;
      const answer = (name: string) =>
        page.getByRole('group', { name: 'Answers' }).getByRole('option', { name });
      await stage.visit('');
      await open('?');
      await page.getByText('Ask for values or devices').waitFor();
      await field().fill('?highest temperature blorb boiler room yesterday');
      await answer('Maximum, temperature, Boiler room, yesterday Value').waitFor();
      await page.getByRole('status').filter({ hasText: 'Not understood: blorb' }).waitFor();
      await stage.inspect('palette-answers');
      await page.keyboard.press('ArrowDown');
      await answer('Maximum, temperature, Boiler room, yesterday Chart').click();
      await page.getByRole('heading', { name: 'Boiler room', level: 1 }).waitFor();
      const { searchParams } = new URL(page.url());
      expect(searchParams.get('key')).toBe('temperature');
      expect(searchParams.get('from')).toMatch(/Z$/);

      // Two words beside a search; a word alone names records.
      await open('höchste Temperatur Boiler room gestern');
      await answer('Maximum, temperature, Boiler room, gestern Value').waitFor();
      await field().fill('boiler');
      await page.getByRole('group', { name: 'Devices' }).waitFor();
      await page.getByRole('group', { name: 'Answers' }).waitFor({ state: 'detached' });
      await field().fill('?blorb');
      await page.getByText('No answer. Name a data key').waitFor();
      await page.keyboard.press('Escape');
    });

    test('a pasted id leads straight to its record', async () => {
      const { page } = stage;
      await stage.visit('');
      await page.evaluate((id) => navigator.clipboard.writeText(id), boiler.deviceId);
      await open();
      await page.keyboard.press('Control+v');
      await page.waitForURL(new RegExp(`${boiler.id}/overview`));
      await open('0b8e5f6a-no-such-request');
      await page.getByText('No results for “0b8e5f6a-no-such-request”').waitFor();
      await page.keyboard.press('Escape');
    });

    test('? shows the keys of the table, c copies the page, Escape leads one level up', async () => {
      const { page } = stage;
      await page.keyboard.press('?');
      const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
      await dialog.getByText('Next or previous row').waitFor();
      await stage.inspect('keys');
      await page.keyboard.press('Escape');
      await page.keyboard.press('c');
      await page.getByRole('button', { name: 'Copied' }).waitFor();
      const copied = await page.evaluate(() => navigator.clipboard.readText());
      expect(copied).toContain(`/v3/devices/${boiler.id}`);
      await page.getByRole('img').first().waitFor();
      await page.keyboard.press('[');
      await page.waitForURL(/from=.*to=/);
      await page.keyboard.press('Escape');
      await page.getByRole('row').filter({ hasText: 'Attic' }).waitFor();
      await page.keyboard.press('j');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Attic' }).waitFor();
    });

    test('letters typed into an editor stay letters', async () => {
      const { page, world } = stage;
      const { content } = await world.must(
        'GET',
        `/v3/device-types?organizationId=${world.organizationId}`,
      );
      await stage.visit(`types/${content[0].id}/decoder`);
      await page
        .getByRole('textbox', { name: /script|decoder/i })
        .first()
        .click();
      await page.keyboard.type('gh?');
      await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
      expect(page.url()).toContain('/decoder');
      await page.keyboard.press('Control+k');
      await field().waitFor();
      await page.keyboard.press('Escape');
    });

    test('choices that follow each other while a request is slow are all stored', async () => {
      const { page } = stage;
      await stage.visit('');
      const slow = '**/v3/auth/me/preferences';
      await page.route(slow, async (route) => {
        await new Promise((resolve) => setTimeout(resolve, 1_500));
        await route.continue();
      });
      const stores = page.waitForRequest((request) => request.method() === 'PUT');
      await open('>light');
      await page.keyboard.press('Enter');
      await stores;
      await open('>utc');
      await page.keyboard.press('Enter');
      // Asked for at the platform itself, which is not slow.
      await expect.poll(kept).toMatchObject({ theme: 'light', zone: 'utc' });
      await page.unrouteAll({ behavior: 'wait' });
    });

    test('single keys can be turned off; theme, language and times follow the user', async () => {
      const { page } = stage;
      await stage.visit('');
      await open('>dark');
      await page.keyboard.press('Enter');
      await open('>utc');
      await page.keyboard.press('Enter');
      await open('>shortcuts off');
      await page.keyboard.press('Enter');
      await page.keyboard.type('gd');
      await page.keyboard.press('?');
      expect(page.url()).not.toContain('devices');
      await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
      const wanted = { theme: 'dark', zone: 'utc', singleKeys: false };
      await expect.poll(stored).toMatchObject(wanted);
      const other = await openBrowser(stage.world.base);
      try {
        await signIn(other.page, stage.world.base);
        await other.page.locator('[data-theme="dark"]').waitFor();
        await other.page.goto(`${stage.world.base}/me`);
        const pressed = (name: string) =>
          other.page.getByRole('group', { name }).locator('[aria-pressed="true"]').innerText();
        await expect.poll(() => pressed('Time zone')).toBe('UTC');
        expect(await pressed('Single-key shortcuts')).toBe('Off');
        await other.page.getByRole('button', { name: 'Deutsch' }).click();
        await other.page.getByRole('heading', { name: 'Einstellungen' }).waitFor();
        expect(await axeFindings(other.page)).toEqual([]);
        expect(other.complaints).toEqual([]);
        await expect.poll(stored).toMatchObject({ ...wanted, language: 'de' });
      } finally {
        await other.close();
      }
    });

    test('two tabs show two workspaces, and each stays in its own', async () => {
      const { page, world } = stage;
      const { content } = await world.must('GET', `/v3/workspaces?search=Second`);
      const second = String(content[0].id);
      const tab = await page.context().newPage();
      await stage.visit('devices');
      await tab.goto(`${world.base}/w/${second}/devices`);
      await tab.getByRole('heading', { name: 'Geräte' }).waitFor();
      for (const [one, id] of [
        [page, world.workspaceId],
        [tab, second],
      ] as const) {
        await one.bringToFront();
        await one.goto(`${world.base}/me`);
        const places = one.getByRole('navigation', { name: 'Hauptmenü' });
        await places.getByRole('link', { name: 'Geräte', exact: true }).click();
        await one.waitForURL(`**/w/${id}/devices`);
        await expect
          .poll(() => one.getByRole('combobox', { name: 'Arbeitsbereich' }).inputValue())
          .toBe(id);
      }
      await tab.close();
    });

    test('on a phone the bar at the bottom has the search', async () => {
      const { page } = stage;
      await page.setViewportSize({ width: 390, height: 844 });
      const bar = page.getByRole('navigation', { name: 'Hauptmenü' });
      await bar.getByRole('button', { name: 'Suche' }).click();
      await option(/^Geräte g/).waitFor();
      await stage.inspect('palette-phone');
    });
  },
);
