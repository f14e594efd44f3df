// Journey: a platform and a signed-in browser for the tests of a screen, which must not complain.
import process from 'node:process';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { describeWith } from '../../tests/servers/server-tests.ts';
import type { World } from '../../tests/world/world.ts';
import {
  axeFindings,
  colorFindings,
  type Browser,
  type BrowserOptions,
  chromiumProgram,
  openBrowser,
  signIn,
} from './chromium.ts';

/** A platform and a browser, which exist from the first test of the journey on. */
export interface Stage<W extends World = World> {
  readonly world: W;
  readonly browser: Browser;
  readonly page: Page;
  /** Address of a page of the workspace, such as `devices/new`. */
  readonly at: (path: string) => string;
  /** Opens a page of the workspace. */
  readonly visit: (path: string) => Promise<void>;
  /** Axe finds nothing, light and dark; `PICTURES=folder` keeps a picture of each. */
  readonly inspect: (name: string) => Promise<void>;
  /**
   * Saves a record below the path, by key unless told how, and waits for the answer. A message does not
   * tell it: one may be of an earlier save, and `Saved` is also found in `Unsaved changes`.
   */
  readonly save: (path: string, act?: () => Promise<unknown>) => Promise<void>;
  /** Takes the expected complaints, for example of an answer 403 that the test causes. */
  readonly takeComplaints: () => string[];
}

export interface JourneyOptions<W extends World> {
  readonly start: () => Promise<W>;
  /** What exists before the browser signs in. */
  readonly prepare?: (world: W) => Promise<void>;
  /** Address that the browser uses in place of the platform's, such as that of a cable. */
  readonly base?: (world: W) => Promise<string> | string;
  readonly browser?: BrowserOptions;
  /** Without it the browser signs in as the first user. */
  readonly isSignedOut?: boolean;
  /** For a platform with much to prepare, in milliseconds. */
  readonly startMs?: number;
  readonly close?: () => Promise<void> | void;
}

/** How long an element may need to appear; the machine of CI also runs other tests. */
const elementMs = 60_000;
/** The first page of a browser that has just started, on a busy machine. */
const navigationMs = 120_000;
const startMs = 240_000;

/** Declares the tests of a journey; each fails on a complaint of the page that it does not take. */
export function journey<W extends World = World>(
  title: string,
  options: JourneyOptions<W>,
  tests: (stage: Stage<W>) => void,
): void {
  describeWith(chromiumProgram, title, () => {
    const stage = new Running<W>();
    beforeAll(() => stage.open(options), options.startMs ?? startMs);
    afterEach(() => {
      expect(stage.takeComplaints()).toEqual([]);
    });
    afterAll(() => stage.close(options), startMs);
    tests(stage);
  });
}

class Running<W extends World> implements Stage<W> {
  #world: W | undefined;
  #browser: Browser | undefined;
  #base = '';

  get world(): W {
    return started(this.#world);
  }

  get browser(): Browser {
    return started(this.#browser);
  }

  get page(): Page {
    return this.browser.page;
  }

  async open(options: JourneyOptions<W>): Promise<void> {
    const world = await options.start();
    this.#world = world;
    await options.prepare?.(world);
    this.#base = (await options.base?.(world)) ?? world.base;
    this.#browser = await openBrowser(this.#base, options.browser);
    this.page.setDefaultTimeout(elementMs);
    this.page.setDefaultNavigationTimeout(navigationMs);
    if (options.isSignedOut !== true) await signIn(this.page, this.#base);
  }

  async close(options: JourneyOptions<W>): Promise<void> {
    await this.#browser?.close();
    await options.close?.();
    await this.#world?.close();
  }

  readonly at = (path: string): string => `${this.#base}/w/${this.world.workspaceId}/${path}`;

  readonly visit = async (path: string): Promise<void> => {
    await this.page.goto(this.at(path));
  };

  readonly save = async (
    path: string,
    act: () => Promise<unknown> = () => this.page.keyboard.press('Control+s'),
  ): Promise<void> => {
    const [answer] = await Promise.all([
      this.page.waitForResponse(
        (one) => one.request().method() === 'PUT' && new URL(one.url()).pathname.startsWith(path),
      ),
      act(),
    ]);
    expect(answer.status()).toBe(200);
    // The page has taken the answer.
    await expect.poll(() => this.page.getByText(/^Unsaved changes/).count()).toBe(0);
  };

  readonly takeComplaints = (): string[] => this.#browser?.complaints.splice(0) ?? [];

  readonly inspect = async (name: string): Promise<void> => {
    for (const theme of ['dark', 'light'] as const) {
      await this.page.evaluate((chosen) => {
        document.documentElement.dataset['theme'] = chosen;
        dispatchEvent(new Event('themechange'));
      }, theme);
      // A theme changes nothing but colors, so the page is checked as a whole once.
      const findings = await (theme === 'light' ? axeFindings : colorFindings)(this.page);
      // oxlint-disable-next-line node/no-process-env -- pictures are asked for by hand
      const folder = process.env['PICTURES'];
      if (folder !== undefined)
        await this.page.screenshot({ path: `${folder}/${name}-${theme}.png`, fullPage: true });
      expect(findings).toEqual([]);
    }
  };
}

function started<T>(part: T | undefined): T {
  if (part === undefined) throw new Error('the journey has not started');
  return part;
}
