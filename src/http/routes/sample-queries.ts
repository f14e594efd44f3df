// Routes of stored samples (interface 4.1, 4.4, contract 20, 22).
import { Readable } from 'node:stream';
import type { Static } from 'typebox';
import { isDeepStrictEqual } from 'node:util';
import { type latestSamplesBody, samples } from '../../contract/sample-queries.ts';
import { fieldFilter } from '../../dashboards/plan.ts';
import { newestUntil, restorePlus } from '../../model/instant.ts';
import { parseBound } from '../../model/timestamp.ts';
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import { type SharedDashboard, sharedTopics } from '../../model/dashboard.ts';
import { openTimeZone } from '../../model/time-zone.ts';
import { inferSchema, withCalculated } from '../../query/inferred-schema.ts';
import { latestOfDevices, type Moment, samplesOfShare } from '../../query/latest-samples.ts';
import {
  everyTopic,
  exportTypes,
  rangeOf,
  sampleAnswer,
  sampleExport,
  type SampleQueryBody,
  sampleScan,
  topicOf,
} from '../../query/sample-query.ts';
import { SamplesAnswer } from '../../query/unwritten-json.ts';
import { Completeness, incompleteHeader } from '../edge/exchange.ts';
import { Answer, resourceRoute, route, type Route, unwrittenAnswer } from '../edge/route.ts';
import { deviceInPath, type Queries, readableDevices } from './device-access.ts';
import { Assets } from '../../inventory/devices/assets.ts';
import { fixedDurationMs } from '../../model/iso-duration.ts';
import { pageOf, type PageRequest, pageSizeDefault, pageSizeMax } from '../../model/page.ts';

/** Samples by POST and GET, topics, latest sample, inferred schema, export. */
export function sampleQueryRoutes(parts: Queries): Route[] {
  const inPath = deviceInPath(parts);
  const answered = async (
    deviceId: string,
    body: SampleQueryBody,
    {
      aliased,
      share,
    }: { readonly aliased: boolean; readonly share: Principal['share'] | undefined },
  ) => {
    const { unreadable, isIncomplete } = new Completeness();
    const found = await parts.store.samples({ ...sampleScan(deviceId, body), unreadable });
    return unwrittenAnswer(
      new SamplesAnswer(samplesOfShare(found, share), aliased),
      isIncomplete() ? incompleteHeader : {},
    );
  };
  return [
    resourceRoute(samples.query, inPath, ({ params: { deviceId }, body, headers }, { share }) =>
      answered(deviceId, body, { aliased: parts.aliased(headers), share }),
    ),
    resourceRoute(samples.list, inPath, ({ params: { deviceId }, query, headers }, { share }) => {
      const { topic = null, limit = null, skip = null } = query;
      const timestamp = {
        gt: timeOf(query['timestamp.gt']),
        gte: timeOf(query['timestamp.gte']),
        lt: timeOf(query['timestamp.lt']),
        lte: timeOf(query['timestamp.lte']),
      };
      const asked = { topic, limit, skip, timestamp };
      return answered(deviceId, asked, { aliased: parts.aliased(headers), share });
    }),
    topicsRoute(parts),
    latestSampleRoute(parts),
    inferSchemaRoute(parts),
    exportRoute(parts),
    latestOfManyRoute(parts),
  ];
}

function timeOf(parameter: string | undefined): string | null {
  return parameter === undefined ? null : restorePlus(parameter);
}

function topicsRoute(parts: Queries): Route {
  return resourceRoute(
    samples.topics,
    deviceInPath(parts),
    async ({ params: { deviceId } }, { share }) => {
      const topics = (await parts.store.topics(deviceId)).map(({ topic }) => topic);
      const shown = share && sharedTopics(share, deviceId);
      return shown === undefined ? topics : topics.filter((topic) => shown.includes(topic));
    },
  );
}

function latestSampleRoute(parts: Queries): Route {
  return resourceRoute(
    samples.latest,
    deviceInPath(parts),
    async ({ params: { deviceId }, query: { topic }, headers }, { share }) => {
      const { unreadable, isIncomplete, refuse, answer } = new Completeness();
      const named = topicOf(topic ?? everyTopic).topic;
      const shown = named === undefined && share ? sharedTopics(share, deviceId) : undefined;
      const found = await Promise.all(
        (shown ?? [named]).map((one) => parts.store.latestSample(deviceId, one, unreadable)),
      );
      const [sample] = samplesOfShare(
        found.filter((one) => one !== undefined),
        share,
      ).toSorted((a, b) => b.timestamp - a.timestamp);
      if (sample === undefined) {
        refuse();
        throw problem('noSample', { deviceId });
      }
      return answer({
        ...sampleAnswer(sample, parts.aliased(headers)),
        ...(sample.timestamp > newestUntil(parts.now()) && { future: true }),
        ...(isIncomplete() && { incomplete: true }),
      });
    },
  );
}

function inferSchemaRoute(parts: Queries): Route {
  return resourceRoute(
    samples.inferSchema,
    deviceInPath(parts),
    async ({ params: { deviceId } }) => {
      const type = await parts.typeOfDevice(deviceId);
      const schemas = await inferSchema(deviceId, type?.schemas ?? {}, parts.store, parts.now());
      return { ...withCalculated(deviceId, schemas, type?.calculatedKeys ?? []) };
    },
  );
}

function exportRoute(parts: Queries): Route {
  return resourceRoute(
    samples.export,
    deviceInPath(parts),
    async ({
      params: { deviceId },
      query: { format = 'ndjson', topic = everyTopic, timeZone, ...sent },
    }) => {
      const [from, to] = [timeOf(sent.from), timeOf(sent.to)];
      const bounds = { gte: from, lt: to };
      if (from !== null && to !== null && parseBound('from', from) >= parseBound('to', to)) {
        throw problem('badInterval', { reason: `from (${from}) must be before to (${to})` });
      }
      const range = { deviceId, ...topicOf(topic), ...rangeOf(bounds) };
      const zone = openTimeZone(timeZone ?? 'UTC');
      if (zone === undefined) throw problem('unknownTimeZone', { timeZone: timeZone ?? '' });
      const { text, isIncomplete } = await sampleExport(range, format, parts.store, zone);
      return new Answer(200, Readable.from(text), {
        ...(isIncomplete && incompleteHeader),
        'content-type': exportTypes[format],
        'content-disposition': `attachment; filename="samples-${deviceId.replace(/[^\w.-]/g, '_')}.${format === 'excel' ? 'csv' : format}"`,
      });
    },
  );
}

// Route of the latest samples of many devices (contract 37).

type Body = Static<typeof latestSamplesBody>;

/** The ids of one page of devices, and the number of devices on all pages. */
interface DevicePage {
  readonly ids: readonly string[];
  readonly total: number;
}

/** The newest sample of each topic, for named devices or a page of a workspace's, tag's or place's. */
function latestOfManyRoute(parts: Queries): Route {
  return route(samples.latestOfMany, async ({ body }, principal) => {
    const completeness = new Completeness();
    const page = await latestSamples(body, principal, completeness, parts);
    return completeness.answer({
      ...page,
      ...(completeness.isIncomplete() && { incomplete: true as const }),
    });
  });
}

/** What the route answers. `completeness` learns what could not be read. */
export async function latestSamples(
  body: Body,
  principal: Principal,
  { unreadable }: Completeness,
  parts: Queries,
) {
  const request = pageOfBody(body);
  const moment = momentOf(body);
  const { ids, total } = await devicesOf(body, request, principal, parts);
  const wanted = {
    topics: body.topics ?? undefined,
    keys: body.keys ?? undefined,
    now: parts.now(),
    moment,
    unreadable,
    share: principal.share,
  };
  return pageOf(await latestOfDevices(ids, wanted, parts.store), total, request);
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
  parts: Queries,
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
  // Of a workspace, only what a filter finds; of a tag or place, all that the tiles show.
  if (principal.share !== undefined && Boolean(workspaceId) === Boolean(expression))
    return sharedDevices(body, request, principal.share, principal, parts);
  const { rows, total } = await new Assets(parts.records).devicePage(
    principal,
    { ...(await placeOf(body, principal, parts)), expression },
    request,
  );
  return { ids: rows.map(({ id }) => id), total };
}

/** The devices of the tag, place, or custom field value that the token of a shared dashboard reads. */
async function sharedDevices(
  body: Body,
  { page, size }: PageRequest,
  share: SharedDashboard,
  principal: Principal,
  parts: Queries,
): Promise<DevicePage> {
  const ids = body.workspaceId
    ? sharedByField(body, share)
    : await sharedOfGroup(body, share, principal, parts);
  return { ids: ids.slice(page * size, (page + 1) * size), total: ids.length };
}

/** Throws Problem 403 for every filter but that of a custom field of the dashboard. */
function sharedByField(
  { workspaceId, expression }: Body,
  { workspaceId: shared, fields }: SharedDashboard,
): readonly string[] {
  const found = fields.find(({ metaId, value }) =>
    isDeepStrictEqual(expression, fieldFilter(metaId, value)),
  );
  if (found === undefined || workspaceId !== shared) throw problem('permissionDenied');
  return found.deviceIds;
}

async function sharedOfGroup(
  { tagId, placeId }: Body,
  { series }: SharedDashboard,
  principal: Principal,
  { authorize, placeOfTag, devicesOfTag, ownerOfPlace, devicesOfPlace }: Queries,
): Promise<readonly string[]> {
  const owner = tagId ? await placeOfTag(tagId) : await ownerOfPlace(placeId ?? '');
  authorize(principal, 'asset', 'read', owner);
  const devices = tagId ? await devicesOfTag(tagId) : await devicesOfPlace(placeId ?? '');
  return devices.map(({ id }) => id).filter((id) => series.has(id));
}

/** The workspace, or the tag or place with its workspace, as a filter of devices. */
async function placeOf(
  { workspaceId, tagId, placeId }: Body,
  principal: Principal,
  { placeOfTag, ownerOfPlace, authorize }: Queries,
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
