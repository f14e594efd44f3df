// TypeScript client in a browser: a page of another origin calls, is refused and follows the live stream.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type * as ClientModule from '../../clients/typescript/client.ts';
import { describeWith } from '../../tests/servers/server-tests.ts';
import { startWorld, type TestDevice, type World } from '../../tests/world/world.ts';
import { type Browser, chromiumProgram, openBrowser } from './chromium.ts';

const root = join(import.meta.dirname, '..', '..');

/** The page of a developer who uses the package. */
const document = `<!doctype html><link rel="icon" href="data:,"><script type="module">
  import * as heliograph from '/client.js';
  globalThis.heliograph = heliograph;
</script>`;
type PageGlobals = { readonly heliograph: typeof ClientModule };

/** Serves the page and the files of the package. */
async function startSite(folder: string): Promise<Server> {
  const server = createServer(({ url = '/' }, response) => {
    const name = /^\/(\w[\w./-]*\.js)$/.exec(url)?.[1];
    const type = name === undefined ? 'text/html' : 'text/javascript';
    response.writeHead(200, { 'content-type': type });
    response.end(name === undefined ? document : readFileSync(join(folder, name)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

describeWith(chromiumProgram, 'the TypeScript client in a browser', () => {
  let folder: string;
  let site: Server;
  let world: World;
  let device: TestDevice;
  let browser: Browser;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'heliograph-browser-client-'));
    const args = ['bin/preflight.js', 'tools/pack-client.ts', folder];
    const tarball = execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8' }).trim();
    execFileSync('tar', ['-xzf', tarball, '--strip-components=1', '-C', folder]);
    site = await startSite(folder);
    const origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
    world = await startWorld({ environment: { CORS_ORIGINS: origin } });
    device = await world.device();
    await world.capture(device, { temperature: 21.5 });
    browser = await openBrowser('http://127.0.0.1:');
    await browser.page.goto(origin);
  }, 240_000);
  afterAll(async () => {
    await browser.close();
    await world.close();
    site.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** What the function in the page is given. */
  const given = () => ({ url: world.base, apiKey: world.apiKey, id: device.id });

  test('a call has its answer, and a refusal its code', async () => {
    const seen = await browser.page.evaluate(async ({ url, apiKey, id }) => {
      const { heliograph } = globalThis as unknown as PageGlobals;
      const { createClient, HeliographError } = heliograph;
      const client = createClient({ url, apiKey });
      const samples = await client.post('/v3/devices/{deviceId}/query', {
        path: { deviceId: id },
        body: { topic: 'default', limit: 1 },
      });
      const stranger = createClient({ url, apiKey: 'wrong' });
      const refused = await stranger.get('/v3/workspaces').catch((error: unknown) => error);
      const code = refused instanceof HeliographError ? refused.errorCode : String(refused);
      return { data: samples.map((sample) => sample.data), code };
    }, given());
    expect(seen).toEqual({ data: [{ temperature: 21.5 }], code: expect.stringMatching(/^401/) });
    // Chromium logs each answer of 400 and more.
    expect(browser.complaints.splice(0)).toEqual([expect.stringContaining('401')]);
  });

  test('the live stream brings a sample that is sent later', async () => {
    const live = browser.page.evaluate(async ({ url, apiKey, id }) => {
      const { createClient } = (globalThis as unknown as PageGlobals).heliograph;
      const since = new Date(Date.now() - 60_000).toISOString();
      const stopping = new AbortController();
      const subscriptions = [{ assetId: id, topic: '*' }];
      const seen: unknown[] = [];
      const client = createClient({ url, apiKey });
      for await (const message of client.live({ subscriptions, since, signal: stopping.signal })) {
        if (message.type !== 'sample_insert') continue;
        seen.push(message.sample.data);
        if (seen.length === 2) stopping.abort();
      }
      return seen;
    }, given());
    await world.capture(device, { temperature: 22 });
    expect(await live).toEqual([{ temperature: 21.5 }, { temperature: 22 }]);
    expect(browser.complaints).toEqual([]);
  });
});
