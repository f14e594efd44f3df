// View options of connectors: names of types and secrets in answers, by settings and client (contract 34).
import type { IncomingHttpHeaders } from 'node:http';
import type { ConnectorViewOptions } from '../../inventory/data-flows/output-connector-view.ts';

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
