// First minute: from `npm start` on an empty folder to the first live reading in a browser.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import type { Page } from 'playwright-core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { describeWith } from '../../tests/servers/server-tests.ts';
import { chromiumProgram, openBrowser } from './chromium.ts';

const root = join(import.meta.dirname, '..', '..');
const limitMs = 60_000;

interface Started {
  readonly base: string;
  readonly email: string;
  readonly password: string;
}

describeWith(chromiumProgram, 'the first minute', () => {
  let folder: string;
  let child: ChildProcess | undefined;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'heliograph-minute-'));
  });
  afterEach(async () => {
    const ending = child;
    if (ending?.pid !== undefined && ending.exitCode === null) {
      const ended = new Promise((resolve) => void ending.once('close', resolve));
      // npm, its shell and the platform are one group.
      process.kill(-ending.pid, 'SIGTERM');
      await ended;
    }
    rmSync(folder, { recursive: true, force: true });
  });

  test(
    'ends with a live reading, with four times Enter after the sign-in',
    async () => {
      const startedAt = performance.now();
      const seconds = () => ((performance.now() - startedAt) / 1_000).toFixed(1);
      const { base, email, password } = await start();
      const ready = seconds();
      const browser = await openBrowser(base);
      const { page } = browser;
      page.setDefaultTimeout(limitMs);
      await signInAs(page, base, email, password);
      await replacePassword(page, password);
      await page.waitForURL(/\/welcome$/);
      const welcome = seconds();
      for (const step of ['Name your device', 'Choose a protocol', 'Choose a payload format']) {
        const open = page.locator('[aria-current="step"]');
        await open.getByRole('heading', { name: step, exact: true }).waitFor();
        await page.keyboard.press('Enter');
      }
      await page.getByRole('button', { name: 'Send a test sample' }).waitFor();
      await page.keyboard.press('Enter');
      await page.getByText('Room 1 is online').waitFor();
      const tookMs = performance.now() - startedAt;
      const steps = `ready after ${ready} s, signed in after ${welcome} s`;
      process.stdout.write(
        `first minute: ${seconds()} s from npm start to the first live reading (${steps})\n`,
      );
      expect(browser.complaints).toEqual([]);
      await browser.close();
      expect(tookMs).toBeLessThan(limitMs);
    },
    limitMs * 2,
  );

  /** Runs `npm start`; resolves with what it prints for a first sign-in. */
  async function start(): Promise<Started> {
    const ports = { PORT: '0', MQTT_PORT: '0', MQTT_TLS_PORT: '0', COAP_PORT: '0' };
    const { PATH, HOME } = process.env;
    const starting = spawn('npm', ['start'], {
      cwd: root,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH, HOME, HOST: '127.0.0.1', DATA_DIR: folder, ...ports },
    });
    child = starting;
    let output = '';
    return new Promise((resolve, reject) => {
      const read = (text: Buffer) => {
        output += text.toString();
        const base = /ready on (\S+)/.exec(output)?.[1];
        const email = /Owner +(\S+)/.exec(output)?.[1];
        const password = /Password +(\S+)/.exec(output)?.[1];
        if (base === undefined || email === undefined || password === undefined) return;
        resolve({ base: `http://${base}`, email, password });
      };
      starting.stdout.on('data', read);
      starting.stderr.on('data', read);
      starting.once('close', () => reject(new Error(`it ended before it was ready: ${output}`)));
    });
  }
});

async function signInAs(page: Page, base: string, email: string, password: string): Promise<void> {
  await page.goto(base);
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.keyboard.press('Enter');
}

/** The first sign-in replaces the password that the first start printed (contract 42). */
async function replacePassword(page: Page, printed: string): Promise<void> {
  await page.waitForURL(/\/first-password\?to=/);
  await page.getByLabel('Current password').fill(printed);
  await page.getByLabel('New password').fill('chosen by the owner');
  await page.keyboard.press('Enter');
}
