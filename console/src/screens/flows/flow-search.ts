// Addresses of the data flows, connectors and integrations: search, page and type.
import { type IntegrationType, integrationTypes } from '../../../../src/model/integration.ts';

/** What the address of a list says. */
export interface ListSearch {
  readonly q?: string;
  readonly page?: number;
}

export function readListSearch({ q, page }: Record<string, unknown>): ListSearch {
  const isPage = typeof page === 'number' && Number.isInteger(page) && page > 0;
  return {
    ...(typeof q === 'string' && q !== '' ? { q } : {}),
    ...(isPage ? { page } : {}),
  };
}

export interface NewIntegrationSearch {
  readonly type?: IntegrationType;
}

export function readNewIntegration(search: Record<string, unknown>): NewIntegrationSearch {
  const type = integrationTypes.find((one) => one === search['type']);
  return type === undefined ? {} : { type };
}
