// Flow fields: the sentence, name, description and retention, and the lanes, with what the platform said of them.
import { useQuery } from '@tanstack/react-query';
import { faultAt, faultsOf } from '../../api/field-faults.ts';
import { TextField } from '../../ui/field.tsx';
import { NameFields } from '../../ui/name-fields.tsx';
import { useAccount } from '../../session/session.ts';
import { useWords } from '../../words/language.tsx';
import type { FlowDraft } from './flow-draft.ts';
import { FlowLanes } from './flow-lanes.tsx';
import { connectorChoice, type Flow, outputChoice, typeChoice } from './flow-requests.ts';
import { flowWords } from './flow-words.ts';
import styles from './flows.module.css';

interface FlowFieldsProps {
  readonly workspaceId: string;
  /** As it is saved; none while it is not created. */
  readonly flow: Flow | undefined;
  readonly draft: FlowDraft;
  readonly change: (draft: FlowDraft) => void;
  readonly error: Error | null;
}

export function FlowFields({ workspaceId, flow, draft, change, error }: FlowFieldsProps) {
  const words = useWords(flowWords);
  const faults = faultsOf(error);
  return (
    <>
      <Sentence workspaceId={workspaceId} flow={flow} draft={draft} />
      <div className={styles['head']}>
        <NameFields draft={draft} change={change} faults={faults} />
        <TextField
          label={words.retention}
          hint={words.retentionHint}
          error={faultAt(faults, 'retentionDays')}
          inputMode="numeric"
          value={draft.retentionDays}
          onChange={(event) => change({ ...draft, retentionDays: event.currentTarget.value })}
        />
      </div>
      <FlowLanes workspaceId={workspaceId} flow={flow} draft={draft} change={change} />
    </>
  );
}

type SentenceProps = Pick<FlowFieldsProps, 'workspaceId' | 'flow' | 'draft'>;

/** The way of a payload as one would say it. */
function Sentence({ workspaceId, flow, draft }: SentenceProps) {
  const words = useWords(flowWords);
  const { organizationId } = useAccount();
  const connectors = useQuery(connectorChoice(workspaceId)).data ?? [];
  const types = useQuery(typeChoice(organizationId)).data ?? [];
  const outputs = useQuery(outputChoice(workspaceId)).data ?? [];
  const { connectorId, typeId, isPassThrough } = draft;
  const connector = nameIn(connectorId, [...connectors, ...namesOf(flow?.deviceConnector)]);
  const type = nameIn(typeId, [...types, ...namesOf(flow?.deviceType ?? undefined)]);
  const known = [...outputs, ...(flow?.outputConnectors ?? [])];
  const sent = draft.outputs.map(({ id, topic }) => {
    const name = nameIn(id, known) ?? id;
    return topic.trim() === '*' ? words.allTo(name) : words.topicTo(topic, name);
  });
  return (
    <p className={styles['sentence']}>
      {words.sentence(
        connector ?? words.someConnector,
        type === undefined || isPassThrough ? words.notDecoded : words.decodedBy(type),
        sent.length === 0 ? words.toNothing : sent.join(', '),
      )}
    </p>
  );
}

interface Named {
  readonly id: string;
  readonly name: string;
}

function namesOf(one: Named | undefined): readonly Named[] {
  return one === undefined ? [] : [one];
}

function nameIn(id: string, known: readonly Named[]): string | undefined {
  return known.find((one) => one.id === id)?.name;
}
