// Rules and custom logic blocks: conditions on samples, the values that they compare, geofences, and the actions that follow (contract 13, 14, 35).
import type { EpochMs } from './instant.ts';
import { isJsonObject, type Json, type JsonObject } from './json.ts';
import type { AuditFields } from './record.ts';

export const ruleInputTypes = ['DEVICE', 'ASSET_TAG', 'TAG_COMBINATION', 'PLACE'] as const;
export type RuleInputType = (typeof ruleInputTypes)[number];

export const valueTypes = ['NUMERICAL', 'BOOLEAN', 'STRING'] as const;
export type ValueType = (typeof valueTypes)[number];

export const logicTypes = ['COMPARISON', 'CUSTOM_LOGIC', 'GEO_FENCE', 'SILENCE'] as const;
type LogicType = (typeof logicTypes)[number];

export const ruleTimerTypes = ['INTERVAL', 'FIXED', 'ADVANCED'] as const;
type RuleTimerType = (typeof ruleTimerTypes)[number];

export const comparisonOperators = [
  'EQ',
  'GT',
  'LT',
  'GTE',
  'LTE',
  'NEQ',
  'NGT',
  'NLT',
  'NGTE',
  'NLTE',
] as const;
export type ComparisonOperator = (typeof comparisonOperators)[number];

/**
 * Whose samples the rule looks at: a device, the devices of a tag or of several tags, or those at a
 * place and below it.
 */
export interface RuleInput {
  /** The id of the device, tag or place; of a tag combination a name that data sources use. */
  readonly id: string;
  readonly name: string | null;
  readonly type: RuleInputType;
  /** `AND:<tag id>,<tag id>` or `OR:...`; null for the other types. */
  readonly tagCombination: string | null;
  readonly workspaceId: string | null;
}

export interface RuleDataSource {
  readonly id: string;
  /** Ids of inputs of the rule. */
  readonly inputIds: readonly string[];
  /** One topic, or `*` for all. */
  readonly dataTopic: string;
  /** A data key; empty or `*` for the whole sample. */
  readonly dataKey: string;
  readonly variableName: string | null;
  readonly valueType: ValueType;
  /** The value before the one that triggers. */
  readonly lastSample: boolean;
  /** Uplinks trigger the rule although it has a timer. */
  readonly triggerOnUplink: boolean;
}

export interface RuleTimer {
  readonly enabled: boolean;
  /** INTERVAL: an ISO-8601 duration; FIXED: `HH:mm`; ADVANCED: a quartz cron expression. */
  readonly schedule: string | null;
  readonly type: RuleTimerType | null;
  readonly startAt: EpochMs | null;
  /** IANA name for FIXED and ADVANCED; UTC when null. */
  readonly timeZone: string | null;
}

export const operandTypes = ['CONSTANT', 'DATA_SOURCE', 'EXPRESSION'] as const;

export interface RuleOperand {
  readonly type: (typeof operandTypes)[number];
  readonly valueType: ValueType | null;
  /** Wins over the key of the data source. */
  readonly dataKey: string | null;
  readonly dataSourceId: string | null;
  readonly value: Json;
  /** Formula over the sample of the data source; only of an operand of type EXPRESSION. */
  readonly expression?: string;
}

export interface RuleCondition {
  readonly operandFirst: RuleOperand;
  readonly operator: ComparisonOperator;
  readonly operandSecond: RuleOperand;
  readonly order: number;
  /** How the next condition joins; AND binds tighter than OR. */
  readonly chainOperator: 'AND' | 'OR' | null;
}

export interface LogicBlock {
  readonly conditions: readonly RuleCondition[];
  readonly actionIds: readonly string[];
  /** ISO-8601 duration for which the conditions have to be true before the block is. */
  readonly holdsFor?: string;
  /** A true block stays true until these are true, instead of until its conditions are not. */
  readonly clearConditions?: readonly RuleCondition[];
  /** ISO-8601 duration for which a true block has to be over before it is false. */
  readonly clearsFor?: string;
}

/** A block whose conditions contradict its state, until it has lasted. */
export interface BlockWait {
  /** Time of the first sample that contradicts. */
  readonly since: EpochMs;
  /** When the block changes without a further sample, by the clock of the platform. */
  readonly due: EpochMs;
}

/** One for each logic block of a rule; null where nothing is waited for. */
export type BlockWaits = readonly (BlockWait | null)[];

/** When the next of the blocks changes without a sample; null when none waits. */
export function nextDueOf(waits: BlockWaits): EpochMs | null {
  const times = waits.flatMap((wait) => wait?.due ?? []);
  return times.length === 0 ? null : Math.min(...times);
}

/** Limits of `holdsFor` and `clearsFor`. */
export const blockDurations = { min: 'PT1S', max: 'P7D' } as const;

export interface GeoFenceLogicBlock {
  readonly address: string | null;
  /** A FeatureCollection of polygons, rings of [longitude, latitude]. */
  readonly geoJson: JsonObject;
  readonly insideActionIds: readonly string[];
  readonly outsideActionIds: readonly string[];
}

export const silenceModes = ['EACH', 'ALL'] as const;

export interface SilenceLogicBlock {
  /** ISO-8601 duration without an uplink; null for the online timeout of each device. */
  readonly after: string | null;
  /** EACH: for each device by itself. ALL: when every device of the rule is silent. */
  readonly mode: (typeof silenceModes)[number];
  readonly actionIds: readonly string[];
}

/** Limits of `after`. */
export const silenceDurations = { min: 'PT5S', max: 'P30D' } as const;

export interface RuleCustomLogic {
  readonly customLogicId: string;
  readonly name: string | null;
  readonly actionIds: readonly string[];
  readonly properties: readonly {
    readonly name: string;
    readonly description: string | null;
    readonly variableName: string;
    readonly value: Json;
    readonly type: ValueType;
  }[];
}

export interface RuleLogic {
  readonly type: LogicType;
  readonly dataSources: readonly RuleDataSource[];
  readonly logicBlocks: readonly LogicBlock[] | null;
  readonly geoFenceLogicBlock: GeoFenceLogicBlock | null;
  readonly customLogic: RuleCustomLogic | null;
  /** Only of a rule of type SILENCE, which has no data sources. */
  readonly silenceLogicBlock?: SilenceLogicBlock;
}

export interface RuleActionRef {
  /** An output connector of scope RULE_ACTION. */
  readonly id: string;
  readonly configuration: JsonObject;
}

export interface Rule extends AuditFields {
  readonly id: string;
  readonly organizationId: string;
  readonly workspaceId: string;
  readonly name: string;
  readonly description: string | null;
  readonly active: boolean;
  readonly inputs: readonly RuleInput[];
  readonly timer: RuleTimer;
  readonly logic: RuleLogic;
  readonly actions: readonly RuleActionRef[];
  /**
   * Counts activations, so that state of an earlier one never counts (contract 13: cleared on
   * deactivation).
   */
  readonly activation: number;
  /** When the present activation began. */
  readonly activatedAt: EpochMs;
  /** The next due time of the timer; null without one. */
  readonly nextExecution: EpochMs | null;
}

export interface CustomLogicDataSource {
  readonly name: string;
  readonly description: string | null;
  readonly variableName: string;
  readonly defaultTopic: string | null;
  readonly defaultDataKey: string | null;
  readonly lastSample: boolean;
  readonly triggerOnUplink: boolean;
}

export interface CustomLogicProperty {
  readonly name: string;
  readonly description: string | null;
  readonly variableName: string;
  readonly defaultValue: Json;
  readonly type: ValueType;
}

/** A script of the organization that its rules share. */
export interface CustomLogicBlock extends AuditFields {
  readonly id: string;
  readonly organizationId: string;
  readonly name: string;
  readonly description: string | null;
  readonly dataSources: readonly CustomLogicDataSource[];
  readonly properties: readonly CustomLogicProperty[];
  readonly script: string;
}

// Outcome of a rule's run, as its log counts it and lists of rules show it.

export const runOutcomes = [
  'FIRED',
  'NOT_FIRED',
  'SUPPRESSED',
  'ABORTED',
  'FAILED',
  'DROPPED',
  'LATE',
] as const;
export type RunOutcome = (typeof runOutcomes)[number];

// Rule values: converted to the declared type for comparison, or missing (contract 35).

/** A value that can be compared; undefined is missing. */
export type Comparable = number | boolean | string | undefined;

/** Decimal numbers only: no hexadecimal, no empty string, no infinity. */
const numberPattern = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/** Undefined for null, lists, objects and what cannot be read as the type. */
export function converted(value: Json | undefined, type: ValueType): Comparable {
  if (type === 'NUMERICAL') return numberOf(value);
  if (type === 'BOOLEAN') return booleanOf(value);
  return textOf(value);
}

function numberOf(value: Json | undefined): number | undefined {
  if (typeof value === 'number') return finite(value);
  if (typeof value === 'boolean') return Number(value);
  if (typeof value !== 'string' || !numberPattern.test(value.trim())) return undefined;
  return finite(Number(value.trim()));
}

function finite(value: number): number | undefined {
  if (Number.isFinite(value)) return value;
  return undefined;
}

function booleanOf(value: Json | undefined): boolean | undefined {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return value !== 0;
  if (typeof value !== 'string') return undefined;
  const text = value.trim().toLowerCase();
  if (text === 'true' || text === '1') return true;
  if (text === 'false' || text === '0') return false;
  return undefined;
}

function textOf(value: Json | undefined): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return undefined;
}

/**
 * The type in which two operands are compared: that of the first operand that is no constant,
 * declared by itself or by its source, else that of a constant.
 */
export function comparedAs(
  first: RuleOperand,
  second: RuleOperand,
  sources: readonly RuleDataSource[],
): ValueType {
  const declared = (operand: RuleOperand): ValueType | undefined =>
    operand.valueType ?? sources.find(({ id }) => id === operand.dataSourceId)?.valueType;
  const ordered =
    first.type === 'CONSTANT' && second.type !== 'CONSTANT' ? [second, first] : [first, second];
  for (const operand of ordered) {
    const type = declared(operand);
    if (type !== undefined) return type;
  }
  return 'STRING';
}

// Geofence: whether a position lies in one of the polygons of a FeatureCollection, outside its holes (contract 13).

type Point = readonly [longitude: number, latitude: number];
type Ring = readonly Point[];

interface Polygon {
  readonly outer: Ring;
  readonly holes: readonly Ring[];
  readonly west: number;
  readonly east: number;
  readonly south: number;
  readonly north: number;
}

export interface GeoFence {
  readonly polygons: readonly Polygon[];
}

const geoFenceLimits = { polygonsMax: 100, pointsMax: 10_000 } as const;

/**
 * Reads the polygons; the reason says what is wrong and where. A ring that crosses the antimeridian
 * is one whose neighbouring points are more than 180 degrees of longitude apart: it goes the short
 * way around, so [179, 0] to [-179, 0] spans two degrees.
 */
export function parseGeoFence(
  geoJson: JsonObject,
): { readonly fence: GeoFence } | { readonly reason: string } {
  if (geoJson['type'] !== 'FeatureCollection') return { reason: 'type must be FeatureCollection' };
  const { features } = geoJson;
  if (!Array.isArray(features) || features.length === 0)
    return { reason: 'features must list at least one polygon' };
  if (features.length > geoFenceLimits.polygonsMax) {
    return { reason: `features: more than ${geoFenceLimits.polygonsMax} polygons` };
  }
  const polygons: Polygon[] = [];
  let points = 0;
  for (const [i, feature] of (features as readonly Json[]).entries()) {
    const geometry = isJsonObject(feature) ? feature['geometry'] : undefined;
    const place = `features[${i}].geometry`;
    if (!isJsonObject(geometry) || geometry['type'] !== 'Polygon')
      return { reason: `${place} must be a Polygon` };
    const read = readRings(geometry['coordinates'], `${place}.coordinates`);
    if ('reason' in read) return read;
    points += read.rings.reduce((sum, ring) => sum + ring.length, 0);
    if (points > geoFenceLimits.pointsMax)
      return { reason: `${place}: more than ${geoFenceLimits.pointsMax} points` };
    polygons.push(bounded(read.rings));
  }
  return { fence: { polygons } };
}

function readRings(
  value: Json | undefined,
  place: string,
): { readonly rings: readonly (readonly Point[])[] } | { readonly reason: string } {
  if (!Array.isArray(value) || value.length === 0)
    return { reason: `${place} must list at least one ring` };
  const rings: Point[][] = [];
  for (const [i, ring] of (value as readonly Json[]).entries()) {
    if (!Array.isArray(ring) || ring.length < 4)
      return { reason: `${place}[${i}] must have at least four points` };
    const points: Point[] = [];
    for (const [j, point] of (ring as readonly Json[]).entries()) {
      const [longitude, latitude] = Array.isArray(point) ? (point as readonly Json[]) : [];
      if (!isDegrees(longitude, 180) || !isDegrees(latitude, 90)) {
        return {
          reason: `${place}[${i}][${j}] must be [longitude, latitude], within ±180 and ±90 degrees`,
        };
      }
      points.push([
        shortWay(longitude, points.at(-1)?.[0] ?? rings[0]?.[0]?.[0] ?? longitude),
        latitude,
      ]);
    }
    const [first] = ring as readonly (readonly Json[])[];
    const last = (ring as readonly (readonly Json[])[]).at(-1);
    if (first?.[0] !== last?.[0] || first?.[1] !== last?.[1]) {
      return { reason: `${place}[${i}] must be closed: the last point must equal the first` };
    }
    rings.push(points);
  }
  return { rings };
}

function isDegrees(value: Json | undefined, max: number): value is number {
  return typeof value === 'number' && Math.abs(value) <= max;
}

/** The longitude, whole turns added, that is nearest to another one. */
function shortWay(longitude: number, other: number): number {
  const turns = Math.round((other - longitude) / 360);
  return longitude + turns * 360;
}

function bounded([outer = [], ...holes]: readonly Ring[]): Polygon {
  const longitudes = outer.map(([longitude]) => longitude);
  const latitudes = outer.map(([, latitude]) => latitude);
  return {
    outer,
    holes,
    west: Math.min(...longitudes),
    east: Math.max(...longitudes),
    south: Math.min(...latitudes),
    north: Math.max(...latitudes),
  };
}

/** The edge counts as inside. */
export function isInside(fence: GeoFence, longitude: number, latitude: number): boolean {
  return fence.polygons.some((polygon) => inPolygon(polygon, longitude, latitude));
}

function inPolygon(polygon: Polygon, longitude: number, latitude: number): boolean {
  if (latitude < polygon.south || latitude > polygon.north) return false;
  // A ring around the antimeridian reaches beyond 180 degrees, so the position is looked for one
  // turn further too.
  for (const turned of [longitude, longitude + 360, longitude - 360]) {
    if (turned < polygon.west || turned > polygon.east) continue;
    const where = placeIn(polygon.outer, turned, latitude);
    if (where === 'edge') return true;
    if (
      where === 'inside' &&
      !polygon.holes.some((hole) => placeIn(hole, turned, latitude) === 'inside')
    )
      return true;
  }
  return false;
}

/** Counts the edges that a ray to the east crosses. */
function placeIn(ring: Ring, x: number, y: number): 'inside' | 'outside' | 'edge' {
  let inside = false;
  let [xj, yj] = ring.at(-1) ?? [0, 0];
  for (const [xi, yi] of ring) {
    const between =
      x >= Math.min(xi, xj) &&
      x <= Math.max(xi, xj) &&
      y >= Math.min(yi, yj) &&
      y <= Math.max(yi, yj);
    if (between && (xj - xi) * (y - yi) === (yj - yi) * (x - xi)) return 'edge';
    if (yi > y !== yj > y && x < ((xj - xi) * (y - yi)) / (yj - yi) + xi) inside = !inside;
    [xj, yj] = [xi, yi];
  }
  return inside ? 'inside' : 'outside';
}
