// Routes of stored samples (interface 4.1, 4.4, contract 20, 22).
import { Readable } from 'node:stream';
import { samples } from '../../contract/sample-queries.ts';
import { type EpochMs, newestUntil, restorePlus } from '../../model/instant.ts';
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import { sharedTopics } from '../../model/shared-dashboard.ts';
import type { DeviceType } from '../../model/device-type.ts';
import { openTimeZone } from '../../model/time-zone.ts';
import { parseBound } from '../../model/timestamp.ts';
import type { ReadingStore } from '../../query/accumulation.ts';
import { type DeclaredSchemas, inferSchema, withCalculated } from '../../query/inferred-schema.ts';
import { samplesOfShare } from '../../query/latest-samples.ts';
import { exportTypes, sampleExport } from '../../query/sample-export.ts';
import {
  everyTopic,
  rangeOf,
  sampleAnswer,
  type SampleQueryBody,
  sampleScan,
  samplesJson,
  topicOf,
} from '../../query/sample-query.ts';
import { Completeness, incompleteHeader } from '../edge/exchange.ts';
import { Answer, resourceRoute, type Route, writtenAnswer } from '../edge/route.ts';
import { type DeviceAccess, deviceInPath } from './device-access.ts';

interface SampleQueryParts extends Pick<DeviceAccess, 'placeOfDevice' | 'aliased'> {
  readonly store: ReadingStore;
  readonly now: () => EpochMs;
  /** What the device's type says of its data; null without a type. */
  readonly typeOfDevice: (deviceId: string) => Promise<{
    /** By topic. */
    readonly schemas: DeclaredSchemas;
    readonly calculatedKeys: DeviceType['calculatedKeys'];
  } | null>;
}

/** Samples by POST and GET, topics, latest sample, inferred schema, export. */
export function sampleQueryRoutes(parts: SampleQueryParts): Route[] {
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
    return writtenAnswer(
      samplesJson(samplesOfShare(found, share), aliased),
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
  ];
}

function timeOf(parameter: string | undefined): string | null {
  return parameter === undefined ? null : restorePlus(parameter);
}

function topicsRoute(parts: SampleQueryParts): Route {
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

function latestSampleRoute(parts: SampleQueryParts): Route {
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

function inferSchemaRoute(parts: SampleQueryParts): Route {
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

function exportRoute(parts: SampleQueryParts): Route {
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
