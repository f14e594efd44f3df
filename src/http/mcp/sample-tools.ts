// Sample tools: stored samples, the newest values of many devices, and summaries.
import Type from 'typebox';
import { deviceId } from './device-tools.ts';
import { type Tool, tool } from './tool.ts';

const time = (description: string) =>
  Type.String({
    maxLength: 40,
    description: `${description}, ISO 8601 such as 2026-01-31T08:00:00Z`,
  });
const topic = Type.Optional(
  Type.String({ maxLength: 1_000, description: 'Topic of the samples. Defaults to `default`.' }),
);

const querySamples = tool({
  name: 'query_samples',
  title: 'Query samples',
  description: 'Returns up to 500 stored samples of a device, newest first.',
  input: Type.Object(
    {
      deviceId,
      topic: Type.Optional(
        Type.String({ maxLength: 1_000, description: 'One topic; all when absent' }),
      ),
      from: Type.Optional(time('Inclusive')),
      to: Type.Optional(time('Exclusive')),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500 })),
    },
    { additionalProperties: false },
  ),
  async run({ ask }, { deviceId: id, topic: asked = '*', from, to, limit = 50 }) {
    const timestamp = {
      ...(from !== undefined && { gte: from }),
      ...(to !== undefined && { lt: to }),
    };
    const path = `/v3/devices/${encodeURIComponent(id)}/query`;
    return ask('POST', path, { topic: asked, limit, timestamp });
  },
});

const latestSamples = tool({
  name: 'latest_samples',
  title: 'Latest samples',
  description:
    'Returns the newest sample per topic for up to 50 devices. Unknown devices are omitted.',
  input: Type.Object(
    { deviceIds: Type.Array(deviceId, { minItems: 1, maxItems: 50 }) },
    { additionalProperties: false },
  ),
  async run({ ask }, { deviceIds }) {
    const found = await ask('POST', '/v3/devices/query/latest', {
      deviceIds,
      size: deviceIds.length,
    });
    return (found as { readonly content: unknown }).content;
  },
});

const summarize = tool({
  name: 'summarize',
  title: 'Summarize values',
  description:
    'Calculates one value over a time range, such as the average of a key, or with bucketInterval one value per bucket (at most 1,000).',
  input: Type.Object(
    {
      deviceId,
      topic,
      dataKey: Type.String({
        maxLength: 1_000,
        description: 'Data key. Use dots for nested keys.',
      }),
      accumulator: Type.String({
        maxLength: 40,
        description: 'MIN, MAX, AVG, SUM, COUNT, FIRST, LAST, DISTINCT_COUNT or OCCUPANCY',
      }),
      from: time('Inclusive'),
      to: time('Exclusive'),
      bucketInterval: Type.Optional(
        Type.String({ maxLength: 40, description: 'ISO 8601 duration such as PT1H or P1D' }),
      ),
    },
    { additionalProperties: false },
  ),
  async run(
    { ask },
    { deviceId: id, topic: asked = 'default', from, to, bucketInterval, ...what },
  ) {
    const kind = bucketInterval === undefined ? 'kpi' : 'time-series';
    const path = `/v3/devices/${encodeURIComponent(id)}/query/raw/${kind}`;
    const buckets = bucketInterval !== undefined && { bucketInterval };
    return ask('POST', path, { topic: asked, ...what, interval: { from, to }, ...buckets });
  },
});

export const sampleTools: readonly Tool[] = [querySamples, latestSamples, summarize];
