// Values of settings: each reader takes the string of a variable, and refuses what the setting cannot be.
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { dayMs } from '../../model/instant.ts';
import { parseIsoDuration } from '../../model/iso-duration.ts';
import { isTileTemplate, type MapTiles, openStreetMap, tileOrigin } from '../../model/map-tiles.ts';
import type { CertificateFiles } from '../../structures/certificate-watch.ts';

/** An invalid setting. The message names the variable, the value and what is accepted. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

export function refuse(name: string, value: string, accepted: string): never {
  throw new ConfigError(`Invalid ${name}=${value}: it must be ${accepted}`);
}

export function wholeNumberOf(
  name: string,
  value: string | undefined,
  { fallback, min, max }: { readonly fallback: number; readonly min: number; readonly max: number },
): number {
  if (value === undefined) return fallback;
  const number = Number(value);
  if (!/^\d+$/.test(value) || number < min || number > max)
    refuse(name, value, `an integer from ${min} to ${max}`);
  return number;
}

/** Milliseconds. Months are rejected, because they have no fixed length. */
export function durationOf(name: string, value: string | undefined, fallback: string): number {
  if (value === '0') return 0;
  const given = value ?? fallback;
  const parsed = parseIsoDuration(given);
  if ('duration' in parsed && parsed.duration.months === 0)
    return parsed.duration.days * dayMs + parsed.duration.ms;
  return refuse(
    name,
    given,
    'an ISO-8601 duration of weeks, days, hours, minutes or seconds, such as P7D, or 0',
  );
}

export function portOf(name: string, value: string | undefined, fallback: number): number {
  return wholeNumberOf(name, value, { fallback, min: 0, max: 65_535 });
}

/** Files of a certificate and its key, with the settings that name them. */
export interface CertificateSetting extends CertificateFiles {
  readonly names: { readonly cert: string; readonly key: string };
}

/** Absolute paths of a certificate and its key; undefined without both. */
export function certificateOf(
  names: CertificateSetting['names'],
  read: (name: string) => string | undefined,
): CertificateSetting | undefined {
  const { cert, key } = names;
  const pair = pairOf(
    [cert, key],
    [read(cert), read(key)],
    'TLS requires a certificate and its private key',
  );
  return pair && { names, cert: resolve(pair[0]), key: resolve(pair[1]) };
}

/** The contents of the file that a setting names. Throws ConfigError when it cannot be read. */
export function fileOf(name: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new ConfigError(
      `Invalid ${name}=${path}: the file cannot be read: ${(error as Error).message}`,
    );
  }
}

export function mapTilesOf(
  given: string | undefined,
  named: string | undefined,
): MapTiles | undefined {
  const names = ['MAP_TILES_URL', 'MAP_TILES_ATTRIBUTION'] as const;
  const pair = pairOf(names, [given, named], 'map tiles require an attribution');
  if (pair === undefined) return undefined;
  const [url, attribution] = pair;
  if (isTileTemplate(url)) return { url, attribution };
  // The value may hold a key, so the message must not repeat it.
  return refuse('MAP_TILES_URL', '…', 'an http or https URL with {z}, {x} and {y} after the host');
}

/** Without a value: that of OpenStreetMap. `none`: no host at all. */
export function mapOriginsOf(value: string | undefined): readonly string[] {
  if (value === undefined) return [tileOrigin(openStreetMap.url)];
  if (value === 'none') return [];
  const origins = listOf(value);
  // A policy of pages with `*` would let every tenant name a host.
  if (!origins.every((one) => /^https?:/.test(one) && isOrigin(one)))
    refuse('MAP_ORIGINS', value, 'origins such as https://tiles.example.com, or none');
  return origins;
}

/** Both of two settings, or neither. */
function pairOf(
  names: readonly [string, string],
  [first, second]: readonly [string | undefined, string | undefined],
  reason: string,
): readonly [string, string] | undefined {
  if (first !== undefined && second !== undefined) return [first, second];
  if (first === undefined && second === undefined) return undefined;
  const [given, missing] = first === undefined ? names.toReversed() : names;
  throw new ConfigError(`${given} is set but ${missing} is not: ${reason}`);
}

export function oneOf<T extends string>(
  name: string,
  value: string | undefined,
  fallback: T,
  accepted: readonly T[],
): T {
  if (value === undefined) return fallback;
  return (
    accepted.find((one) => one === value) ?? refuse(name, value, `one of ${accepted.join(', ')}`)
  );
}

export function flagOf(name: string, value: string | undefined): boolean {
  if (value === undefined || value === '0' || value === 'false') return false;
  return value === '1' || value === 'true' || refuse(name, value, '1 or 0');
}

export function urlOf(name: string, value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  // The value may hold a password, so the message must not repeat it.
  if (URL.canParse(value)) return value;
  return refuse(name, '…', 'a URL');
}

export function listOf(value: string | undefined): readonly string[] {
  return (value ?? '')
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

export function originsOf(name: string, value: string | undefined): readonly string[] {
  const origins = listOf(value);
  if (value !== undefined && !origins.every(isOrigin))
    refuse(name, value, 'origins such as https://app.example.com, or *');
  return origins;
}

export function rangesOf(name: string, value: string | undefined): readonly string[] {
  const ranges = listOf(value);
  if (value !== undefined && !ranges.every(isAddressRange))
    refuse(name, value, 'addresses or ranges such as 10.0.0.0/8');
  return ranges;
}

function isOrigin(text: string): boolean {
  return text === '*' || (URL.canParse(text) && new URL(text).origin === text);
}

const addressBits: Readonly<Record<number, number>> = { 4: 32, 6: 128 };

/** Whether the string is an IP address, or one with a prefix length. */
function isAddressRange(text: string): boolean {
  const [address = '', prefix = '0'] = text.split('/');
  const bitsMax = addressBits[isIP(address)];
  return bitsMax !== undefined && /^\d+$/.test(prefix) && Number(prefix) <= bitsMax;
}
