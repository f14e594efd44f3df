// Provider visit: a browser without a screen that signs in at the provider of the tests and follows every redirect.

/** Cookies by origin, as a browser keeps them; paths and flags do not matter to these tests. */
export type CookieJar = Map<string, Map<string, string>>;

export interface Visited {
  readonly url: URL;
  readonly status: number;
  readonly text: string;
}

const hopsMax = 20;

/** Follows redirects of the address until a page comes. */
export async function visit(
  jar: CookieJar,
  address: string,
  form?: Readonly<Record<string, string>>,
): Promise<Visited> {
  let url = new URL(address);
  let body = form === undefined ? undefined : new URLSearchParams(form);
  for (let hop = 0; hop < hopsMax; hop++) {
    const answer = await fetch(url, {
      method: body === undefined ? 'GET' : 'POST',
      redirect: 'manual',
      headers: { cookie: cookiesOf(jar, url), accept: 'text/html' },
      ...(body !== undefined && { body }),
    });
    keepCookies(jar, url, answer.headers.getSetCookie());
    const location = answer.headers.get('location');
    const text = await answer.text();
    if (location === null) return { url, status: answer.status, text };
    url = new URL(location, url);
    body = undefined;
  }
  throw new Error(`more than ${hopsMax} redirects, the last one to ${url.href}`);
}

/** Starts at the platform, types the login, agrees, and returns where the browser ends. */
export async function signInAtProvider(
  jar: CookieJar,
  start: string,
  login: string,
): Promise<Visited> {
  let page = await visit(jar, start);
  for (let form = formOf(page); form !== undefined; form = formOf(page))
    page = await visit(jar, form.action, { ...form.fields, login, password: 'any' });
  return page;
}

/** The form of an interaction of the provider. */
function formOf({ url, text }: Visited) {
  const action = /<form[^>]*action="([^"]+)"/.exec(text)?.[1];
  if (action === undefined || !url.pathname.startsWith('/interaction/')) return undefined;
  const prompt = /name="prompt" value="(\w+)"/.exec(text)?.[1] ?? '';
  return { action: new URL(action, url).href, fields: { prompt } };
}

export function cookiesOf(jar: CookieJar, { origin }: URL): string {
  return [...(jar.get(origin) ?? [])].map(([name, value]) => `${name}=${value}`).join('; ');
}

function keepCookies(jar: CookieJar, { origin }: URL, set: readonly string[]): void {
  const own = jar.get(origin) ?? new Map<string, string>();
  jar.set(origin, own);
  for (const one of set) {
    const [pair = ''] = one.split(';');
    const at = pair.indexOf('=');
    const name = pair.slice(0, at);
    if (/max-age=0|expires=thu, 01 jan 1970/i.test(one)) own.delete(name);
    else own.set(name, pair.slice(at + 1));
  }
}
