// Values of settings: each is read by the name of its variable, and refused when the setting cannot be that.
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

/** Files of a certificate and its key, with the settings that name them. */
export interface CertificateSetting extends CertificateFiles {
  readonly names: { readonly cert: string; readonly key: string };
}

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Settings that hold secrets; NAME_FILE can name a file with the value, as orchestrators provide
 * it.
 */
const secretNames = new Set([
  'RECORDS_URL',
  'SAMPLES_URL',
  'ADMIN_PASSWORD',
  'ADMIN_API_KEY',
  'SECRETS_KEY',
  'CLUSTER_SECRET',
  'SMTP_URL',
  'SMS_GATEWAY_URL',
  'GCP_SERVICE_ACCOUNT_KEY',
  'OIDC_CLIENT_SECRET',
]);

/** The settings of an environment. An empty variable is not set. Throws ConfigError. */
export class Settings {
  readonly #environment: Environment;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  /**
   * The value of the variable, or what is in the file that NAME_FILE names, without the line end
   * behind it.
   */
  text(name: string): string | undefined {
    const value = this.#environment[name] || undefined;
    const file = this.#environment[`${name}_FILE`];
    if (!file || !secretNames.has(name)) return value;
    if (value !== undefined)
      throw new ConfigError(`${name} and ${name}_FILE are both set. Unset one of them.`);
    const contents = fileOf(`${name}_FILE`, file)
      .toString()
      .replace(/\r?\n$/, '');
    if (contents === '') throw new ConfigError(`Invalid ${name}_FILE=${file}: the file is empty`);
    return contents;
  }

  wholeNumber(
    name: string,
    {
      fallback,
      min,
      max,
    }: { readonly fallback: number; readonly min: number; readonly max: number },
  ): number {
    const value = this.text(name);
    if (value === undefined) return fallback;
    const number = Number(value);
    if (!/^\d+$/.test(value) || number < min || number > max)
      refuse(name, value, `an integer from ${min} to ${max}`);
    return number;
  }

  /** Milliseconds. Months are rejected, because they have no fixed length. */
  duration(name: string, fallback: string): number {
    const given = this.text(name) ?? fallback;
    if (given === '0') return 0;
    const parsed = parseIsoDuration(given);
    if ('duration' in parsed && parsed.duration.months === 0)
      return parsed.duration.days * dayMs + parsed.duration.ms;
    return refuse(
      name,
      given,
      'an ISO-8601 duration of weeks, days, hours, minutes or seconds, such as P7D, or 0',
    );
  }

  port(name: string, fallback: number): number {
    return this.wholeNumber(name, { fallback, min: 0, max: 65_535 });
  }

  /** Absolute paths of a certificate and its key; undefined without both. */
  certificate(names: CertificateSetting['names']): CertificateSetting | undefined {
    const reason = 'TLS requires a certificate and its private key';
    const pair = this.#pair(names.cert, names.key, reason);
    return pair && { names, cert: resolve(pair[0]), key: resolve(pair[1]) };
  }

  mapTiles(): MapTiles | undefined {
    const reason = 'map tiles require an attribution';
    const pair = this.#pair('MAP_TILES_URL', 'MAP_TILES_ATTRIBUTION', reason);
    if (pair === undefined) return undefined;
    const [url, attribution] = pair;
    if (isTileTemplate(url)) return { url, attribution };
    // The value may hold a key, so the message must not repeat it.
    return refuse(
      'MAP_TILES_URL',
      '…',
      'an http or https URL with {z}, {x} and {y} after the host',
    );
  }

  /** Without a value: that of OpenStreetMap. `none`: no host at all. */
  mapOrigins(): readonly string[] {
    const value = this.text('MAP_ORIGINS');
    if (value === undefined) return [tileOrigin(openStreetMap.url)];
    if (value === 'none') return [];
    const origins = listOf(value);
    // A policy of pages with `*` would let every tenant name a host.
    if (!origins.every((one) => /^https?:/.test(one) && isOrigin(one)))
      refuse('MAP_ORIGINS', value, 'origins such as https://tiles.example.com, or none');
    return origins;
  }

  oneOf<T extends string>(name: string, fallback: T, accepted: readonly T[]): T {
    const value = this.text(name);
    if (value === undefined) return fallback;
    return (
      accepted.find((one) => one === value) ?? refuse(name, value, `one of ${accepted.join(', ')}`)
    );
  }

  flag(name: string, fallback = false): boolean {
    const value = this.text(name);
    if (value === undefined) return fallback;
    if (value === '0' || value === 'false') return false;
    return value === '1' || value === 'true' || refuse(name, value, '1 or 0');
  }

  url(name: string): string | undefined {
    const value = this.text(name);
    if (value === undefined || URL.canParse(value)) return value;
    // The value may hold a password, so the message must not repeat it.
    return refuse(name, '…', 'a URL');
  }

  origins(name: string): readonly string[] {
    const value = this.text(name);
    const origins = listOf(value);
    if (value !== undefined && !origins.every(isOrigin))
      refuse(name, value, 'origins such as https://app.example.com, or *');
    return origins;
  }

  ranges(name: string): readonly string[] {
    const value = this.text(name);
    const ranges = listOf(value);
    if (value !== undefined && !ranges.every(isAddressRange))
      refuse(name, value, 'addresses or ranges such as 10.0.0.0/8');
    return ranges;
  }

  /** Both of two settings, or neither. */
  #pair(first: string, second: string, reason: string): readonly [string, string] | undefined {
    const [one, other] = [this.text(first), this.text(second)];
    if (one !== undefined && other !== undefined) return [one, other];
    if (one === undefined && other === undefined) return undefined;
    const [given, missing] = one === undefined ? [second, first] : [first, second];
    throw new ConfigError(`${given} is set but ${missing} is not: ${reason}`);
  }
}

export function listOf(value: string | undefined): readonly string[] {
  return (value ?? '')
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
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
