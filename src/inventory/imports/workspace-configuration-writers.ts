// Writers of a workspace configuration: create and update the records of each section from the items of a document.
import type { AvailableOutputs } from '../../connectors/available-outputs.ts';
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import { createCustomField, updateCustomField } from '../devices/custom-fields.ts';
import { createTag, updateTag } from '../devices/tags.ts';
import { createDataFlow, updateDataFlow } from '../flows/data-flows.ts';
import { createDeviceConnector, updateDeviceConnector } from '../flows/device-connectors.ts';
import { createDeviceType, updateDeviceType } from '../flows/device-types.ts';
import { createOutputConnector, updateOutputConnector } from '../flows/output-connectors.ts';
import type { ConnectorViewer } from '../flows/output-connector-view.ts';
import type { Step } from '../record-change.ts';
import { createCustomLogic, updateCustomLogic } from '../rules/custom-logic.ts';
import { createRule, updateRule } from '../rules/rules.ts';
import {
  type ConfigurationItem,
  configurationViewOptions,
  type KnownSections,
  type SectionName,
} from './workspace-configuration.ts';
import { ruleFromConfigured } from './workspace-configuration-rules.ts';
import { withConnectors } from './workspace-configuration-outputs.ts';
import { targetsFromConfigured } from './workspace-configuration-targets.ts';

/** The state of one import. */
export interface ImportContext {
  readonly step: Step;
  readonly principal: Principal;
  readonly workspaceId: string;
  readonly organizationId: string;
  readonly available: AvailableOutputs;
  readonly now: number;
  /** The records before the import. */
  readonly known: KnownSections;
  /** Ids of the records that the import created, by section and name. */
  readonly created: Map<string, string>;
}

type ItemId = Promise<{ readonly id: string }>;

interface Writer {
  readonly create: (context: ImportContext, item: ConfigurationItem) => ItemId;
  readonly update: (context: ImportContext, item: ConfigurationItem, id: string) => ItemId;
}

/** Creates and updates the records of each section. */
export const writers: Readonly<Record<SectionName, Writer>> = {
  customFields: {
    create: ({ step, workspaceId }, item) =>
      createCustomField(step, { ...item, workspaceId } as never),
    update: ({ step }, item, id) => updateCustomField(step, id, item),
  },
  tags: {
    create: ({ step, workspaceId }, item) => createTag(step, { ...item, workspaceId }),
    update: ({ step }, item, id) => updateTag(step, id, item),
  },
  deviceTypes: {
    create: ({ step, organizationId, now }, { library: _, ...item }) =>
      createDeviceType(step, { ...item, organizationId }, now),
    update: ({ step, now }, { library: _, ...item }, id) => updateDeviceType(step, id, item, now),
  },
  deviceConnectors: {
    create: ({ step, principal, workspaceId }, item) =>
      createDeviceConnector(step, principal, { ...item, workspaceId } as never),
    update: ({ step, principal }, item, id) => updateDeviceConnector(step, principal, id, item),
  },
  outputConnectors: {
    create: async (context, configured) => {
      const { step, workspaceId, available } = context;
      const item = await outputFromConfigured(context, configured);
      const options = { viewOptions: configurationViewOptions, available };
      return createOutputConnector(step, options, { ...item, workspaceId } as never);
    },
    update: async (context, configured, id) => {
      const { step, available } = context;
      const item = await outputFromConfigured(context, configured);
      return updateOutputConnector(
        step,
        { viewOptions: configurationViewOptions, available },
        id,
        item,
      );
    },
  },
  dataFlows: {
    create: (context, item) => {
      const draft = { ...flowFromConfigured(context, item), workspaceId: context.workspaceId };
      return createDataFlow(context.step, viewerOf(context), draft);
    },
    update: (context, item, id) => {
      return updateDataFlow(context.step, viewerOf(context), id, flowFromConfigured(context, item));
    },
  },
  customLogic: {
    create: ({ step, principal, organizationId }, item) =>
      createCustomLogic(step, principal, { ...item, organizationId } as never),
    update: ({ step, principal }, item, id) => updateCustomLogic(step, principal, id, item),
  },
  rules: {
    create: async (context, item) => {
      const { step, workspaceId } = context;
      const draft = { ...(await ruleOf(context, item)), workspaceId };
      return createRule(step, configurationViewOptions, draft);
    },
    update: async (context, item, id) => {
      const current = context.known.rules.get(item.name)?.item;
      const sent = await ruleOf(context, { ...current, ...item });
      return updateRule(context.step, configurationViewOptions, id, sent);
    },
  },
};

function viewerOf({ principal }: ImportContext): ConnectorViewer {
  return { principal, viewOptions: configurationViewOptions };
}

function ruleOf(context: ImportContext, item: ConfigurationItem) {
  const { step, organizationId } = context;
  return ruleFromConfigured(step, organizationId, item as never, (section, name) =>
    idOf(context, section, name),
  );
}

async function outputFromConfigured(context: ImportContext, configured: ConfigurationItem) {
  const { item } = await targetsFromConfigured(context.step, context, configured);
  return withConnectors(item, (name) => idOf(context, 'outputConnectors', name));
}

function flowFromConfigured(
  context: ImportContext,
  { deviceConnector, deviceType, outputConnectors, ...rest }: ConfigurationItem,
) {
  const outputs = (outputConnectors ?? []) as readonly {
    readonly name: string;
    readonly topic: string;
  }[];
  return {
    ...rest,
    deviceConnector: { id: idOf(context, 'deviceConnectors', String(deviceConnector)) },
    deviceType: deviceType ? { id: idOf(context, 'deviceTypes', String(deviceType)) } : null,
    outputConnectors: outputs.map(({ name, topic }) => ({
      id: idOf(context, 'outputConnectors', name),
      topic,
    })),
  };
}

/**
 * The id of a record that a document names, also of one that the import created. Throws 400 for an
 * unknown name.
 */
function idOf({ created, known }: ImportContext, section: SectionName, name: string): string {
  const id = created.get(`${section} ${name}`) ?? known[section].get(name)?.id;
  if (id !== undefined) return id;
  throw problem('unknownReference', { field: 'body', what: section, id: name, place: 'workspace' });
}
