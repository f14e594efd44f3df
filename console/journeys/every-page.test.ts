// Every page with hostile strings in all fields, in German: shown as they are, and nothing left in English.
import process from 'node:process';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { startWorld, type World } from '../../tests/world/world.ts';
import { everyPage, goTo, type PageIds } from './every-page.ts';
import { type HostileRecords, makeHostileRecords } from './hostile-records.ts';
import { hostileStrings } from './hostile-strings.ts';
import { journey } from './journey.ts';

// oxlint-disable-next-line node/no-process-env -- the long run is asked for by hand
const isLong = process.env['EVERY_STRING'] !== undefined;
/** High enough for all rows of a list whose rows outside the window are not in the page. */
const browser = { height: isLong ? 6_000 : 3_000 };

let records: HostileRecords;

const prepare = async (world: World) => {
  records = await makeHostileRecords(world, isLong);
};

journey('every page', { start: startWorld, prepare, browser }, (stage) => {
  test('shows hostile strings as they are', async () => {
    const { page } = stage;
    await page.evaluate(() => localStorage.setItem('language', 'de'));
    await page.reload();
    const pages = await everyPage(page, idsOf(stage.world));
    const seen = new Map<string, string>();
    const english: string[] = [];
    for (const [path, address] of pages) {
      await goTo(page, address);
      expect({ path, markup: await foreignMarkup(page) }).toEqual({ path, markup: [] });
      seen.set(path, await contentOf(page));
      english.push(...(await englishWords(page)).map((words) => `${path}: ${words}`));
    }
    const missing = Object.fromEntries(
      records.shownAt.map((path) => [path, notIn(seen.get(path) ?? '')]),
    );
    expect(missing).toEqual(Object.fromEntries(records.shownAt.map((path) => [path, []])));
    expect(english).toEqual([]);
    expect(pages.size).toBeGreaterThan(25);
  }, 240_000);

  const idsOf = ({ organizationId, workspaceId }: World): PageIds => ({
    ...records.ids,
    organizationId,
    workspaceId,
  });
});

function notIn(content: string): string[] {
  return hostileStrings.filter((one) => {
    // Values of samples are shown as JSON.
    const forms = [one, JSON.stringify(one).slice(1, -1)].map(withPlainSpaces);
    return !forms.some((form) => content.includes(form));
  });
}

const withPlainSpaces = (one: string) => one.replaceAll(/\s+/gu, ' ');

/** Everything that the page says, in elements, fields, and within the shadow of the editor. */
async function contentOf(page: Page): Promise<string> {
  const contents = await page.evaluate(() => {
    const fields = [...document.querySelectorAll('input, textarea')];
    const values = fields.map((field) => (field as HTMLInputElement).value);
    return [document.body.textContent, ...values];
  });
  return contents.map(withPlainSpaces).join('\n');
}

/** Words that only English sentences have; what the platform and its users wrote is skipped. */
const englishOnly =
  /\b(the|and|of|is|are|has|have|with|without|not|yet|no|to|for|from|by|this|that|your|you|all|new|save|edit|delete|search|add|show|nothing|none|copy|close|open|settings|loading)\b/iu;
/** Names that are the same in every language, of a product and of a region. */
const ownNames: readonly string[] = ['The Things Stack', 'Isle of Man'];
/** Parts that are the same in every language: code, requests, values, and names of the interface. */
const sameEverywhere = 'code, pre, kbd, textarea, .mono, [lang="en"], option[value*="/"]';

async function englishWords(page: Page): Promise<string[]> {
  const texts = await page.evaluate((left) => {
    const found: string[] = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode())
      if (node.parentElement?.closest(`${left}, script, noscript`) === null)
        found.push(node.textContent ?? '');
    for (const one of document.querySelectorAll('[aria-label], [title], [placeholder]'))
      for (const name of ['aria-label', 'title', 'placeholder'])
        found.push(one.getAttribute(name) ?? '');
    return found;
  }, sameEverywhere);
  // Capitals are names of the interface, such as DELETE.
  const spoken = (one: string) => one.replaceAll(/\b[A-Z]{2,}\b/g, '');
  return [...new Set(texts)].filter(
    (one) => englishOnly.test(spoken(one)) && !isWritten(one) && !ownNames.includes(one),
  );
}

/** Part of a hostile string, so that a user wrote it. */
function isWritten(words: string): boolean {
  return hostileStrings.some((one) => one.length > 12 && words.includes(one));
}

/** Elements and attributes that no part of the console makes. */
function foreignMarkup(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const ownScripts = /^\/(assets\/[\w.-]+|theme)\.js$/;
    const never =
      'iframe, object, embed, base, frame, frameset, marquee, math, style, video, audio, template, ' +
      'noscript:not(body > noscript), meta[http-equiv], svg script, svg use, svg image, svg a, ' +
      'svg foreignObject, svg animate, svg set, svg handler, xmp, listing, plaintext, keygen';
    const found = [...document.querySelectorAll(never)].map((one) => one.outerHTML);
    for (const script of document.scripts)
      if (!ownScripts.test(new URL(script.src, location.href).pathname))
        found.push(script.outerHTML);
    for (const one of document.querySelectorAll('*'))
      for (const { name, value } of one.attributes) {
        const isCode = /^\s*(javascript|vbscript|data|feed|view-source):/i.test(value);
        const isAddress = /^(href|src|action|formaction|data|xlink:href|srcdoc|srcset)$/.test(name);
        const isForeign = isAddress && new URL(value, location.href).host !== location.host;
        if (name.startsWith('on') || (isAddress && (isCode || isForeign)))
          found.push(`${one.tagName} ${name}=${value}`);
      }
    return found.map((one) => one.slice(0, 200));
  });
}
