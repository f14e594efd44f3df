// Every page: the addresses of all routes of the console, filled with ids, as its router has them.
import type { Page } from 'playwright-core';

/** Ids for the parameters of addresses, by the name of the parameter. */
export type PageIds = Readonly<Record<string, string>>;

interface Router {
  readonly routesByPath: Readonly<Record<string, { readonly options: { component?: unknown } }>>;
  readonly state: { readonly status: string };
  navigate(to: { readonly href: string }): Promise<void>;
}
export interface RouterHolder {
  readonly __TSR_ROUTER__: Router;
}

/** Pages that a user with full access does not see: sign-in, second factor, invitation and passwords. */
const entrancePages = /^\/(sign-in|second-factor|invitations|password-reset|first-password)(\/|$)/;

/** Addresses without a page of their own, which lead to the page or say that there is none. */
const elsewhere = /\/\$$/;

/** Addresses of every route with a screen, by its path; fails for a parameter without an id. */
export async function everyPage(page: Page, ids: PageIds): Promise<Map<string, string>> {
  await allRoutes(page);
  const paths = await page.evaluate(() => {
    const { __TSR_ROUTER__: router } = globalThis as unknown as RouterHolder;
    return Object.entries(router.routesByPath)
      .filter(([, { options }]) => options.component !== undefined)
      .map(([path]) => path);
  });
  const shown = paths.map((path) => path.replace(/(?<=.)\/$/, '')).filter(isShown);
  return new Map([...new Set(shown)].map((path) => [path, addressOf(path, ids)]));
}

function isShown(path: string): boolean {
  return path !== '/' && !entrancePages.test(path) && !elsewhere.test(path);
}

/** The console starts with the routes of its first screens and adds the others by itself. */
async function allRoutes(page: Page): Promise<void> {
  await page.waitForFunction(() => {
    const { __TSR_ROUTER__: router } = globalThis as unknown as RouterHolder;
    return router.routesByPath['/w/$workspaceId/devices'] !== undefined;
  });
}

export function addressOf(path: string, ids: PageIds): string {
  return path.replaceAll(/\$(\w+)/g, (_, name: string) => {
    const id = ids[name];
    if (id === undefined) throw new Error(`${path}: the test has no ${name}`);
    return id;
  });
}

/** Goes there without loading the console again, and waits until no part of the page is loading. */
export async function goTo(page: Page, address: string): Promise<void> {
  await page.evaluate(async (href) => {
    const { __TSR_ROUTER__: router } = globalThis as unknown as RouterHolder;
    await router.navigate({ href });
  }, address);
  await page.waitForFunction(() => {
    const { __TSR_ROUTER__: router } = globalThis as unknown as RouterHolder;
    return router.state.status === 'idle' && document.querySelector('[class*="_bone_"]') === null;
  });
}
