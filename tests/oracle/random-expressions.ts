// Random filter expressions: every predicate on every field that takes it, nested to the deepest level allowed (interface 2.9).
import { filterNow, pick, type Random, words } from './filtered-inventory.ts';

type Kind = 'text' | 'number' | 'date' | 'flag' | 'list' | readonly string[];

export interface Known {
  readonly ids: readonly string[];
  readonly flowIds: readonly string[];
  readonly typeIds: readonly string[];
  readonly tagIds: readonly string[];
  readonly placeIds: readonly string[];
  readonly workspaceIds: readonly string[];
}

const numberNames = `rssi snr sqi batteryLevel frameCountUp uplinkSize latitude esp`.split(' ');
export const fieldKinds: Readonly<Record<string, Kind>> = {
  id: 'text',
  name: 'text',
  description: 'text',
  deviceId: 'text',
  'dataFlow.name': 'text',
  'deviceType.name': 'text',
  integrationId: 'text',
  'loraProperties.carrier': 'text',
  'loraProperties.actilityProperties.deviceProfileId': 'text',
  type: ['DEVICE', 'SIM_CARD'],
  connectivity: ['LORA', 'http', 'MQTT', 'CoAP'],
  onlineState: ['ONLINE', 'offline', 'UNKNOWN', 'DE_REGISTERED'],
  workspaceId: [],
  dataFlow: [],
  deviceType: [],
  'uplinkMetrics.signalQuality': ['GOOD', 'medium', 'BAD'],
  'uplinkMetrics.batteryLevelStatus': ['GOOD', 'MEDIUM', 'low'],
  online: 'flag',
  registered: 'flag',
  excludeFromLifecycleReport: 'flag',
  onlineTimeout: 'number',
  version: 'number',
  ...Object.fromEntries(numberNames.map((name) => [`uplinkMetrics.${name}`, 'number' as const])),
  'uplinkMetrics.timestamp': 'date',
  created: 'date',
  updated: 'date',
  'tags.id': 'list',
  'tags.name': 'list',
  placeId: [],
  'places.id': 'list',
  'places.name': 'list',
};

const isSet = ['IS_NULL', 'IS_NOT_NULL'];
const equality = ['EQUALS', 'NOT_EQUALS', 'IN', 'NOT_IN', ...isSet];
const order = [
  'LESS_THAN',
  'LESS_THAN_OR_EQUALS',
  'GREATER_THAN',
  'GREATER_THAN_OR_EQUALS',
  'BETWEEN',
];
const textual = [...equality, ...order, 'CONTAINS', 'STARTS_WITH', 'ENDS_WITH'];

export function predicatesFor(kind: Kind): readonly string[] {
  if (typeof kind !== 'string' || kind === 'flag') return equality;
  if (kind === 'number') return [...equality, ...order];
  if (kind === 'date') return [...equality, ...order, 'BEFORE', 'AFTER'];
  return kind === 'text' ? textual : [...textual, 'CONTAINS_ALL', 'CONTAINS_NONE', 'CONTAINS_ANY'];
}

function countFor(random: Random, predicate: string): number {
  if (isSet.includes(predicate)) return 0;
  if (predicate === 'BETWEEN') return 2;
  const many = ['IN', 'NOT_IN', 'CONTAINS_ALL', 'CONTAINS_NONE', 'CONTAINS_ANY'].includes(
    predicate,
  );
  return many ? 1 + Math.floor(random() * 3) : 1;
}

function valueFor(random: Random, field: string, kind: Kind, known: Known): unknown {
  const ids: Readonly<Record<string, readonly string[]>> = {
    id: known.ids,
    workspaceId: known.workspaceIds,
    dataFlow: known.flowIds,
    deviceType: known.typeIds,
    'tags.id': known.tagIds,
    placeId: known.placeIds,
    'places.id': known.placeIds,
  };
  if (ids[field] !== undefined) return pick(random, ids[field]).slice(0, random() < 0.8 ? 16 : 4);
  if (typeof kind !== 'string') return pick(random, kind);
  if (kind === 'flag') return pick(random, [true, false, 'true']);
  if (kind === 'date') {
    const ms =
      filterNow - Math.floor(random() * 10) * 86_400_000 + (random() < 0.3 ? 3_600_000 : 0);
    return random() < 0.5 ? ms : new Date(ms).toISOString();
  }
  if (kind === 'number') {
    const number = pick(random, [0, 1, 2, 3, 7_200, 50, 70, 40, -100, -1.25, 8.5]);
    return random() < 0.8 ? number : String(number);
  }
  const word = pick(random, words);
  return random() < 0.3 ? word.slice(0, 2).toWellFormed().replaceAll('�', '') : word;
}

/** A filter on the field, or on any. */
export function randomFilter(
  random: Random,
  known: Known,
  field = randomField(random),
  predicate?: string,
): object {
  if (field === 'customFields') return randomCustomFilter(random);
  const kind = fieldKinds[field]!;
  const chosen = predicate ?? pick(random, predicatesFor(kind));
  const values = Array.from({ length: countFor(random, chosen) }, () =>
    valueFor(random, field, kind, known),
  );
  return { field, predicate: chosen, values, ...(random() < 0.3 ? { operator: 'FILTER' } : {}) };
}

function randomField(random: Random): string {
  return pick(random, [
    ...Object.keys(fieldKinds),
    'customFields',
    'customFields',
    'customFields',
    'customFields',
  ]);
}

function randomCustomFilter(random: Random): object {
  const [customFieldName, kind] = pick(random, [
    ['room', 'text'],
    ['level', 'number'],
    ['installed', 'date'],
    ['mixed', 'text'],
    ['mixed', 'number'],
    ['extra', 'set'],
    ['place', 'set'],
  ] as const);
  const predicates = kind === 'set' ? isSet : predicatesFor(kind);
  const predicate = pick(random, predicates);
  const plain = { ids: [], flowIds: [], typeIds: [], tagIds: [], placeIds: [], workspaceIds: [] };
  const values = Array.from({ length: countFor(random, predicate) }, () =>
    valueFor(random, '', kind === 'set' ? 'text' : kind, plain),
  );
  const head = { operator: 'FILTER', field: 'customFields', customFieldName, predicate };
  return random() < 0.5
    ? { ...head, values }
    : { ...head, values: [], stringValues: values.map(String) };
}

/** An expression of at most three levels of lists. */
export function randomExpression(random: Random, known: Known, depth = 0): object {
  if (depth === 3 || random() < 0.3) return randomFilter(random, known);
  const expressions = Array.from({ length: 1 + Math.floor(random() * 3) }, () =>
    randomExpression(random, known, depth + 1),
  );
  return { operator: pick(random, ['AND', 'OR']), expressions };
}
