// Viewer: who may only read is offered nothing that the platform would refuse, on every screen.
import { expect, test } from 'vitest';
import { startWorld, type World } from '../../tests/world/world.ts';
import { signIn } from './chromium.ts';
import { everyPage, goTo } from './every-page.ts';
import { type HostileRecords, makeRecords, plainWords } from './hostile-records.ts';
import { journey } from './journey.ts';

let records: HostileRecords;
const viewer = { email: 'viewer@example.org', password: 'several words are good' };

const prepare = async (world: World) => {
  records = await makeRecords(world, plainWords, [
    { email: viewer.email, role: 'VIEWER', password: viewer.password },
  ]);
};

/** How the names of buttons begin that change something on the platform. */
const acting =
  /^(New|Create|Import|Delete|Remove|Rename|Duplicate|Copy (of|the) (type|dashboard)|Save$|Send test$|Retry|Resend|Acknowledge\b(?!d)|Clear\b|Invite|Revoke|Rotate|Generate|Move|Tag|Activate|Deactivate|Enable|Turn|Edit|Accept|Share|Comment|Reset MFA|Add (device$|tile|comment|key|topic|to dashboard)|Send your first)/i;

journey('viewer', { start: startWorld, prepare, startMs: 240_000 }, (stage) => {
  test('console H8: a viewer finds no action that would be refused', async () => {
    const { page, world, browser } = stage;
    await browser.context.clearCookies();
    await signIn(page, world.base, viewer);
    const { organizationId, workspaceId } = world;
    const pages = await everyPage(page, { ...records.ids, organizationId, workspaceId });
    const offered: string[] = [];
    for (const [path, address] of pages) {
      if (path.startsWith('/me')) continue;
      await goTo(page, address);
      const names = await page.evaluate(() => {
        const pressed = 'button:enabled, [role="switch"]:enabled, [class*="_button_"][href]';
        return [...document.querySelectorAll<HTMLElement>(`#content :is(${pressed})`)]
          .filter((one) => one.checkVisibility() && one.ariaExpanded === null)
          .map((one) => (one.ariaLabel ?? one.textContent ?? '').trim());
      });
      offered.push(
        ...[...new Set(names)]
          .filter((name) => acting.test(name))
          .map((name) => `${path}: ${name}`),
      );
    }
    stage.takeComplaints();
    expect(offered).toEqual([]);
  }, 240_000);

  test('console H8: a disabled button says what it needs', async () => {
    const { page } = stage;
    await stage.visit('devices');
    const register = page.getByRole('button', { name: /^Add device/ });
    await register.waitFor();
    expect(await register.isDisabled()).toBe(true);
    await expect.poll(() => register.getAttribute('title')).toContain('asset: create');
  });
});
