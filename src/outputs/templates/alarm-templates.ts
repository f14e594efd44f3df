// Alarm templates: the name and the key of the alarm that a trigger opens (contract 37).
import { type AlarmDevice, alarmLimits, type AlarmProperties } from '../../model/alarm.ts';
import { isJsonObject, type JsonObject } from '../../model/json.ts';
import type { TemplateContext } from '../../model/template-context.ts';
import { parseTemplate, renderTemplate, type Template } from './template.ts';

export interface AlarmTemplates {
  readonly name: Template;
  readonly key: Template;
  /** Whether alarms of different devices have different keys. */
  readonly isByDevice: boolean;
  /** Whether all samples of a device give the same key. */
  readonly isSteady: boolean;
}

/** Throws Problem `templateInvalid`. */
export function alarmTemplates({ name, key }: AlarmProperties): AlarmTemplates {
  const keyTemplate = parseTemplate(key, 'text');
  const paths = keyTemplate.parts.flatMap((part) => (typeof part === 'string' ? [] : [part.path]));
  return {
    name: parseTemplate(name, 'text'),
    key: keyTemplate,
    isByDevice: paths.some((path) => devicePaths.has(path)),
    isSteady: paths.every((path) => devicePaths.has(path) || /^(rule|device)\./.test(path)),
  };
}

/** Values that no two devices of a workspace share. */
const devicePaths: ReadonlySet<string> = new Set([
  'device.id',
  'device.deviceId',
  'deviceId',
  'svcDeviceId',
  'akenzaDeviceId',
]);

/** Long names and keys are cut. Throws Problem `templateTooLarge`. */
export function renderAlarm(
  templates: AlarmTemplates,
  context: TemplateContext,
): {
  readonly name: string;
  readonly key: string;
  /** Undefined for a timed run that reads several devices, or none. */
  readonly device: AlarmDevice | undefined;
} {
  const device = context.device ?? onlyDevice(context);
  const { rule } = context;
  const own = {
    ...context,
    ...(device !== undefined && { device }),
    ...(rule !== undefined && { rule: { ...rule, id: rule.ruleId } }),
  };
  const name = renderTemplate(templates.name, own).slice(0, alarmLimits.nameCharactersMax);
  return {
    name: name.trim() || (rule?.name ?? 'Alarm'),
    key: renderTemplate(templates.key, own).slice(0, alarmLimits.keyCharactersMax),
    device: device && alarmDevice(device),
  };
}

/** The device of a timed run whose data sources all read the same one. */
function onlyDevice({ dataSources = {} }: TemplateContext): JsonObject | undefined {
  let found: JsonObject | undefined;
  for (const { device } of Object.values(dataSources)) {
    if (!isJsonObject(device)) continue;
    if (found !== undefined && found['id'] !== device['id']) return undefined;
    found = device;
  }
  return found;
}

function alarmDevice({ id, name, deviceId }: JsonObject): AlarmDevice {
  return { id: String(id), name: String(name), deviceId: String(deviceId) };
}
