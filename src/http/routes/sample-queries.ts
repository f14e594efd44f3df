// Routes that answer stored samples as they are (interface 4.1 and 4.4, contract 20 and 22).
import { Readable } from 'node:stream';
import Type from 'typebox';
import {
  deviceParams,
  exportParameters,
  inferredSchemas,
  latestSampleSchema,
  sampleQueryBody,
  sampleQueryParameters,
  sampleSchema,
  topicParameter,
} from '../../contract/queries.ts';
import { plusRestored } from '../../model/instant.ts';
import { problem } from '../../model/problem.ts';
import { type DeclaredSchemas, inferSchema } from '../../query/inferred-schema.ts';
import { parseBound } from '../../query/interval.ts';
import type { ReadingStore } from '../../query/sample-reader.ts';
import { exportTypes, sampleExport } from '../../query/sample-export.ts';
import {
  everyTopic,
  rangeOf,
  type SampleQueryBody,
  sampleAnswer,
  sampleScan,
  topicOf,
} from '../../query/sample-query.ts';
import { completeness, incompleteHeader } from '../edge/incomplete-answer.ts';
import { Answer, guardedRoute, type Route } from '../edge/route.ts';
import { type DeviceAccess, readsDevice } from './device-access.ts';

export interface SampleQueryParts extends Pick<DeviceAccess, 'placeOfDevice' | 'aliased'> {
  readonly store: ReadingStore;
  /** The schemas of the device's type, by topic; none without a type. */
  readonly declaredSchemas: (deviceId: string) => DeclaredSchemas | Promise<DeclaredSchemas>;
}

const tag = 'Data';

/** Samples by POST and GET, topics, latest sample, inferred schema, export. */
export function sampleQueryRoutes(parts: SampleQueryParts): Route[] {
  const access = readsDevice(parts);
  const params = deviceParams;
  const response = Type.Array(sampleSchema);
  const samples = async (deviceId: string, body: SampleQueryBody, aliased: boolean) => {
    const { unreadable, answer } = completeness();
    const found = await parts.store.samples({ ...sampleScan(deviceId, body), unreadable });
    return answer(found.map((sample) => sampleAnswer(sample, aliased)));
  };
  return [
    guardedRoute({
      method: 'POST',
      path: '/v3/devices/:deviceId/query',
      summary: 'Samples of a device, newest first',
      tag,
      access,
      params,
      body: sampleQueryBody,
      response,
      handle: ({ params: { deviceId }, body, headers }) =>
        samples(deviceId, body, parts.aliased(headers)),
    }),
    guardedRoute({
      method: 'GET',
      path: '/v3/devices/:deviceId/query',
      summary: 'Samples of a device, newest first',
      tag,
      access,
      params,
      query: sampleQueryParameters,
      response,
      handle: ({ params: { deviceId }, query, headers }) => {
        const { topic = null, limit = null, skip = null } = query;
        const timestamp = {
          gt: timeOf(query['timestamp.gt']),
          gte: timeOf(query['timestamp.gte']),
          lt: timeOf(query['timestamp.lt']),
          lte: timeOf(query['timestamp.lte']),
        };
        return samples(deviceId, { topic, limit, skip, timestamp }, parts.aliased(headers));
      },
    }),
    topicsRoute(parts),
    latestSampleRoute(parts),
    inferSchemaRoute(parts),
    exportRoute(parts),
  ];
}

function timeOf(parameter: string | undefined): string | null {
  return parameter === undefined ? null : plusRestored(parameter);
}

function topicsRoute(parts: SampleQueryParts): Route {
  return guardedRoute({
    method: 'GET',
    path: '/v3/devices/:deviceId/query/topics',
    summary: 'Topics that a device has samples of',
    tag,
    access: readsDevice(parts),
    params: deviceParams,
    response: Type.Array(Type.String()),
    handle: async ({ params: { deviceId } }) =>
      (await parts.store.topics(deviceId)).map(({ topic }) => topic),
  });
}

function latestSampleRoute(parts: SampleQueryParts): Route {
  return guardedRoute({
    method: 'GET',
    path: '/v3/devices/:deviceId/query/latest-sample',
    summary: 'The newest sample of a device; 404 when it has none',
    tag,
    access: readsDevice(parts),
    params: deviceParams,
    query: topicParameter,
    response: latestSampleSchema,
    handle: async ({ params: { deviceId }, query: { topic }, headers }) => {
      const { unreadable, isIncomplete, refuse, answer } = completeness();
      const sample = await parts.store.latestSample(
        deviceId,
        topicOf(topic ?? everyTopic).topic,
        unreadable,
      );
      if (sample === undefined) {
        refuse();
        throw problem('noSample', { deviceId });
      }
      return answer({
        ...sampleAnswer(sample, parts.aliased(headers)),
        ...(isIncomplete() ? { incomplete: true } : {}),
      });
    },
  });
}

function inferSchemaRoute(parts: SampleQueryParts): Route {
  return guardedRoute({
    method: 'GET',
    path: '/v3/devices/:deviceId/infer-schema',
    summary: 'The schema of the data of a device: declared by its type and measured',
    tag,
    access: readsDevice(parts),
    params: deviceParams,
    response: inferredSchemas,
    handle: async ({ params: { deviceId } }) => ({
      ...(await inferSchema(deviceId, await parts.declaredSchemas(deviceId), parts.store)),
    }),
  });
}

function exportRoute(parts: SampleQueryParts): Route {
  return guardedRoute({
    method: 'GET',
    path: '/v3/devices/:deviceId/export',
    summary: 'All samples of a device, oldest first, as a download',
    tag,
    access: readsDevice(parts),
    params: deviceParams,
    query: exportParameters,
    answerTypes: { 'application/x-ndjson': Type.String(), 'text/csv': Type.String() },
    handle: async ({
      params: { deviceId },
      query: { format = 'ndjson', topic = everyTopic, ...sent },
    }) => {
      const [from, to] = [timeOf(sent.from), timeOf(sent.to)];
      const bounds = { gte: from, lt: to };
      if (from !== null && to !== null && parseBound('from', from) >= parseBound('to', to)) {
        throw problem('badInterval', { reason: `from (${from}) is not before to (${to})` });
      }
      const range = { deviceId, ...topicOf(topic), ...rangeOf(bounds) };
      const { text, isIncomplete } = await sampleExport(range, format, parts.store);
      return new Answer(200, Readable.from(text), {
        ...(isIncomplete ? incompleteHeader : {}),
        'content-type': exportTypes[format],
        'content-disposition': `attachment; filename="samples-${deviceId.replace(/[^\w.-]/g, '_')}.${format}"`,
      });
    },
  });
}
