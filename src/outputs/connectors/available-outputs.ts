// Available outputs: the types that an installation delivers to, and the checks of a connector that is saved (contract 9).
import type { OutputConnector } from '../../model/connector.ts';
import { problem } from '../../model/problem.ts';
import { canBeJson, parseTemplate } from '../templates/template.ts';
import type { ConnectorServices } from './connector-services.ts';
import { findConnectorType, typesWithProperties } from './connector-table.ts';

export interface AvailableOutputs {
  /** Types that clients can create here. */
  readonly types: readonly string[];
  /**
   * The setting without which a type is not available; undefined for types that need none and for
   * unknown ones.
   */
  readonly missingSetting: (type: string) => string | undefined;
  /**
   * Throws a Problem for a connector that cannot work: invalid templates, forbidden targets, a
   * record that its type rejects. `stored` is the record that an update replaces.
   */
  readonly check: (connector: OutputConnector, stored?: OutputConnector) => void;
}

export function createAvailableOutputs(services: ConnectorServices): AvailableOutputs {
  const missingSetting = (type: string) => findConnectorType(type)?.missingSetting(services);
  return {
    types: typesWithProperties
      .map(({ type }) => type)
      .filter((type) => missingSetting(type) === undefined),
    missingSetting,
    check(connector, stored) {
      const type = findConnectorType(connector.type);
      if (type === undefined) return;
      type.checkRecord(connector, stored);
      checkPayload(connector.customPayload, type.needsJsonPayload);
      type.check(connector.properties ?? {}, services);
    },
  };
}

function checkPayload(customPayload: string | null, needsJson: boolean): void {
  if (customPayload === null || customPayload === '') return;
  const where = 'body customPayload';
  const template = parseTemplate(customPayload, 'json', where);
  if (!needsJson || canBeJson(template)) return;
  const reason = 'it can never render as valid JSON';
  throw problem('templateInvalid', { where, reason });
}
