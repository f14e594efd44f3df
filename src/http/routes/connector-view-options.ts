// Names of older clients: whether an answer contains them, and which they are (contract 34, 35).
import type { IncomingHttpHeaders } from 'node:http';
import { type PayloadEncoding, vendorEncoding } from '../../model/device-type.ts';
import { isJsonObject } from '../../model/json.ts';
import { Answer, type Route, type RouteInput } from '../edge/route.ts';

/** The setting `VENDOR_ALIASES`. With `header`, clients ask for the names. */
export type VendorAliases = 'header' | 'always' | 'off';

export function wantsVendorNames(
  setting: VendorAliases,
): (headers: IncomingHttpHeaders) => boolean {
  if (setting === 'header') return (headers) => headers['akenza-client'] !== undefined;
  return () => setting === 'always';
}

// Vendor encodings: clients of the vendor know how payloads were read before others were added (contract 38).

/** The routes, with HEX for the encodings that clients of the vendor do not know. */
export function withVendorEncodings(
  aliased: (headers: IncomingHttpHeaders) => boolean,
  routes: readonly Route[],
): Route[] {
  return routes.map((route) => ({
    ...route,
    async handle(input: never, principal: never) {
      const output = await route.handle(input, principal);
      if (!aliased((input as RouteInput<unknown, unknown, unknown>).headers)) return output;
      if (!(output instanceof Answer)) return vendorView(output);
      return new Answer(output.status, vendorView(output.body), output.headers);
    },
  }));
}

/** A page, a device type, a device connector, or a data flow with both. */
function vendorView(value: unknown): unknown {
  if (!isJsonObject(value)) return value;
  const shown: Record<string, unknown> = { ...value };
  const { content, encoding, meta, deviceType, deviceConnector } = shown;
  if (Array.isArray(content)) shown['content'] = content.map(vendorView);
  if (encoding !== undefined) shown['encoding'] = vendorEncoding(encoding as PayloadEncoding);
  if (meta !== undefined) shown['meta'] = vendorView(meta);
  if (deviceType !== undefined) shown['deviceType'] = vendorView(deviceType);
  if (deviceConnector !== undefined) shown['deviceConnector'] = vendorView(deviceConnector);
  return shown;
}
