// Control: the downlink that a control tile sends, with what its reader entered (contract 39).
import { isJsonObject, type JsonObject } from '../model/json.ts';
import type { Tile } from './configuration.ts';

type ControlInput = NonNullable<Tile['input']>;

const carriers = ['loraDownlink', 'mqttDownlink'] as const;

/** The downlink of the tile with the value as member `key` of the payload of its carriers. */
export function downlinkWith(
  downlink: JsonObject,
  input: ControlInput | null | undefined,
  value: string | number | boolean | undefined,
): JsonObject {
  if (!input || value === undefined) return downlink;
  const filled = carriers.flatMap((name) => {
    const carrier = downlink[name];
    if (!isJsonObject(carrier)) return [];
    const payload = isJsonObject(carrier['payload']) ? carrier['payload'] : {};
    return [[name, { ...carrier, payload: { ...payload, [input.key]: value } }] as const];
  });
  return { ...downlink, ...Object.fromEntries(filled) };
}

/** What was entered as the input takes it; undefined for what it does not take. */
export function enteredValue(
  { kind, min, max, options }: ControlInput,
  entered: string,
): string | number | boolean | undefined {
  if (kind === 'SWITCH') return entered === 'true';
  if (kind === 'CHOICE') return (options ?? []).includes(entered) ? entered : undefined;
  if (kind === 'TEXT') return entered === '' ? undefined : entered;
  const number = Number(entered);
  const isNumber = entered.trim() !== '' && Number.isFinite(number);
  const isBelow = typeof min === 'number' && number < min;
  const isAbove = typeof max === 'number' && number > max;
  return isNumber && !isBelow && !isAbove ? number : undefined;
}

/** Whether a control tile has all that it needs to be stored. */
export function isControlComplete(tile: Tile): boolean {
  const { deviceId, variable, label, downlink, input } = tile;
  if (!(deviceId || variable) || !label?.trim()) return false;
  const sent: JsonObject = downlink ?? {};
  const hasPayload = carriers.some((name) => {
    const carrier = sent[name];
    return isJsonObject(carrier) && Boolean(carrier['payload']);
  });
  if (!hasPayload) return false;
  if (!input) return true;
  const { key, kind, options, min, max } = input;
  if (key.trim() === '') return false;
  if (kind === 'CHOICE') return (options ?? []).length > 0;
  return typeof min !== 'number' || typeof max !== 'number' || min < max;
}
