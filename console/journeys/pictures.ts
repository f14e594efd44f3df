// `npm run pictures`: every screen of the console with demo data, light, dark and on a phone, in docs/pictures/.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { type Browser, endChromium, openBrowser, signIn } from './chromium.ts';
import { everyPage, goTo, type PageIds } from './every-page.ts';
import { smallPng } from './small-png.ts';

const root = join(import.meta.dirname, '..', '..');
const folder = join(root, 'docs', 'pictures');
const desktop = { width: 1_280, height: 800 };
const phone = { width: 390, height: 844 };
/** Until charts are drawn and the first live samples are there. */
const settleMs = 700;

interface Demo {
  readonly base: string;
  readonly apiKey: string;
  readonly close: () => Promise<void>;
}

/** Resolves when the history is loaded, which takes about a minute. */
async function startDemo(): Promise<Demo> {
  const data = mkdtempSync(join(tmpdir(), 'heliograph-pictures-'));
  const apiKey = '0123456789abcdef.00000000-0000-4000-8000-000000000001';
  const environment = {
    HOST: '127.0.0.1',
    PORT: '0',
    MQTT_PORT: '0',
    COAP_PORT: '0',
    LOG_LEVEL: 'silent',
    ADMIN_API_KEY: apiKey,
    ADMIN_PASSWORD: 'correct horse battery staple',
  };
  const child: ChildProcess = spawn(process.execPath, [join(root, 'bin', 'demo.js')], {
    // oxlint-disable-next-line node/no-process-env -- the child finds its programs by PATH
    env: { PATH: process.env['PATH'], DATA_DIR: data, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve) => void child.once('close', resolve));
  let output = '';
  await new Promise<void>((resolve, reject) => {
    child.stdout?.on('data', (bytes: Buffer) => {
      output += bytes.toString();
      if (output.includes('w.onmessage')) resolve();
    });
    void ended.then(() => reject(new Error(`the demo ended: ${output}`)));
  });
  const address = /is ready on (\S+)/.exec(output)?.[1];
  const [, path, body] = /(\/v3\/capture\?\S+)' .* -d '(.*)'/.exec(output) ?? [];
  const alarms = /(\/v3\/alarms\?\S+)'/.exec(output)?.[1];
  if (address === undefined || path === undefined || alarms === undefined)
    throw new Error(`the demo has no address or commands: ${output}`);
  const base = `http://${address}`;
  const headers = { 'content-type': 'application/json', 'x-api-key': apiKey };
  // The rule is created last: the floor is wet until its alarm is open.
  for (let found = 0; found === 0; await delay(settleMs)) {
    await fetch(base + path, { method: 'POST', headers, body: body ?? '' });
    const answer = await fetch(`${base}${alarms}&search=Water&size=1`, { headers });
    if (!answer.ok) throw new Error(`${alarms}: ${answer.status}`);
    found = ((await answer.json()) as { totalElements: number }).totalElements;
  }
  return {
    base,
    apiKey,
    async close() {
      child.kill('SIGTERM');
      await ended;
      rmSync(data, { recursive: true, force: true });
    },
  };
}

/** One record of each kind, the first by name but for the device, whose values have a course. */
async function idsOf({ base, apiKey }: Demo): Promise<PageIds> {
  const first = async (path: string): Promise<string> => {
    const answer = await fetch(base + path, { headers: { 'x-api-key': apiKey } });
    if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
    const { content } = (await answer.json()) as { content: readonly { readonly id: string }[] };
    return content[0]?.id ?? '';
  };
  const organizationId = await first('/v3/organizations?size=1');
  const workspaceId = await first(
    `/v3/workspaces?organizationId=${organizationId}&search=Demo&size=1`,
  );
  const of = (path: string, more = '') => first(`${path}?workspaceId=${workspaceId}&size=1${more}`);
  const deviceId = await of('/v3/assets', '&search=Room');
  const flowId = await of('/v3/data-flows');
  return {
    organizationId,
    workspaceId,
    deviceId,
    typeId: await first(`/v3/device-types?organizationId=${organizationId}&size=1&sort=name,asc`),
    ruleId: await of('/v3/rules', '&search=Leak'),
    // The first is built in, and has no settings.
    outputId: await of('/v3/output-connectors', '&search=Humid'),
    dashboardId: await of('/v3/dashboards'),
    alarmId: await of('/v3/alarms'),
    placeId: await of('/v3/places'),
    tab: 'settings',
    flowId,
    connectorId: await of('/v3/device-connectors'),
    integrationId: '',
    calculationId: await of('/v3/calculations').catch(() => ''),
    logicId: await first(`/v3/rules/custom?organizationId=${organizationId}&size=1`),
  };
}

/** Such as `devices-overview` of `/w/$workspaceId/devices/$deviceId/overview`. */
function nameOf(path: string): string {
  if (path === '/w/$workspaceId') return 'home';
  const words = path
    .replace('/o/$organizationId/settings', '/organization')
    .replace('/w/$workspaceId', '')
    .replace(/\$\w+$/, 'one')
    .split('/');
  return words.filter((one) => one !== '' && !one.startsWith('$')).join('-');
}

async function take(page: Page, name: string): Promise<number> {
  // Nothing is under the pointer.
  await page.mouse.move(0, 0);
  const picture = smallPng(await page.screenshot());
  writeFileSync(join(folder, `${name}.png`), picture);
  return picture.length;
}

async function turn(page: Page, theme: string): Promise<void> {
  await page.evaluate((chosen) => {
    document.documentElement.dataset['theme'] = chosen;
    dispatchEvent(new Event('themechange'));
  }, theme);
  await delay(settleMs / 2);
}

/** Waits at most 20 seconds until everything that the page asked for is there. */
async function untilAnswered(pending: ReadonlySet<unknown>): Promise<void> {
  for (let left = 400; pending.size > 0 && left > 0; left--) await delay(50);
}

/** Pictures of one window; returns their bytes. */
async function takeAll(browser: Browser, ids: PageIds, isPhone: boolean): Promise<number> {
  const { page } = browser;
  const pending = new Set<unknown>();
  page.on('request', (request) => pending.add(request));
  page.on('requestfinished', (request) => pending.delete(request));
  page.on('requestfailed', (request) => pending.delete(request));
  let bytes = 0;
  for (const [path, address] of await everyPage(page, ids)) {
    if (address.includes('//') || address.endsWith('/')) continue;
    await goTo(page, address);
    await untilAnswered(pending);
    await delay(settleMs);
    await untilAnswered(pending);
    const name = nameOf(path);
    if (isPhone) {
      bytes += await take(page, `${name}-phone`);
    } else {
      bytes += await take(page, `${name}-light`);
      await turn(page, 'dark');
      bytes += await take(page, `${name}-dark`);
      await turn(page, 'light');
    }
    console.log(name);
  }
  return bytes;
}

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const demo = await startDemo();
let bytes = 0;
try {
  const ids = await idsOf(demo);
  for (const size of [desktop, phone]) {
    const browser = await openBrowser(demo.base, size);
    const { page } = browser;
    await page.goto(`${demo.base}/sign-in`);
    await delay(settleMs);
    bytes += await take(page, `sign-in-${size === phone ? 'phone' : 'light'}`);
    await signIn(page, demo.base);
    bytes += await takeAll(browser, ids, size === phone);
    await browser.close();
    if (browser.complaints.length > 0) throw new Error(browser.complaints.join('\n'));
  }
} finally {
  await endChromium();
  await demo.close();
}
console.log(`docs/pictures/ written: ${(bytes / 1e6).toFixed(1)} MB`);
