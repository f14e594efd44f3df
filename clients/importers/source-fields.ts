// Source fields: members of an export, whose names are in camel case or in snake case.
import { isJsonObject, type Json, type JsonObject } from '../../src/model/json.ts';

/** The member at a path such as `root_keys.app_key.key`, in either case; undefined when absent or null. */
export function memberAt(object: JsonObject, path: string): Json | undefined {
  let at: Json | undefined = object;
  for (const name of path.split('.')) {
    if (!isJsonObject(at)) return undefined;
    at = at[name] ?? at[camelCase(name)] ?? at[otherCase[name] ?? name];
  }
  return at ?? undefined;
}

/** ChirpStack 3 writes abbreviations in capitals. */
const otherCase: Readonly<Record<string, string>> = {
  dev_eui: 'devEUI',
  join_eui: 'joinEUI',
  device_profile_id: 'deviceProfileID',
  app_s_key: 'appSKey',
};

function camelCase(name: string): string {
  return name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** A string that is not empty. */
export function textAt(object: JsonObject, path: string): string | undefined {
  const value = memberAt(object, path);
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

export function objectAt(object: JsonObject, path: string): JsonObject | undefined {
  const value = memberAt(object, path);
  return isJsonObject(value) ? value : undefined;
}

const eui = /^[0-9A-F]{16}$/;

/** In capitals; undefined for anything else than 16 hexadecimal digits. */
export function euiOf(written: string | undefined): string | undefined {
  const normal = written?.replaceAll(/[-: ]/g, '').toUpperCase();
  return normal !== undefined && eui.test(normal) ? normal : undefined;
}

/** A key of 32 hexadecimal digits; undefined for another value, and for the zeros of an unknown one. */
export function keyOf(written: string | undefined): string | undefined {
  const isKey = written !== undefined && /^[0-9a-f]{32}$/i.test(written) && !/^0+$/.test(written);
  return isKey ? written.toLowerCase() : undefined;
}

/** Such as `1.0.3` out of `MAC_V1_0_3`, `LORAWAN_1_0_3` and `1.0.3`. */
export function loraVersionOf(written: string | undefined): string | undefined {
  const [, major, minor, patch] = /(\d+)[._](\d+)(?:[._](\d+))?/.exec(written ?? '') ?? [];
  if (major === undefined || minor === undefined) return undefined;
  return [major, minor, patch].filter((part) => part !== undefined).join('.');
}

/** Without the members that have no value. */
export function present(members: Readonly<Record<string, Json | undefined>>): JsonObject {
  const given = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as JsonObject;
}
