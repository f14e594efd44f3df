// View options of connectors: names of types and secrets in answers, by settings and client (contract 34).
import type { IncomingHttpHeaders } from 'node:http';
import type { ConnectorViewOptions } from '../../inventory/data-flows/output-connectors.ts';

export interface ViewOptionsParts {
  /** Whether an answer to these headers carries the names that older clients read (contract 34). */
  readonly aliased: (headers: IncomingHttpHeaders) => boolean;
  /** Secrets of output connectors in clear, for old clients. */
  readonly revealConnectorSecrets: boolean;
}

export function viewOptionsOf(
  parts: ViewOptionsParts,
  headers: IncomingHttpHeaders,
): ConnectorViewOptions {
  return { vendorNames: parts.aliased(headers), connectorSecrets: parts.revealConnectorSecrets };
}

// Vendor names: whether an answer contains the names that older clients read (contract 34, 35).

/** The setting `VENDOR_ALIASES`. With `header`, clients ask for the names. */
export type VendorAliases = 'header' | 'always' | 'off';

export function wantsVendorNames(
  setting: VendorAliases,
): (headers: IncomingHttpHeaders) => boolean {
  if (setting === 'header') return (headers) => headers['akenza-client'] !== undefined;
  return () => setting === 'always';
}
