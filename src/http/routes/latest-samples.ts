// Route of the latest samples of many devices (contract 37).
import type { Static } from 'typebox';
import { type latestSamplesBody, samples } from '../../contract/sample-queries.ts';
import { listDevicePage } from '../../inventory/devices/assets.ts';
import type { EpochMs } from '../../model/instant.ts';
import { fixedDurationMs } from '../../model/iso-duration.ts';
import { pageOf, type PageRequest, pageSizeDefault, pageSizeMax } from '../../model/page.ts';
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import type { SharedDashboard } from '../../model/shared-dashboard.ts';
import { parseBound } from '../../model/timestamp.ts';
import { latestOfDevices, type Moment } from '../../query/latest-samples.ts';
import type { ReadingStore } from '../../query/accumulation.ts';
import { Completeness } from '../edge/exchange.ts';
import { type Route, route } from '../edge/route.ts';
import { type DeviceAccess, readableDevices } from './device-access.ts';
import type { RecordParts } from './record-parts.ts';

interface LatestSamplesParts extends DeviceAccess, Pick<RecordParts, 'records'> {
  readonly store: Pick<ReadingStore, 'latest' | 'buckets' | 'samples'>;
  readonly now: () => EpochMs;
}

type Body = Static<typeof latestSamplesBody>;

/** The ids of one page of devices, and the number of devices on all pages. */
interface DevicePage {
  readonly ids: readonly string[];
  readonly total: number;
}

/** The newest sample of each topic, for named devices or a page of a workspace's, tag's or place's. */
export function latestSamplesRoute(parts: LatestSamplesParts): Route {
  return route(samples.latestOfMany, async ({ body }, principal) => {
    const request = pageOfBody(body);
    const moment = momentOf(body);
    const { ids, total } = await devicesOf(body, request, principal, parts);
    const { unreadable, isIncomplete, answer } = new Completeness();
    const wanted = {
      topics: body.topics ?? undefined,
      keys: body.keys ?? undefined,
      now: parts.now(),
      moment,
      unreadable,
      share: principal.share,
    };
    const content = await latestOfDevices(ids, wanted, parts.store);
    return answer({
      ...pageOf(content, total, request),
      ...(isIncomplete() && { incomplete: true as const }),
    });
  });
}

const withinLimits = { min: 'PT1S', max: 'P366D' } as const;

/** Throws 400. */
function momentOf({ at, within }: Body): Moment | undefined {
  const isNow = (at ?? undefined) === undefined;
  if (isNow && (within ?? undefined) === undefined) return undefined;
  if (isNow) throw problem('invalidRequest', { reason: 'body within: requires at' });
  const moment = parseBound('at', at ?? '');
  const length = fixedDurationMs(within ?? 'P7D', withinLimits);
  if (typeof length === 'string')
    throw problem('invalidRequest', { reason: `body within: ${length}` });
  return { at: moment, from: moment - length };
}

/** Without a size, named devices are one page. */
function pageOfBody({ deviceIds, page, size }: Body): PageRequest {
  const isNamed = (deviceIds ?? undefined) !== undefined;
  return { page: page ?? 0, size: size ?? (isNamed ? pageSizeMax : pageSizeDefault), sort: [] };
}

/** Throws Problem 400, 403 or 404. */
async function devicesOf(
  body: Body,
  request: PageRequest,
  principal: Principal,
  parts: LatestSamplesParts,
): Promise<DevicePage> {
  const { deviceIds, workspaceId, tagId, placeId, expression } = body;
  const named = [deviceIds, workspaceId, tagId, placeId].filter(
    (one) => (one ?? undefined) !== undefined,
  );
  if (named.length !== 1)
    throw problem('invalidRequest', {
      reason: 'body: set exactly one of deviceIds, workspaceId, tagId, and placeId',
    });
  if (deviceIds) {
    if ((expression ?? undefined) !== undefined)
      throw problem('invalidRequest', {
        reason: 'body expression: requires workspaceId, tagId, or placeId',
      });
    const devices = await readableDevices(deviceIds, principal, parts);
    const { page, size } = request;
    const shown = devices.slice(page * size, (page + 1) * size);
    return { ids: shown.map(({ id }) => id), total: devices.length };
  }
  if (principal.share !== undefined && placeId && !expression)
    return sharedDevices(placeId, request, principal.share, principal, parts);
  const { rows, total } = await listDevicePage(
    parts.records,
    principal,
    { ...(await placeOf(body, principal, parts)), expression },
    request,
  );
  return { ids: rows.map(({ id }) => id), total };
}

/** The devices of the place that the token of a shared dashboard reads. */
async function sharedDevices(
  placeId: string,
  { page, size }: PageRequest,
  { series }: SharedDashboard,
  principal: Principal,
  { authorize, ownerOfPlace, devicesOfPlace }: LatestSamplesParts,
): Promise<DevicePage> {
  authorize(principal, 'asset', 'read', await ownerOfPlace(placeId));
  const ids = (await devicesOfPlace(placeId)).map(({ id }) => id).filter((id) => series.has(id));
  return { ids: ids.slice(page * size, (page + 1) * size), total: ids.length };
}

/** The workspace, or the tag or place with its workspace, as a filter of devices. */
async function placeOf(
  { workspaceId, tagId, placeId }: Body,
  principal: Principal,
  { placeOfTag, ownerOfPlace, authorize }: LatestSamplesParts,
): Promise<{
  readonly workspaceIds: readonly string[];
  readonly tagIds?: readonly string[];
  readonly placeIds?: readonly string[];
}> {
  if (workspaceId) return { workspaceIds: [workspaceId] };
  const owner = placeId ? await ownerOfPlace(placeId) : await placeOfTag(tagId ?? '');
  authorize(principal, 'asset', 'read', owner);
  if (owner.workspaceId === null) throw new Error(`${owner.what} ${owner.id} is in no workspace`);
  const workspaceIds = [owner.workspaceId];
  return placeId ? { workspaceIds, placeIds: [placeId] } : { workspaceIds, tagIds: [tagId ?? ''] };
}
