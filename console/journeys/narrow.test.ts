// Narrow: on a phone nothing of any page runs off the side, and everything can be read, typed and touched.
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { startWorld, type World } from '../../tests/world/world.ts';
import { findingsOfRule } from './chromium.ts';
import { everyPage, goTo } from './every-page.ts';
import { type HostileRecords, makeRecords } from './hostile-records.ts';
import { journey } from './journey.ts';

const browser = { width: 390, height: 844 };
/** As long as ids of devices often are, and without a place to break. */
const names = [
  'Temperature_and_humidity_sensor_of_the_meeting_room_on_floor_2',
  '0123456789abcdef0123456789abcdef0123456789abcdef0123456789ab',
];

let records: HostileRecords;

const prepare = async (world: World) => {
  records = await makeRecords(world, { names, text: 'A few words.' });
};

journey('narrow', { start: startWorld, prepare, browser }, (stage) => {
  test.each(['en', 'de'])(
    'review console M1: every page is within reach on a phone, in %s',
    async (language) => {
      const { page, world } = stage;
      await page.evaluate((one) => localStorage.setItem('language', one), language);
      await page.reload();
      await page.locator(`html[lang="${language}"]`).waitFor({ state: 'attached' });
      const { organizationId, workspaceId } = world;
      const pages = await everyPage(page, { ...records.ids, organizationId, workspaceId });
      const found: string[] = [];
      for (const [path, address] of pages) {
        await goTo(page, address);
        const said = [...(await outOfReach(page)), ...(await findingsOfRule(page, 'target-size'))];
        found.push(...said.map((one) => `${path}: ${one}`));
      }
      stage.takeComplaints();
      expect(found).toEqual([]);
      expect(pages.size).toBeGreaterThan(25);
    },
    240_000,
  );
});

/** Controls and words beyond the side of the page, and fields whose letters a phone zooms into. */
function outOfReach(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const nameOf = (one: Element) =>
      `${one.tagName.toLowerCase()}.${one.className} "${(one.getAttribute('aria-label') ?? one.textContent ?? '').slice(0, 40)}"`;
    const wide = document.documentElement.scrollWidth - innerWidth;
    const found = wide > 0 ? [`the page scrolls sideways by ${wide} px`] : [];
    const isShown = (one: Element) =>
      one.checkVisibility({ opacityProperty: true, visibilityProperty: true }) &&
      one.closest('.sr, [aria-hidden="true"], pre, .cm-editor') === null;
    // What ends in an ellipsis is shown until there.
    const shownUntil = (one: Element) => {
      let { right } = one.getBoundingClientRect();
      for (let box = one.parentElement; box !== null; box = box.parentElement)
        if (getComputedStyle(box).overflowX === 'hidden')
          right = Math.min(right, box.getBoundingClientRect().right);
      return right;
    };
    if (wide > 0)
      for (const one of document.querySelectorAll('body *'))
        if (shownUntil(one) > innerWidth + 1 && isShown(one)) found.push(`beyond: ${nameOf(one)}`);
    const controls = 'main :is(a, button, input, select, textarea, summary, [tabindex="0"])';
    for (const one of document.querySelectorAll(controls)) {
      const { left, width, height } = one.getBoundingClientRect();
      if (width < 2 || height < 2 || !isShown(one)) continue;
      const right = shownUntil(one);
      if (right > innerWidth + 1 || left < -1)
        found.push(`${nameOf(one)} is from ${Math.round(left)} to ${Math.round(right)} px`);
    }
    const fields =
      'input:not([type="checkbox"], [type="radio"], [type="range"], [type="file"], [type="color"]), select, textarea';
    for (const one of document.querySelectorAll(fields)) {
      const size = Number.parseFloat(getComputedStyle(one).fontSize);
      if (one.checkVisibility() && size < 16)
        found.push(`${nameOf(one)} has letters of ${size} px`);
    }
    return found;
  });
}
