// Flow drafts: a data flow as its lanes edit it, and the bodies that save it.
import { databaseConnectorId } from '../../../../src/model/ids.ts';
import type { Wire } from '../../ui/lanes.tsx';
import type { Flow } from './flow-requests.ts';

export interface FlowOutput {
  readonly id: string;
  /** `*` for all. */
  readonly topic: string;
}

export interface FlowDraft {
  readonly name: string;
  readonly description: string;
  /** Empty until one is chosen; fixed once the flow exists. */
  readonly connectorId: string;
  /** Empty for payloads that are stored as they are. */
  readonly typeId: string;
  /** Stores what arrives although there is a decoder. */
  readonly isPassThrough: boolean;
  readonly outputs: readonly FlowOutput[];
  /** Days as typed; empty for those of the workspace. */
  readonly retentionDays: string;
}

export function newFlow(name: string): FlowDraft {
  return {
    name,
    description: '',
    connectorId: '',
    typeId: '',
    isPassThrough: false,
    outputs: [{ id: databaseConnectorId, topic: '*' }],
    retentionDays: '',
  };
}

export function draftOf(flow: Flow): FlowDraft {
  const { name, description, deviceConnector, deviceType, outputConnectors } = flow;
  return {
    name,
    description: description ?? '',
    connectorId: deviceConnector.id,
    typeId: deviceType?.id ?? '',
    isPassThrough: deviceType !== null && flow.passThrough,
    outputs: outputConnectors.map(({ id, topic }) => ({ id, topic })),
    retentionDays: String(flow.retentionDays ?? ''),
  };
}

/** Members that an update sends; the connector stays as it is. */
export function changeOf(draft: FlowDraft) {
  const { name, description, typeId, isPassThrough, outputs, retentionDays } = draft;
  return {
    name,
    description: description === '' ? null : description,
    deviceType: typeId === '' ? null : { id: typeId },
    passThrough: typeId === '' || isPassThrough,
    outputConnectors: outputs.map(({ id, topic }) => ({ id, topic: topic.trim() || '*' })),
    retentionDays: retentionDays.trim() === '' ? null : Number(retentionDays),
  };
}

export function bodyOf(draft: FlowDraft, workspaceId: string) {
  return { ...changeOf(draft), workspaceId, deviceConnector: { id: draft.connectorId } };
}

export function withOutput(draft: FlowDraft, at: number, output: FlowOutput): FlowDraft {
  return { ...draft, outputs: draft.outputs.with(at, output) };
}

export function withoutOutput(draft: FlowDraft, at: number): FlowDraft {
  return { ...draft, outputs: draft.outputs.toSpliced(at, 1) };
}

/** The way of a payload as lines between the cards of the lanes. */
export function wiresOf({ outputs }: FlowDraft): readonly Wire[] {
  return [
    ['devices', 'connector'],
    ['server', 'connector'],
    ['connector', 'decoder'],
    ...outputs.map((_, at) => ['decoder', `output ${at}`] as const),
  ];
}
