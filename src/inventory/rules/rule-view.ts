// Rule view: rules in answers, with the names of the records that they refer to (contract 13).
import { formatInstantOrNull } from '../../model/instant.ts';
import type { Rule, RuleInput } from '../../model/rule.ts';
import { findCustomLogics } from '../../storage/records/rows/rules.ts';
import type { Records } from '../../storage/records/records.ts';
import { findDeviceNames } from '../../storage/records/rows/devices.ts';
import { findOutputConnectors } from '../../storage/records/rows/output-connectors.ts';
import { findTags } from '../../storage/records/rows/tags.ts';
import { auditView } from '../record-change.ts';
import { type ConnectorViewOptions, typeName } from '../data-flows/output-connectors.ts';

export type RuleView = Awaited<ReturnType<typeof ruleViews>>[number];

export async function ruleViews(
  records: Records,
  viewOptions: ConnectorViewOptions,
  rules: readonly Rule[],
) {
  const inputs = rules.flatMap((rule) => rule.inputs);
  const idsOf = (type: RuleInput['type']) =>
    inputs.filter((input) => input.type === type).map(({ id }) => id);
  const devices = await findDeviceNames(records.db, idsOf('DEVICE'));
  const tags = await findTags(records.db, idsOf('ASSET_TAG'));
  const names = new Map([...devices, ...tags].map(({ id, name }) => [id, name]));
  const actionIds = rules.flatMap(({ actions }) => actions.map(({ id }) => id));
  const found = await findOutputConnectors(records, [...new Set(actionIds)]);
  const connectors = new Map(found.map((connector) => [connector.id, connector]));
  const blockIds = rules.flatMap(({ logic }) => logic.customLogic?.customLogicId ?? []);
  const blocks = new Map(
    (await findCustomLogics(records.db, [...new Set(blockIds)])).map((block) => [
      block.id,
      block.name,
    ]),
  );
  return rules.map((rule) => {
    const { id, workspaceId, name, description, active, nextExecution, timer, logic } = rule;
    const { customLogic } = logic;
    return {
      id,
      ruleId: id,
      workspaceId,
      name,
      description,
      active,
      deleted: false,
      ...auditView(rule),
      nextExecution: formatInstantOrNull(nextExecution),
      inputs: rule.inputs.map((input) => inputView(rule, input, names.get(input.id))),
      timer: { ...timer, startAt: formatInstantOrNull(timer.startAt) },
      logic: {
        ...logic,
        customLogic: customLogic && {
          ...customLogic,
          name: blocks.get(customLogic.customLogicId) ?? customLogic.name,
        },
      },
      actions: rule.actions.flatMap(({ id: actionId, configuration }) => {
        const connector = connectors.get(actionId);
        if (connector === undefined) return [];
        const { name: connectorName } = connector;
        const type = typeName(connector.type, viewOptions);
        return [{ id: actionId, name: connectorName, type, configuration }];
      }),
    };
  });
}

function inputView({ timer, logic }: Rule, input: RuleInput, name: string | undefined) {
  const sources = logic.dataSources.filter(({ inputIds }) => inputIds.includes(input.id));
  return {
    ...input,
    name: name ?? input.name,
    device: input.type === 'DEVICE',
    trigger: sources.some(({ triggerOnUplink }) => !timer.enabled || triggerOnUplink),
    tag: input.type !== 'DEVICE',
  };
}
