// Address of a new integration: its type.
import { type IntegrationType, integrationTypes } from '../../../../src/model/integration.ts';

export interface NewIntegrationSearch {
  readonly type?: IntegrationType;
}

export function readNewIntegration(search: Record<string, unknown>): NewIntegrationSearch {
  const type = integrationTypes.find((one) => one === search['type']);
  return type === undefined ? {} : { type };
}
