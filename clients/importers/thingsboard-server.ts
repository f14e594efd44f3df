// ThingsBoard server: devices, attributes and time series over its REST API, a page at a time.
import type { Json, JsonObject } from '../../src/model/json.ts';
import { bodyOf, createSend, type Send } from '../typescript/requests.ts';
import type {
  Moved,
  MovedDevice,
  MovedSample,
  ReadOptions,
  Remark,
  ThingsBoardCredentials,
} from './moved.ts';
import { memberAt, textAt } from './source-fields.ts';
import { deviceFrom, objectsIn, rowsOf, scopes } from './thingsboard-items.ts';

const devicesPerPage = 100;
/** Values of a key in one answer. */
const valuesPerPage = 10_000;
/** Keys in one address. */
const keysPerPage = 50;

interface Found {
  readonly id: string;
  readonly device: MovedDevice;
}

/** Throws HeliographError for what the server refuses, and Error without credentials. */
export async function readThingsBoardServer(
  url: string,
  { thingsBoard, signal }: ReadOptions,
): Promise<Moved> {
  const send = await openServer(url, thingsBoard);
  const get = async (path: string, query: Record<string, unknown> = {}): Promise<Json> =>
    (await bodyOf(await send('get', path, { query, signal }))) as Json;
  const found: Found[] = [];
  const remarks: Remark[] = [];
  for await (const device of devicesAt(get)) {
    const place = { file: url, line: found.length + remarks.length + 1 };
    const id = textAt(device, 'id.id') ?? '';
    const attributes: Record<string, Json> = {};
    for (const scope of scopes)
      attributes[scope] = await get(`${telemetryPath(id)}/values/attributes/${scope}`);
    const moved = deviceFrom(place, device, attributes);
    if (moved !== undefined) found.push({ id, device: moved });
    else {
      const reason = 'a device needs a name, which becomes its physical id';
      remarks.push({ place, outcome: 'error', kind: 'device', name: id, reason });
    }
  }
  const endTs = Date.now();
  return {
    types: [],
    devices: found.map(({ device }) => device),
    remarks,
    samples: () => samplesAt(get, found, endTs),
    close: () => undefined,
  };
}

type Get = (path: string, query?: Record<string, unknown>) => Promise<Json>;

function telemetryPath(id: string): string {
  return `/api/plugins/telemetry/DEVICE/${encodeURIComponent(id)}`;
}

/** Calls with the token in the header that this server reads, and with retries. */
async function openServer(url: string, credentials: ThingsBoardCredentials): Promise<Send> {
  let token = credentials.token ?? (await signedIn(url, credentials));
  const isRenewable = credentials.token === undefined;

  async function authorized(address: string | URL | Request, init?: RequestInit) {
    const headers = new Headers(init?.headers);
    headers.set('x-authorization', `Bearer ${token}`);
    const answer = await fetch(address, { ...init, headers });
    if (answer.status !== 401 || !isRenewable) return answer;
    // A token is valid for some hours; an export can take longer.
    await answer.body?.cancel();
    token = await signedIn(url, credentials);
    headers.set('x-authorization', `Bearer ${token}`);
    return fetch(address, { ...init, headers });
  }

  return createSend({ url, fetch: authorized });
}

async function signedIn(
  url: string,
  { username, password }: ThingsBoardCredentials,
): Promise<string> {
  if (username === undefined || password === undefined)
    throw new Error(
      'set THINGSBOARD_TOKEN, or THINGSBOARD_USERNAME and THINGSBOARD_PASSWORD, for this server',
    );
  const call = { body: { username, password } };
  const answer = await createSend({ url })('post', '/api/auth/login', call);
  const { token } = (await bodyOf(answer)) as { readonly token: string };
  return token;
}

async function* devicesAt(get: Get): AsyncGenerator<JsonObject> {
  for (let page = 0; ; page++) {
    const order = { sortProperty: 'createdTime', sortOrder: 'ASC' };
    const query = { pageSize: devicesPerPage, page, ...order };
    const answer = (await get('/api/tenant/devices', query)) as JsonObject;
    yield* objectsIn(answer['data']);
    if (memberAt(answer, 'hasNext') !== true) return;
  }
}

async function* samplesAt(
  get: Get,
  found: readonly Found[],
  endTs: number,
): AsyncGenerator<readonly MovedSample[]> {
  for (const { id, device } of found) {
    const { place, deviceId } = device;
    const keys = (await get(`${telemetryPath(id)}/keys/timeseries`)) as readonly string[];
    for (let at = 0; at < keys.length; at += keysPerPage) {
      const some = keys.slice(at, at + keysPerPage);
      for await (const rows of seriesPages(get, { id, keys: some, endTs }))
        yield rows.map(([timestamp, data]) => ({
          place,
          deviceId,
          topic: 'default',
          timestamp,
          data,
        }));
    }
  }
}

interface SeriesParts {
  readonly id: string;
  readonly keys: readonly string[];
  /** Not included. */
  readonly endTs: number;
}

/**
 * Keys end at different times: of those whose answer is full, the first end is how far all are
 * known, so that a sample has the values of all keys.
 */
async function* seriesPages(
  get: Get,
  { id, keys, endTs }: SeriesParts,
): AsyncGenerator<ReturnType<typeof rowsOf>> {
  for (let startTs = 0; ; ) {
    const settings = { limit: valuesPerPage, orderBy: 'ASC', useStrictDataTypes: true };
    const query = { keys: keys.join(','), startTs, endTs, ...settings };
    const series = (await get(`${telemetryPath(id)}/values/timeseries`, query)) as JsonObject;
    const ends = Object.values(series)
      .map((list) => objectsIn(list))
      .filter((list) => list.length >= valuesPerPage)
      .map((list) => Number(list.at(-1)?.['ts']));
    const known = Math.min(...ends, Number.POSITIVE_INFINITY);
    yield rowsOf(series).filter(([timestamp]) => timestamp <= known);
    if (ends.length === 0) return;
    startTs = known + 1;
  }
}
