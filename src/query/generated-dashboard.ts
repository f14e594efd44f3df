// Generated dashboards: tiles for every device of a type, or for a place with its devices, made from the schemas of their data (contract 39).
import { type JsonObject, isJsonObject } from '../model/json.ts';

const valuesMax = 6;
const seriesOfLineMax = 6;
/** As many tiles as a configuration may have, without the alarms and the map. */
const linesMax = 150;
const timelineSeriesMax = 50;
const columns = 12;
const nestingMax = 8;

/** A data key as its schema describes it. */
interface Described {
  readonly topic: string;
  readonly dataKey: string;
  readonly title: string;
  readonly unit: string | null;
  readonly isNumber: boolean;
  readonly isHidden: boolean;
}

/**
 * The same configuration for the same schemas: the first numbers, a chart for each unit, the states
 * over time, a map where there are positions, and the alarms. The devices are those of the type, or
 * all of the workspace without one.
 */
export function generatedDashboard(
  schemas: Readonly<Record<string, { readonly properties: JsonObject }>>,
  deviceTypeId: string | null,
): JsonObject {
  const keys = Object.entries(schemas).flatMap(([topic, { properties }]) =>
    describedIn(topic, properties, []),
  );
  const positions = positionsIn(keys);
  const shown = keys.filter((key) => !positions.includes(key));
  const numbers = shown.filter(({ isNumber }) => isNumber);
  const states = shown.filter(({ isNumber }) => !isNumber).slice(0, timelineSeriesMax);
  const tiles: JsonObject[] = [];
  let y = 0;
  const values = numbers.filter(({ isHidden }) => !isHidden).slice(0, valuesMax);
  for (const [place, key] of values.entries())
    tiles.push({
      id: `value-${place + 1}`,
      kind: 'value',
      title: key.title,
      ...at(place * 2, y, 2, 2),
      series: [seriesOf(key)],
    });
  if (values.length > 0) y += 2;
  const lines = linesOf(numbers);
  for (const [place, { title, keys: drawn }] of lines.entries())
    tiles.push({
      id: `line-${place + 1}`,
      kind: 'line',
      title,
      ...at((place % 2) * 6, y + Math.floor(place / 2) * 5, 6, 5),
      series: drawn.map(seriesOf),
    });
  y += Math.ceil(lines.length / 2) * 5;
  const wide = (kind: string, height: number, more: JsonObject) => {
    tiles.push({ id: kind, kind, ...at(0, y, columns, height), ...more });
    y += height;
  };
  if (states.length > 0) wide('timeline', 3, { series: states.map(seriesOf) });
  if (positions.length > 0) wide('map', 6, { series: positions.map(seriesOf) });
  wide('alarms', 4, { variable: 'device' });
  return {
    schema: 'heliograph-dashboard',
    version: 2,
    range: { last: 'PT24H' },
    variables: [{ name: 'device', kind: 'DEVICE', ...(deviceTypeId !== null && { deviceTypeId }) }],
    tiles,
  };
}

// Of a place: the devices at it and below it, each a line of a chart and a row of a table.

const placeLinesMax = 6;
const placeColumnsMax = 6;
const planHeight = 6;
const lineHeight = 5;

type Schemas = Readonly<Record<string, { readonly properties: JsonObject }>>;

/**
 * The same configuration for the same schemas: the plan colored by the first number, a chart for each
 * of the first numbers, a table of the devices, and the alarms. Hidden numbers are left out.
 */
export function generatedPlaceDashboard(schemas: readonly Schemas[], hasPlan: boolean): JsonObject {
  const known = schemas
    .flatMap((of) => Object.entries(of))
    .flatMap(([topic, { properties }]) => describedIn(topic, properties, []));
  const keys = [...Map.groupBy(known, ({ topic, dataKey }) => `${topic}\n${dataKey}`).values()]
    .flatMap(([first]) => first ?? [])
    .filter(({ isHidden, dataKey }) => !isHidden && !positionNames.has(dataKey));
  const numbers = keys.filter(({ isNumber }) => isNumber).slice(0, placeLinesMax);
  const [first] = numbers;
  const tiles: JsonObject[] = [];
  if (hasPlan)
    tiles.push({
      id: 'plan',
      kind: 'plan',
      variable: 'place',
      ...at(0, 0, 6, planHeight),
      ...(first && { colorBy: { topic: first.topic, dataKey: first.dataKey } }),
    });
  for (const [place, key] of numbers.entries()) {
    // The first chart is beside the plan, and as high.
    const cell = place + (hasPlan ? 1 : 0);
    const above = hasPlan && cell > 1 ? planHeight - lineHeight : 0;
    tiles.push({
      id: `line-${place + 1}`,
      kind: 'line',
      title: key.title,
      ...at(
        (cell % 2) * 6,
        Math.floor(cell / 2) * lineHeight + above,
        6,
        hasPlan && cell === 1 ? planHeight : lineHeight,
      ),
      series: [{ ...seriesOf(key), variable: 'place' }],
    });
  }
  let y = tiles.reduce((end, tile) => Math.max(end, Number(tile['y']) + Number(tile['height'])), 0);
  const wide = (kind: string, height: number, more: JsonObject) => {
    tiles.push({ id: kind, kind, variable: 'place', ...at(0, y, columns, height), ...more });
    y += height;
  };
  const shown = keys.slice(0, placeColumnsMax).map(({ topic, dataKey, title, unit }) => ({
    topic,
    dataKey,
    label: unit === null ? title : `${title} (${unit})`,
  }));
  if (shown.length > 0) wide('devices', lineHeight, { columns: shown });
  wide('alarms', 4, {});
  return {
    schema: 'heliograph-dashboard',
    version: 2,
    range: { last: 'PT24H' },
    variables: [{ name: 'place', kind: 'PLACE' }],
    tiles,
  };
}

const positionNames: ReadonlySet<string> = new Set(['latitude', 'longitude']);

function at(x: number, y: number, width: number, height: number): JsonObject {
  return { x, y, width, height };
}

function seriesOf({ topic, dataKey, title: label, unit }: Described): JsonObject {
  return { variable: 'device', topic, dataKey, label, ...(unit !== null && { unit }) };
}

/** Members of objects are data keys with the path of their names. */
function describedIn(
  topic: string,
  properties: JsonObject,
  above: readonly string[],
): readonly Described[] {
  return Object.entries(properties).flatMap(([key, property]) => {
    if (!isJsonObject(property)) return [];
    const path = [...above, key];
    const { properties: inner, type, title, unit } = property;
    if (isJsonObject(inner) && path.length < nestingMax) return describedIn(topic, inner, path);
    const isNumber = type === 'number' || type === 'integer';
    const isState = type === 'boolean' || Array.isArray(property['enum']);
    if (!isNumber && !isState) return [];
    const described = {
      topic,
      dataKey: path.join('.'),
      title: typeof title === 'string' ? title : key,
      unit: typeof unit === 'string' ? unit : null,
      isNumber: isNumber && !isState,
      isHidden: property['hideFromKpis'] === true,
    };
    return [described];
  });
}

/** Latitude and longitude of the first topic that has both. */
function positionsIn(keys: readonly Described[]): readonly Described[] {
  const named = (name: string, topic?: string) =>
    keys.find((key) => key.isNumber && key.dataKey === name && (topic ?? key.topic) === key.topic);
  for (const latitude of keys.filter(({ dataKey }) => dataKey === 'latitude')) {
    const longitude = named('longitude', latitude.topic);
    if (latitude.isNumber && longitude !== undefined) return [latitude, longitude];
  }
  return [];
}

interface Line {
  readonly title: string;
  readonly keys: readonly Described[];
}

/** One for each unit, in the order of the keys; what has no unit is drawn alone. */
function linesOf(numbers: readonly Described[]): readonly Line[] {
  const groups = Map.groupBy(numbers, ({ topic, dataKey, unit }) => unit ?? `${topic}\n${dataKey}`);
  const lines: Line[] = [];
  for (const group of groups.values())
    for (let from = 0; from < group.length; from += seriesOfLineMax) {
      const keys = group.slice(from, from + seriesOfLineMax);
      const [first] = keys;
      const unit = first?.unit ?? null;
      const names = keys.map(({ title }) => title);
      const title = names.length === 1 || unit === null ? (names[0] ?? '') : names.join(', ');
      lines.push({ title, keys });
    }
  return lines.slice(0, linesMax);
}
