// Vendor names: whether an answer contains the names that older clients read (contract 34, 35).
import type { IncomingHttpHeaders } from 'node:http';

/** The setting `VENDOR_ALIASES`. With `header`, clients ask for the names. */
export type VendorAliases = 'header' | 'always' | 'off';

export function wantsVendorNames(
  setting: VendorAliases,
): (headers: IncomingHttpHeaders) => boolean {
  if (setting === 'header') return (headers) => headers['akenza-client'] !== undefined;
  return () => setting === 'always';
}
