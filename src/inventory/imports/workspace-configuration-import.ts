// Makes a workspace what a document says: creates what is missing, changes what differs, deletes nothing; all or nothing.
import { isDeepStrictEqual } from 'node:util';
import type { AvailableOutputs } from '../../connectors/available-outputs.ts';
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import type { Records } from '../../records/records.ts';
import { change, type Step } from '../record-change.ts';
import { createCustomField, updateCustomField } from '../devices/custom-fields.ts';
import { createCustomLogic, updateCustomLogic } from '../rules/custom-logic.ts';
import { createDataFlow, updateDataFlow } from '../flows/data-flows.ts';
import { createDeviceConnector, updateDeviceConnector } from '../flows/device-connectors.ts';
import { createDeviceType, updateDeviceType } from '../flows/device-types.ts';
import { createOutputConnector, updateOutputConnector } from '../flows/output-connectors.ts';
import { createRule, updateRule } from '../rules/rules.ts';
import { createTag, updateTag } from '../devices/tags.ts';
import {
  checkConfigurationScopes,
  type ConfigurationItem,
  configurationFormat,
  configurationSections,
  configurationShowing,
  type KnownSections,
  knownSections,
  type SectionName,
} from './workspace-configuration.ts';
import {
  type ConfiguredRule,
  missingDevices,
  ruleFromConfigured,
} from './workspace-configuration-rules.ts';
import { targetsFromConfigured } from './workspace-configuration-targets.ts';
import { readWorkspace, updateWorkspace, type WorkspaceUpdate } from '../workspaces/workspaces.ts';

export type ConfigurationDocument = {
  readonly format: string;
  readonly workspace?: WorkspaceUpdate | null | undefined;
} & { readonly [S in SectionName]?: readonly { readonly name: string }[] | null | undefined };

interface Making {
  readonly step: Step;
  readonly principal: Principal;
  readonly workspaceId: string;
  readonly organizationId: string;
  readonly available: AvailableOutputs;
  readonly now: number;
  /** Id by section and name, also of what was made a moment ago. */
  readonly idOf: (section: SectionName, name: string) => string;
}

/** Makes the item, or changes the one of that id; returns its id. */
type Maker = (
  making: Making,
  item: ConfigurationItem,
  id: string | undefined,
) => Promise<{ readonly id: string }>;

const makers: Readonly<Record<SectionName, Maker>> = {
  customFields: ({ step, workspaceId }, item, id) =>
    id === undefined
      ? createCustomField(step, { ...item, workspaceId } as never)
      : updateCustomField(step, id, item),
  tags: ({ step, workspaceId }, item, id) =>
    id === undefined ? createTag(step, { ...item, workspaceId }) : updateTag(step, id, item),
  deviceTypes: ({ step, organizationId, now }, { library: _, ...item }, id) =>
    id === undefined
      ? createDeviceType(step, { ...item, organizationId }, now)
      : updateDeviceType(step, id, item, now),
  deviceConnectors: ({ step, principal, workspaceId, now }, item, id) =>
    id === undefined
      ? createDeviceConnector(step, principal, { ...item, workspaceId } as never, now)
      : updateDeviceConnector(step, principal, id, item, now),
  outputConnectors: async ({ step, workspaceId, organizationId, available }, told, id) => {
    const { item } = await targetsFromConfigured(step, { organizationId, workspaceId }, told);
    const context = { showing: configurationShowing, available };
    if (id !== undefined) return updateOutputConnector(step, context, id, item);
    return createOutputConnector(step, context, { ...item, workspaceId } as never);
  },
  dataFlows: ({ step, principal, workspaceId, now, idOf }, item, id) => {
    const { deviceConnector, deviceType, outputConnectors, ...rest } = item;
    const outputs = (outputConnectors ?? []) as readonly {
      readonly name: string;
      readonly topic: string;
    }[];
    const flow = {
      ...rest,
      deviceConnector: { id: idOf('deviceConnectors', String(deviceConnector)) },
      deviceType: deviceType ? { id: idOf('deviceTypes', String(deviceType)) } : null,
      outputConnectors: outputs.map(({ name, topic }) => ({
        id: idOf('outputConnectors', name),
        topic,
      })),
    };
    return id === undefined
      ? createDataFlow(step, principal, configurationShowing, { ...flow, workspaceId }, now)
      : updateDataFlow(step, principal, configurationShowing, id, flow, now);
  },
  customLogic: ({ step, principal, organizationId, now }, item, id) =>
    id === undefined
      ? createCustomLogic(step, principal, { ...item, organizationId } as never, now)
      : updateCustomLogic(step, principal, id, item, now),
  rules: async ({ step, workspaceId, organizationId, now, idOf }, item, id) => {
    const rule = await ruleFromConfigured(step, organizationId, item as never, idOf);
    return id === undefined
      ? createRule(step, configurationShowing, { ...rule, workspaceId }, now)
      : updateRule(step, configurationShowing, id, rule, now);
  },
};

/** Members that are fixed once a record is made. */
const fixed: Readonly<Partial<Record<SectionName, readonly string[]>>> = {
  customFields: ['type'],
  deviceConnectors: ['connectivity', 'authType', 'decodingType'],
  outputConnectors: ['type', 'scope'],
  dataFlows: ['deviceConnector'],
};

export interface ConfigurationReport {
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
  /** What people still have to do, such as entering secrets. */
  readonly notes: readonly string[];
}

export interface ConfigurationImport {
  readonly workspaceId: string;
  readonly document: ConfigurationDocument;
  /** The output connector types that this installation offers. */
  readonly available: AvailableOutputs;
}

/** The same document again changes nothing. Throws 400 or 409 naming the item, and then nothing was changed. */
export async function importConfiguration(
  records: Records,
  principal: Principal,
  { workspaceId, document, available }: ConfigurationImport,
): Promise<ConfigurationReport> {
  checkConfigurationScopes(principal, workspaceId, ['read', 'create', 'update']);
  if (document.format !== configurationFormat) {
    throw problem('invalidRequest', { reason: `body format: must be ${configurationFormat}` });
  }
  return change(records, async (step) => {
    const known = await knownSections(step, principal, workspaceId);
    const counts = { created: 0, updated: 0, unchanged: 0 };
    const notes: string[] = [];
    await takeWorkspace(step, workspaceId, document.workspace, counts);
    const made = new Map<string, string>();
    const leftOut = new Set<string>();
    const making: Making = {
      step,
      principal,
      workspaceId,
      organizationId: principal.organizationId,
      available,
      now: records.now(),
      idOf: (section, name) => made.get(`${section} ${name}`) ?? knownId(known, section, name),
    };
    for (const section of configurationSections) {
      for (const item of (document[section] ?? []) as readonly ConfigurationItem[]) {
        const absent = await devicesNotThere(making, section, item, known);
        if (absent.length > 0) {
          if (section === 'outputConnectors') leftOut.add(item.name);
          notes.push(
            `${section} ${item.name}: left out, the workspace has no device ${absent.join(', ')}`,
          );
          continue;
        }
        const needed = actionNames(section, item).filter((name) => leftOut.has(name));
        if (needed.length > 0) {
          notes.push(
            `${section} ${item.name}: left out, as was its output connector ${needed.join(', ')}`,
          );
          continue;
        }
        const outcome = await takeItem(making, section, item, known, made);
        counts[outcome] += 1;
        if (outcome === 'created' && JSON.stringify(item).includes('"********"')) {
          notes.push(`${section} ${item.name}: enter its secrets, which no document holds`);
        }
      }
    }
    return { ...counts, notes };
  });
}

/** Device types and custom logic serve all workspaces, so a credential of some of them may name but not change them (contract 35). */
function checkReach({ workspaces }: Principal, section: SectionName): void {
  if (workspaces !== 'all' && (section === 'deviceTypes' || section === 'customLogic'))
    throw problem('permissionDenied');
}

type Outcome = 'created' | 'updated' | 'unchanged';

async function takeWorkspace(
  step: Step,
  workspaceId: string,
  sent: WorkspaceUpdate | null | undefined,
  counts: Record<Outcome, number>,
): Promise<void> {
  if (!sent) return;
  const { name, description, settings, properties } = await readWorkspace(step, workspaceId);
  const current = { name, description, settings, properties };
  if (isDeepStrictEqual({ ...current, ...sent }, current)) counts.unchanged += 1;
  else {
    await updateWorkspace(step, workspaceId, sent, step.now());
    counts.updated += 1;
  }
}

async function takeItem(
  making: Making,
  section: SectionName,
  item: ConfigurationItem,
  known: KnownSections,
  made: Map<string, string>,
): Promise<Outcome> {
  const current = known[section].get(item.name);
  if (current === undefined) {
    if (item['library'] === true) {
      throw problem('invalidRequest', {
        reason: `body ${section}: there is no library type ${item.name}; import the library first`,
      });
    }
    checkReach(making.principal, section);
    const { id } = await makers[section](making, item, undefined);
    made.set(`${section} ${item.name}`, id);
    return 'created';
  }
  if (item['library'] === true || isDeepStrictEqual({ ...current.item, ...item }, current.item))
    return 'unchanged';
  const changed = fixed[section]?.find(
    (name) => item[name] !== undefined && !isDeepStrictEqual(item[name], current.item[name]),
  );
  if (changed !== undefined) {
    throw problem('invalidRequest', {
      reason: `body ${section}: the ${changed} of ${item.name} is fixed; give the item another name`,
    });
  }
  checkReach(making.principal, section);
  await makers[section](
    making,
    section === 'rules' ? { ...current.item, ...item } : item,
    current.id,
  );
  return 'updated';
}

/** Devices are no part of a document, so what names devices waits until they are there. */
async function devicesNotThere(
  { step, ...place }: Making,
  section: SectionName,
  item: ConfigurationItem,
  known: KnownSections,
): Promise<readonly string[]> {
  if (section === 'outputConnectors') {
    const current = known.outputConnectors.get(item.name);
    if (current !== undefined && isDeepStrictEqual({ ...current.item, ...item }, current.item))
      return [];
    return (await targetsFromConfigured(step, place, item)).missing;
  }
  if (section !== 'rules') return [];
  const { inputs } = {
    ...known.rules.get(item.name)?.item,
    ...item,
  } as unknown as Partial<ConfiguredRule>;
  return missingDevices(step, place, inputs ?? []);
}

/** The output connectors that a rule or a data flow of a document needs. */
function actionNames(
  section: SectionName,
  { actions, outputConnectors }: ConfigurationItem,
): string[] {
  const named =
    (section === 'rules' ? actions : section === 'dataFlows' ? outputConnectors : null) ?? [];
  return (named as readonly { readonly name: string }[]).map(({ name }) => name);
}

function knownId(known: KnownSections, section: SectionName, name: string): string {
  const item = known[section].get(name);
  if (item !== undefined) return item.id;
  throw problem('unknownReference', { field: 'body', what: section, id: name, place: 'workspace' });
}
