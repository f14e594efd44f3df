// Series keys: the data keys of a device, or of the kinds of devices that a tag has.
import { queryOptions } from '@tanstack/react-query';
import { answers } from '../../../api/answers.ts';
import { ask, platform } from '../../../api/platform.ts';
import { type DataKey, dataKeysOf, topicsOf } from '../../device/data/data-keys.ts';
import { schemaQuery } from '../../device/data/device-queries.ts';
import type { TileSeries } from '../dashboard-model.ts';

const keysMs = 60_000;
const devicesMax = 100;
/** Schemas are asked for one by one; devices that send the same keys have the same. */
const schemasMax = 6;

export const seriesKeys = ({ deviceId, tagId }: TileSeries) =>
  queryOptions({
    queryKey: ['series keys', deviceId ?? '', tagId ?? ''],
    enabled: Boolean(deviceId) || Boolean(tagId),
    staleTime: keysMs,
    queryFn: async ({ signal }): Promise<readonly DataKey[]> => {
      const ids = deviceId ? [deviceId] : await kindsOf(tagId ?? '', signal);
      const schemas = await Promise.all(ids.map((id) => answers.fetchQuery(schemaQuery(id))));
      const keys = schemas.flatMap((schema) =>
        topicsOf(schema).flatMap((topic) => dataKeysOf(schema, topic)),
      );
      return [...new Map(keys.map((one) => [nameOf(one), one])).values()];
    },
  });

export const nameOf = ({ topic, key }: Pick<DataKey, 'topic' | 'key'>): string =>
  JSON.stringify([topic, key]);

/** One device for each set of keys that devices of the tag sent last. */
async function kindsOf(tagId: string, signal: AbortSignal): Promise<readonly string[]> {
  const body = { tagId, size: devicesMax };
  const { content } = await ask(platform.POST('/v3/devices/query/latest', { signal, body }));
  const kinds = Map.groupBy(content, ({ samples }) =>
    JSON.stringify(
      samples.map(({ topic, data }) => JSON.stringify([topic, ...Object.keys(data)])).toSorted(),
    ),
  );
  const first = [...kinds.values()].flatMap(([one]) => one?.deviceId ?? []);
  return first.slice(0, schemasMax);
}
