// Workspace configuration import: creates missing records and updates different ones in one transaction; deletes nothing.
import { isDeepStrictEqual } from 'node:util';
import type { AvailableOutputs } from '../../connectors/available-outputs.ts';
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import type { Records } from '../../records/records.ts';
import { change, type Step } from '../record-change.ts';
import {
  checkConfigurationScopes,
  type ConfigurationItem,
  configurationFormat,
  configurationSections,
  knownSections,
  type SectionName,
} from './workspace-configuration.ts';
import { type ConfiguredRule, missingDevices } from './workspace-configuration-rules.ts';
import { connectorsNamedBy, inOrderOfNaming } from './workspace-configuration-outputs.ts';
import { targetsFromConfigured } from './workspace-configuration-targets.ts';
import { type ImportContext, writers } from './workspace-configuration-writers.ts';
import { readWorkspace, updateWorkspace, type WorkspaceUpdate } from '../workspaces/workspaces.ts';

export type ConfigurationDocument = {
  readonly format: string;
  readonly workspace?: WorkspaceUpdate | null | undefined;
} & { readonly [S in SectionName]?: readonly { readonly name: string }[] | null | undefined };

/** Members that never change after the record is created. */
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
  /** Remaining work for users, such as entering secrets. */
  readonly notes: readonly string[];
}

export interface ConfigurationImport {
  readonly workspaceId: string;
  readonly document: ConfigurationDocument;
  /** The output connector types that this installation offers. */
  readonly available: AvailableOutputs;
}

/**
 * The same document again changes nothing. Throws 400 or 409 naming the item, and then changes
 * nothing.
 */
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
    const context: ImportContext = {
      step,
      principal,
      workspaceId,
      organizationId: principal.organizationId,
      available,
      now: step.now(),
      known: await knownSections(step, principal, workspaceId),
      created: new Map(),
    };
    const counts = { created: 0, updated: 0, unchanged: 0 };
    const notes: string[] = [];
    await importWorkspace(step, workspaceId, document.workspace, counts);
    const leftOut = new Set<string>();
    for (const section of configurationSections) {
      const items = (document[section] ?? []) as readonly ConfigurationItem[];
      for (const item of inOrderOfNaming(items)) {
        const reason = await reasonToLeaveOut(context, section, item, leftOut);
        if (reason !== undefined) {
          if (section === 'outputConnectors') leftOut.add(item.name);
          notes.push(`${section} ${item.name}: left out, ${reason}`);
          continue;
        }
        const outcome = await importItem(context, section, item);
        counts[outcome] += 1;
        if (outcome === 'created' && JSON.stringify(item).includes('"********"'))
          notes.push(
            `${section} ${item.name}: enter its secrets; configuration documents do not contain them`,
          );
      }
    }
    return { ...counts, notes };
  });
}

/** Why an item cannot be imported yet: a device is missing, or an output connector was left out. */
async function reasonToLeaveOut(
  context: ImportContext,
  section: SectionName,
  item: ConfigurationItem,
  leftOut: ReadonlySet<string>,
): Promise<string | undefined> {
  const absent = await missingDevicesOf(context, section, item);
  if (absent.length > 0) return `the workspace has no device ${absent.join(', ')}`;
  const needed = outputNames(section, item).filter((name) => leftOut.has(name));
  if (needed.length > 0) return `as was its output connector ${needed.join(', ')}`;
  return undefined;
}

/**
 * Device types and custom logic serve all workspaces: a credential limited to some can use but not
 * change them (contract 35).
 */
function checkReach({ workspaces }: Principal, section: SectionName): void {
  if (workspaces !== 'all' && (section === 'deviceTypes' || section === 'customLogic'))
    throw problem('permissionDenied');
}

type Outcome = 'created' | 'updated' | 'unchanged';

async function importWorkspace(
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
    await updateWorkspace(step, workspaceId, sent);
    counts.updated += 1;
  }
}

async function importItem(
  context: ImportContext,
  section: SectionName,
  item: ConfigurationItem,
): Promise<Outcome> {
  const current = context.known[section].get(item.name);
  if (current === undefined) {
    if (item['library'] === true) {
      throw problem('invalidRequest', {
        reason: `body ${section}: unknown library type ${item.name}; import the library first`,
      });
    }
    checkReach(context.principal, section);
    const { id } = await writers[section].create(context, item);
    context.created.set(`${section} ${item.name}`, id);
    return 'created';
  }
  if (item['library'] === true || isDeepStrictEqual({ ...current.item, ...item }, current.item))
    return 'unchanged';
  const changed = fixed[section]?.find(
    (name) => item[name] !== undefined && !isDeepStrictEqual(item[name], current.item[name]),
  );
  if (changed !== undefined) {
    throw problem('invalidRequest', {
      reason: `body ${section}: the ${changed} of ${item.name} cannot be changed; use another name`,
    });
  }
  checkReach(context.principal, section);
  await writers[section].update(context, item, current.id);
  return 'updated';
}

/** A document contains no devices, so an item that names devices waits until they exist. */
async function missingDevicesOf(
  context: ImportContext,
  section: SectionName,
  item: ConfigurationItem,
): Promise<readonly string[]> {
  const { step, known } = context;
  if (section === 'outputConnectors') {
    const current = known.outputConnectors.get(item.name);
    if (current !== undefined && isDeepStrictEqual({ ...current.item, ...item }, current.item))
      return [];
    return (await targetsFromConfigured(step, context, item)).missing;
  }
  if (section !== 'rules') return [];
  const merged: object = { ...known.rules.get(item.name)?.item, ...item };
  return missingDevices(step, context, (merged as Partial<ConfiguredRule>).inputs ?? []);
}

/** The output connectors that an item of a document needs. */
function outputNames(section: SectionName, item: ConfigurationItem): readonly string[] {
  if (section === 'outputConnectors') return connectorsNamedBy(item);
  const { actions, outputConnectors } = item;
  const outputs = new Map<SectionName, unknown>([
    ['rules', actions],
    ['dataFlows', outputConnectors],
  ]);
  const named = (outputs.get(section) ?? []) as readonly { readonly name: string }[];
  return named.map(({ name }) => name);
}
