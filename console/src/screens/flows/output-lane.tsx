// Output lane: where samples go, each output for all topics or for one.
import { useQuery } from '@tanstack/react-query';
import { Database, Send } from 'lucide-react';
import { useState } from 'react';
import { Button, ButtonLink } from '../../parts/button.tsx';
import { TextField } from '../../parts/field.tsx';
import { AddForm, Lane } from '../../parts/lanes/lane.tsx';
import { NodeCard } from '../../parts/lanes/node-card.tsx';
import { useWords } from '../../words/language.tsx';
import { OutputPick } from '../outputs/output-pick.tsx';
import { TestDialog } from '../outputs/test-dialog.tsx';
import { typeNameOf, typeWords } from '../outputs/type-words.ts';
import { type FlowOutput, withOutput, withoutOutput } from './flow-draft.ts';
import type { LaneProps } from './flow-lanes.tsx';
import { outputChoice } from './flow-requests.ts';
import { flowWords } from './flow-words.ts';
import styles from './flows.module.css';

export function OutputLane(props: LaneProps) {
  const { workspaceId, draft, change, setOpen } = props;
  const words = useWords(flowWords);
  const { outputs } = draft;
  return (
    <Lane
      title={words.goesOut}
      foot={
        <AddForm label={words.addOutput}>
          {(done) => (
            <AddOutput
              workspaceId={workspaceId}
              add={(id) => {
                change({ ...draft, outputs: [...outputs, { id, topic: '*' }] });
                setOpen(`output ${outputs.length}`);
                done();
              }}
            />
          )}
        </AddForm>
      }
    >
      {outputs.map((output, at) => (
        // oxlint-disable-next-line react/no-array-index-key -- an output may be there for several topics
        <OutputCard key={`${at} ${output.id}`} {...props} output={output} at={at} />
      ))}
    </Lane>
  );
}

interface OutputCardProps extends LaneProps {
  readonly output: FlowOutput;
  readonly at: number;
}

function OutputCard(props: OutputCardProps) {
  const { workspaceId, flow, draft, change, open, setOpen, output, at } = props;
  const words = useWords(flowWords);
  const types = useWords(typeWords);
  const known = useQuery(outputChoice(workspaceId)).data ?? [];
  const row =
    flow?.outputConnectors.find(({ id }) => id === output.id) ??
    known.find(({ id }) => id === output.id);
  const topic = output.topic === '*' ? words.allTopics : words.topicOnly(output.topic);
  return (
    <NodeCard
      name={`output ${at}`}
      open={open}
      setOpen={setOpen}
      icon={
        row?.type === 'DATABASE' ? <Database aria-hidden="true" /> : <Send aria-hidden="true" />
      }
      title={row?.name ?? output.id}
      note={row === undefined ? topic : `${typeNameOf(types, row.type)} · ${topic}`}
      removeLabel={words.takeOut}
      remove={() => change(withoutOutput(draft, at))}
    >
      <TextField
        label={words.topic}
        hint={words.topicHint}
        value={output.topic}
        spellCheck={false}
        onChange={({ currentTarget: { value } }) =>
          change(withOutput(draft, at, { ...output, topic: value }))
        }
      />
      {row?.global === false && <OutputLinks workspaceId={workspaceId} outputId={output.id} />}
    </NodeCard>
  );
}

interface OutputLinksProps {
  readonly workspaceId: string;
  readonly outputId: string;
}

function OutputLinks({ workspaceId, outputId }: OutputLinksProps) {
  const words = useWords(flowWords);
  const [isTesting, setTesting] = useState(false);
  return (
    <div className={styles['links']}>
      <ButtonLink
        to="/w/$workspaceId/outputs/$outputId/deliveries"
        params={{ workspaceId, outputId }}
      >
        {words.openOutput}
      </ButtonLink>
      <Button needs="dataFlow: update" onClick={() => setTesting(true)}>
        {words.testOutput}
      </Button>
      {isTesting && (
        <TestDialog workspaceId={workspaceId} outputId={outputId} close={() => setTesting(false)} />
      )}
    </div>
  );
}

interface AddOutputProps {
  readonly workspaceId: string;
  readonly add: (id: string) => void;
}

function AddOutput({ workspaceId, add }: AddOutputProps) {
  const words = useWords(flowWords);
  const known = useQuery(outputChoice(workspaceId)).data ?? [];
  return (
    <>
      <OutputPick known={known} pick={({ id }) => add(id)} />
      <ButtonLink
        to="/w/$workspaceId/outputs/new"
        params={{ workspaceId }}
        search={{ scope: 'DATA_FLOW' }}
      >
        {words.newOutput}
      </ButtonLink>
    </>
  );
}
