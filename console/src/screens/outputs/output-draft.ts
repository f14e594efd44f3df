// Output drafts: an output as its form edits it, and the body that saves it.
import type { components } from '../../../generated/interface-types.ts';
import {
  type OutputConnector,
  outputTypes,
  type Properties,
  propertiesOf,
} from './output-types.ts';

export interface OutputDraft {
  readonly name: string;
  readonly type: string;
  readonly scope: OutputConnector['scope'];
  readonly properties: Properties;
  readonly sendConsecutiveAlerts: boolean;
  readonly invokeRuleEngine: boolean;
  readonly useCustomPayload: boolean;
  readonly customPayload: string;
}

export function draftOf(connector: OutputConnector): OutputDraft {
  const { name, type, scope, sendConsecutiveAlerts, invokeRuleEngine } = connector;
  const { useCustomPayload, customPayload } = connector;
  return {
    name,
    type,
    scope,
    properties: propertiesOf(connector),
    sendConsecutiveAlerts,
    invokeRuleEngine,
    useCustomPayload,
    customPayload: customPayload ?? '',
  };
}

/** A new output of the type, with everything that can be known filled in. */
export function newDraft(type: string, name: string, scope: OutputDraft['scope']): OutputDraft {
  const row = outputTypes[type];
  return {
    name,
    type,
    scope: row?.isRuleActionOnly === true ? 'RULE_ACTION' : scope,
    properties: row?.first ?? {},
    // An alarm counts its triggers.
    sendConsecutiveAlerts: type === 'ALARM',
    invokeRuleEngine: false,
    useCustomPayload: false,
    customPayload: '{"device": {{device.name}}, "data": {{data}}}',
  };
}

type NewBody = components['schemas']['OutputConnectorDraft'];

/** Body of the request that makes the output. */
export function bodyOf(draft: OutputDraft, workspaceId: string): NewBody {
  const { name, type, scope } = draft;
  // The property object is chosen by the type, which the compiler cannot follow.
  return { ...changeOf(draft), name, workspaceId, type, scope } as unknown as NewBody;
}

/** Members that an update sends; type and scope stay as they are. */
export function changeOf(draft: OutputDraft) {
  const { name, type, properties, customPayload, useCustomPayload } = draft;
  const { sendConsecutiveAlerts, invokeRuleEngine } = draft;
  const key = outputTypes[type]?.propertiesKey;
  return {
    name,
    sendConsecutiveAlerts,
    invokeRuleEngine,
    useCustomPayload,
    customPayload: useCustomPayload ? customPayload : null,
    ...(key === undefined ? {} : { [key]: properties }),
  };
}
