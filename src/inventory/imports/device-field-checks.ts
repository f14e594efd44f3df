// Checks of the fields of an imported device against `deviceFields`, with a message for each kind of value.
import { deviceFields, deviceFieldsWith, type DeviceFieldType } from '../../model/device-fields.ts';
import { isJsonObject, type Json, type JsonObject } from '../../model/json.ts';

/** Reports a problem of the device that is being read. */
export type ReportProblem = (field: string | null, message: string) => void;

const nameLengthMax = 500;

const otherFields = deviceFieldsWith('inFiles').filter(({ property }) => property !== 'deviceId');

/** The physical id, which every device of a file needs; a missing or invalid one is reported. */
export function checkedDeviceId(
  { deviceId = null }: JsonObject,
  report: ReportProblem,
): string | undefined {
  const message =
    deviceId === null ? 'is required' : mismatch(deviceFields.deviceId.type, deviceId);
  if (message === undefined) return String(deviceId);
  report('deviceId', message);
  return undefined;
}

/**
 * The valid values of the other fields; invalid ones are reported. A null value counts as absent.
 */
export function checkedFields(values: JsonObject, report: ReportProblem): JsonObject {
  const checked: Record<string, Json> = {};
  for (const { wireName, type } of otherFields) {
    const value = values[wireName] ?? null;
    if (value === null) continue;
    const message = mismatch(type, value);
    if (message === undefined) checked[wireName] = value;
    else report(wireName, message);
  }
  return checked;
}

/** Why the value is not one of the type; undefined when it is. */
function mismatch(type: DeviceFieldType, value: Json): string | undefined {
  switch (type.kind) {
    case 'name':
      return textMismatch(value, 1, nameLengthMax);
    case 'text':
      return textMismatch(value, type.lengthMin ?? 0, type.lengthMax);
    case 'integer':
      return integerMismatch(value, type);
    case 'flag':
      return unless(typeof value === 'boolean', 'must be true or false');
    case 'choice':
      return unless(
        type.values.some((choice) => choice === value),
        `must be one of ${type.values.join(', ')}`,
      );
    case 'object':
      return unless(isJsonObject(value), 'must be an object');
  }
}

function textMismatch(value: Json, min: number, max: number): string | undefined {
  const isValid = typeof value === 'string' && value.length >= min && value.length <= max;
  return unless(isValid, `must be a string of ${min} to ${max} characters`);
}

function integerMismatch(
  value: Json,
  { min, max }: { readonly min: number; readonly max: number },
): string | undefined {
  const isValid = Number.isInteger(value) && Number(value) >= min && Number(value) <= max;
  return unless(isValid, `must be an integer from ${min} to ${max}`);
}

function unless(isValid: boolean, message: string): string | undefined {
  return isValid ? undefined : message;
}
