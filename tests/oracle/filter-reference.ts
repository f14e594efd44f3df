// Filter reference: evaluates an expression on an answered device, without SQL (interface 2.9).

// Both come as JSON; their types would say again what the reference tests.
// oxlint-disable-next-line typescript/no-explicit-any
type Json = any;
type Kind = 'text' | 'number' | 'date' | 'flag';

const textFields = new Set(
  `id name description deviceId type connectivity onlineState workspaceId integrationId dataFlow dataFlow.name deviceType
  deviceType.name tags.id tags.name placeId places.id places.name uplinkMetrics.signalQuality uplinkMetrics.batteryLevelStatus`.split(
    /\s+/,
  ),
);
const dateFields = new Set(['created', 'updated', 'uplinkMetrics.timestamp']);
const flagFields = new Set(['online', 'registered', 'excludeFromLifecycleReport']);

function kindOf(field: string): Kind {
  if (textFields.has(field) || field.startsWith('loraProperties.')) return 'text';
  if (dateFields.has(field)) return 'date';
  return flagFields.has(field) ? 'flag' : 'number';
}

/** Whether the device meets the expression. */
export function isMet(expression: Json, device: Json): boolean {
  if (expression.expressions !== undefined) {
    const met = (part: Json) => isMet(part, device);
    return expression.operator === 'AND'
      ? expression.expressions.every(met)
      : expression.expressions.some(met);
  }
  const sent = expression.values?.length > 0 ? expression.values : (expression.stringValues ?? []);
  if (expression.field === 'customFields') return customFieldMeets(expression, sent, device);
  const kind = kindOf(expression.field);
  const held = heldBy(device, expression.field).filter(
    (value) => value !== null && value !== undefined,
  );
  return meets(
    expression.predicate,
    held.map((value) => plain(kind, value)),
    sent.map((value: Json) => plain(kind, value)),
  );
}

function heldBy(device: Json, field: string): Json[] {
  switch (field) {
    case 'tags.id':
      return device.tags.map((tag: Json) => tag.id);
    case 'tags.name':
      return device.tags.map((tag: Json) => tag.name);
    case 'places.id':
      return device.placesAbove;
    case 'places.name':
      return device.place?.path ?? [];
    case 'dataFlow':
      return [device.dataFlowId];
    case 'deviceType':
      return [device.dataFlow.deviceType?.id];
    case 'deviceType.name':
      return [device.dataFlow.deviceType?.name];
    default:
      return [field.split('.').reduce((at, part) => at?.[part], device)];
  }
}

const kinds: Record<string, Kind> = { STRING: 'text', NUMBER: 'number', DATE: 'date' };
const inverses = ['NOT_EQUALS', 'NOT_IN', 'IS_NULL'];
const forTexts = ['CONTAINS', 'STARTS_WITH', 'ENDS_WITH'];

function customFieldMeets(
  { customFieldName, predicate }: Json,
  sent: Json[],
  device: Json,
): boolean {
  const field = device.customFields.find((item: Json) => item.meta.name === customFieldName);
  if (field === undefined) return inverses.includes(predicate);
  if (predicate === 'IS_NULL' || predicate === 'IS_NOT_NULL') return predicate === 'IS_NOT_NULL';
  const kind = kinds[field.meta.type];
  const values = kind && sent.map((value) => plain(kind, value));
  // What cannot be asked of a value is not true of it.
  const askable =
    values !== undefined &&
    !values.some((value) => Number.isNaN(value)) &&
    (kind === 'text' || !forTexts.includes(predicate)) &&
    (kind === 'date' || (predicate !== 'BEFORE' && predicate !== 'AFTER'));
  if (!askable) return inverses.includes(predicate);
  return meets(predicate, [plain(kind!, field[field.meta.type])], values);
}

function plain(kind: Kind, value: Json): string | number {
  if (kind === 'text') return String(value).toLowerCase();
  if (kind === 'flag') return value === true || value === 'true' ? 1 : 0;
  if (kind === 'date') return /^-?\d+$/.test(String(value)) ? Number(value) : Date.parse(value);
  return typeof value === 'string' && value.trim() === '' ? Number.NaN : Number(value);
}

/** Texts in the order of their code points. */
function isLess(one: string | number, other: string | number): boolean {
  if (typeof one === 'number') return one < Number(other);
  const [a, b] = [
    [...one].map((c) => c.codePointAt(0)!),
    [...String(other)].map((c) => c.codePointAt(0)!),
  ];
  for (let at = 0; at < Math.min(a.length, b.length); at++)
    if (a[at] !== b[at]) return a[at]! < b[at]!;
  return a.length < b.length;
}

function meets(predicate: string, held: (string | number)[], sent: (string | number)[]): boolean {
  const [first, second] = sent as [string | number, string | number];
  const some = (test: (value: string | number) => boolean) => held.some(test);
  const text = String(first);
  switch (predicate) {
    case 'EQUALS':
      return some((value) => value === first);
    case 'NOT_EQUALS':
      return !some((value) => value === first);
    case 'IN':
    case 'CONTAINS_ANY':
      return some((value) => sent.includes(value));
    case 'NOT_IN':
    case 'CONTAINS_NONE':
      return !some((value) => sent.includes(value));
    case 'CONTAINS_ALL':
      return sent.every((value) => held.includes(value));
    case 'LESS_THAN':
    case 'BEFORE':
      return some((value) => isLess(value, first));
    case 'LESS_THAN_OR_EQUALS':
      return some((value) => !isLess(first, value));
    case 'GREATER_THAN':
    case 'AFTER':
      return some((value) => isLess(first, value));
    case 'GREATER_THAN_OR_EQUALS':
      return some((value) => !isLess(value, first));
    case 'BETWEEN': {
      const [least, greatest] = isLess(second, first) ? [second, first] : [first, second];
      return some((value) => !isLess(value, least) && !isLess(greatest, value));
    }
    case 'CONTAINS':
      return some((value) => String(value).includes(text));
    case 'STARTS_WITH':
      return some((value) => String(value).startsWith(text));
    case 'ENDS_WITH':
      return some((value) => String(value).endsWith(text));
    case 'IS_NULL':
      return held.length === 0;
    case 'IS_NOT_NULL':
      return held.length > 0;
    default:
      throw new Error(`The reference does not know ${predicate}`);
  }
}
