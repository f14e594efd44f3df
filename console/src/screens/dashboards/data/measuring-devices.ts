// Measuring devices: the first devices of a workspace that have sent numbers, for templates.
import { queryOptions } from '@tanstack/react-query';
import { answers } from '../../../api/answers.ts';
import { ask, platform } from '../../../api/platform.ts';
import { type DataKey, dataKeysOf, type TopicSchemas } from '../../device/data/data-keys.ts';
import { schemaQuery } from '../../device/data/device-queries.ts';
import type { MeasuringDevice } from '../templates.ts';

const devicesMax = 50;
/** Schemas are asked for one by one; devices of one kind have the same. */
const schemasMax = 6;
/** Numbers that no one draws. */
const places = new Set(['latitude', 'longitude', 'altitude']);

export const measuringDevices = (workspaceId: string) =>
  queryOptions({
    queryKey: ['measuring devices', workspaceId],
    staleTime: 60_000,
    queryFn: async ({ signal }): Promise<readonly MeasuringDevice[]> => {
      const body = { workspaceId, size: devicesMax };
      const { content } = await ask(platform.POST('/v3/devices/query/latest', { signal, body }));
      const measuring = content
        .map(({ deviceId, samples }) => ({ id: deviceId, found: samples.flatMap(numbersOf) }))
        .filter(({ found }) => found.length > 0);
      const richest = measuring.toSorted((a, b) => b.found.length - a.found.length).slice(0, 1);
      const described = [...new Set([...richest, ...measuring])].slice(0, schemasMax);
      const [names, ...keys] = await Promise.all([
        namesOf(
          workspaceId,
          measuring.map(({ id }) => id),
        ),
        ...described.map(({ id }) => declaredKeys(id)),
      ]);
      const known = keys.flat();
      return measuring.map(({ id, found }) => ({
        id,
        name: names.get(id) ?? id,
        keys: inOrder(found, known),
      }));
    },
  });

interface Found {
  readonly topic: string;
  readonly key: string;
}

function numbersOf({ topic, data }: { topic: string; data: Readonly<Record<string, unknown>> }) {
  const names = Object.keys(data).filter((key) => typeof data[key] === 'number');
  return names.filter((key) => !places.has(key)).map((key): Found => ({ topic, key }));
}

/** Declared keys first, in the order of their schema. */
function inOrder(found: readonly Found[], known: readonly DataKey[]) {
  const placeOf = ({ topic, key }: Found) =>
    known.findIndex((one) => one.topic === topic && one.key === key);
  const last = known.length;
  const place = (one: Found) => (placeOf(one) === -1 ? last : placeOf(one));
  return found
    .toSorted((a, b) => place(a) - place(b))
    .map((one) => {
      const { title = one.key, unit = '' } = known[placeOf(one)] ?? {};
      return { ...one, title, unit };
    });
}

async function declaredKeys(deviceId: string): Promise<readonly DataKey[]> {
  const schemas: TopicSchemas = await answers.fetchQuery(schemaQuery(deviceId));
  return Object.keys(schemas).flatMap((topic) => dataKeysOf(schemas, topic));
}

async function namesOf(
  workspaceId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const query = { workspaceId, assetIds: ids.join(), fields: 'id,name', size: devicesMax };
  const { content } = await ask(platform.GET('/v3/assets', { params: { query } }));
  return new Map(content.map(({ id, name }) => [id, name]));
}
