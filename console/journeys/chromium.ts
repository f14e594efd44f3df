// Chromium for tests of the console: the real browser with the real content policy, each time without memory.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import {
  type Browser as BrowserProcess,
  type BrowserContext,
  chromium,
  type Page,
} from 'playwright-core';

/** Debian's Chromium; `describeWith` skips tests where it is missing. */
export const chromiumProgram = { path: '/usr/bin/chromium', debianPackage: 'chromium' } as const;

export interface BrowserOptions {
  readonly colorScheme?: 'light' | 'dark';
  readonly width?: number;
  readonly height?: number;
  readonly locale?: string;
}

export interface Browser {
  readonly context: BrowserContext;
  readonly page: Page;
  /** Messages of the page's console, errors, refused code and requests to other hosts. */
  readonly complaints: string[];
  readonly close: () => Promise<void>;
}

/** Starting it takes a second, so that one process serves all journeys of a worker of the test runner. */
const shared: { process: Promise<BrowserProcess> | undefined; windows: number } = {
  process: undefined,
  windows: 0,
};
const idleMs = 30_000;

async function startChromium(): Promise<BrowserProcess> {
  const started = await chromium.launch({
    executablePath: chromiumProgram.path,
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
  started.once('disconnected', () => (shared.process = undefined));
  return started;
}

/** Ends the process, unless a window is open. */
export async function endChromium(): Promise<void> {
  if (shared.windows > 0) return;
  const { process } = shared;
  shared.process = undefined;
  await (await process)?.close();
}

/** Opens a window of Chromium; `base` is the only host that its pages may ask. */
export async function openBrowser(base: string, options: BrowserOptions = {}): Promise<Browser> {
  const { colorScheme = 'light', width = 1_440, height = 900, locale = 'en-GB' } = options;
  shared.windows += 1;
  shared.process ??= startChromium();
  const context = await (await shared.process).newContext({
    viewport: { width, height },
    timezoneId: 'Europe/Zurich',
    locale,
    colorScheme,
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const complaints: string[] = [];
  await context.addInitScript(() => {
    addEventListener('securitypolicyviolation', (event) => {
      console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`);
    });
  });
  context.on('page', (page) => listen(page, base, complaints));
  const page = await context.newPage();
  return {
    context,
    page,
    complaints,
    async close() {
      await context.close();
      shared.windows -= 1;
      setTimeout(() => void endChromium(), idleMs).unref();
    },
  };
}

function listen(page: Page, base: string, complaints: string[]): void {
  page.on('console', (message) => {
    const { url } = message.location();
    const isOwn = !url.startsWith('http') || url.startsWith(base);
    const place = !isOwn || message.text().startsWith('Failed to load resource') ? ` ${url}` : '';
    complaints.push(`${message.type()}: ${message.text()}${place}`);
  });
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`));
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(base) && !/^(data|blob|about|chrome):/.test(url))
      complaints.push(`request to another host: ${url}`);
  });
}

/** Signs in through the form, as a person does. */
export async function signIn(
  page: Page,
  base: string,
  { email = 'admin@localhost', password = 'correct horse battery staple' } = {},
): Promise<void> {
  await page.goto(`${base}/sign-in`);
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.waitForURL(/\/(w\/|welcome)/);
  // A workspace without a sample begins with the first run, which is not what most tests are about.
  if (page.url().includes('/welcome'))
    await page.getByRole('link', { name: 'Skip', exact: true }).click();
  await page.waitForURL(/\/w\//);
  // The address changes before the page does, and keys pressed in between are lost.
  await page.getByRole('main').waitFor();
}

const axeSource = readFileSync(
  createRequire(import.meta.url).resolve('axe-core/axe.min.js'),
  'utf8',
);
const axeTags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** The rules that a change of the theme can break. */
const colorRules = ['color-contrast', 'link-in-text-block'];

/** What axe finds on the page as it is now, a line for each place. */
export function axeFindings(page: Page): Promise<string[]> {
  return findingsOf(page, { type: 'tag', values: axeTags });
}

/** What axe finds of colors only, for a page that was checked as a whole in another theme. */
export function colorFindings(page: Page): Promise<string[]> {
  return findingsOf(page, { type: 'rule', values: colorRules });
}

/** What axe finds of one rule, such as the size of targets. */
export function findingsOfRule(page: Page, rule: string): Promise<string[]> {
  return findingsOf(page, { type: 'rule', values: [rule] });
}

async function findingsOf(page: Page, runOnly: RunOnly): Promise<string[]> {
  // Every page has one; before it is there, the page is still loading.
  await page.locator('h1').first().waitFor({ state: 'attached' });
  await settle(page);
  // The debugger is not bound by the page's policy, so that policy stays as it is.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axeSource);
  return page.evaluate(async (rules) => {
    const { axe } = globalThis as unknown as { readonly axe: AxeApi };
    const { violations } = await axe.run(document, { runOnly: rules });
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id} ${target.join(' ')} ${failureSummary}`),
    );
  }, runOnly);
}

/** Waits until nothing fades or moves: a color on its way to another has any contrast. */
async function settle(page: Page): Promise<void> {
  await page.evaluate(async () => {
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    await frame();
    await frame();
    const isEnding = ({ effect, pending, playState }: Animation) =>
      effect?.getComputedTiming().endTime !== Number.POSITIVE_INFINITY &&
      (pending || playState === 'running');
    // Chromium may never say that one has `finished` when it draws no frame after its end.
    while (document.getAnimations().some(isEnding)) await frame();
  });
}

interface RunOnly {
  readonly type: 'tag' | 'rule';
  readonly values: readonly string[];
}

interface AxeApi {
  run(
    context: unknown,
    options: { readonly runOnly: RunOnly },
  ): Promise<{
    readonly violations: readonly {
      readonly id: string;
      readonly nodes: readonly {
        readonly target: readonly string[];
        readonly failureSummary: string;
      }[];
    }[];
  }>;
}

/** The width of the page in CSS pixels, with what is beyond the side of the window. */
export function pageWidth(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth);
}
