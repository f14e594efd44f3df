// Then lane: the outputs that the rule fires.
import { useQuery } from '@tanstack/react-query';
import { Bell, Database, Pencil, Send } from 'lucide-react';
import { useState } from 'react';
import { ask, platform } from '../../api/platform.ts';
import { Button, ButtonLink } from '../../parts/button.tsx';
import { AddForm, Lane } from '../../parts/lanes/lane.tsx';
import { NodeCard } from '../../parts/lanes/node-card.tsx';
import { useWords } from '../../words/language.tsx';
import { MailInPlace, ruleMail } from '../outputs/mail-in-place.tsx';
import type { SampleDevice } from '../outputs/output-form.tsx';
import { OutputPick } from '../outputs/output-pick.tsx';
import { typeNameOf, typeWords } from '../outputs/type-words.ts';
import { ChangeAlarmDialog, NewAlarmDialog } from './alarm-dialog.tsx';
import { AlarmSummary } from './alarm-summary.tsx';
import { editorWords } from './editor-words.ts';
import type { LaneProps } from './lanes.tsx';
import {
  type RuleAction,
  type RuleDraft,
  withAction,
  withoutAction,
  withRenamed,
} from './rule-model.ts';
import styles from './rules.module.css';

export function ThenLane({ workspaceId, rule, change, open, setOpen }: LaneProps) {
  const words = useWords(editorWords);
  const types = useWords(typeWords);
  return (
    <Lane
      title={words.thenDo}
      foot={
        <AddForm label={words.addAction}>
          {(done) => (
            <AddAction
              workspaceId={workspaceId}
              sampleOf={firstDevice(rule)}
              add={(action) => {
                change(withAction(rule, action));
                done();
              }}
            />
          )}
        </AddForm>
      }
    >
      {rule.actions.map(({ id, name, type }) => (
        <NodeCard
          key={id}
          name={`then ${id}`}
          open={open}
          setOpen={setOpen}
          icon={<ActionIcon type={type} />}
          title={name}
          note={typeNameOf(types, type)}
          removeLabel={words.takeOut}
          remove={() => change(withoutAction(rule, id))}
        >
          <ActionForm action={{ id, name, type }} {...{ workspaceId, rule, change }} />
        </NodeCard>
      ))}
    </Lane>
  );
}

interface ActionFormProps extends Pick<LaneProps, 'change' | 'rule' | 'workspaceId'> {
  readonly action: RuleAction;
}

function ActionForm({ action: { id, type }, workspaceId, rule, change }: ActionFormProps) {
  const words = useWords(editorWords);
  const [isEditing, setEditing] = useState(false);
  return (
    <>
      {type === 'ALARM' && <AlarmSummary outputId={id} />}
      <span className={styles['ways']}>
        {type === 'ALARM' && (
          <Button onClick={() => setEditing(true)}>
            <Pencil aria-hidden="true" />
            {words.editAlarm}
          </Button>
        )}
        <ButtonLink
          to="/w/$workspaceId/outputs/$outputId/settings"
          params={{ workspaceId, outputId: id }}
        >
          {words.openOutput}
        </ButtonLink>
      </span>
      {isEditing && (
        <ChangeAlarmDialog
          workspaceId={workspaceId}
          outputId={id}
          sampleOf={firstDevice(rule)}
          close={() => setEditing(false)}
          done={(changed) => change(withRenamed(rule, changed))}
        />
      )}
    </>
  );
}

/** A device that the rule names; a tag has none that would be better than the one last seen. */
function firstDevice({ inputs }: RuleDraft): SampleDevice | undefined {
  const input = inputs.find(({ type }) => type === 'DEVICE');
  return input === undefined ? undefined : { id: input.id, name: input.name ?? input.id };
}

function ActionIcon({ type }: { readonly type: string }) {
  if (type === 'ALARM') return <Bell aria-hidden="true" />;
  if (type === 'CUSTOM_DATABASE') return <Database aria-hidden="true" />;
  return <Send aria-hidden="true" />;
}

const outputsMax = 1_000;

interface AddActionProps {
  readonly workspaceId: string;
  readonly sampleOf: SampleDevice | undefined;
  readonly add: (action: RuleAction) => void;
}

function AddAction({ workspaceId, sampleOf, add }: AddActionProps) {
  const words = useWords(editorWords);
  const outputs = useQuery({
    queryKey: ['outputs', workspaceId, 'actions'],
    queryFn: ({ signal }) => {
      const fields = 'id,name,type';
      const query = { workspaceId, scope: 'RULE_ACTION', size: outputsMax, fields } as const;
      return ask(platform.GET('/v3/output-connectors', { signal, params: { query } }));
    },
  });
  const [isMaking, setMaking] = useState(false);
  const known = outputs.data?.content ?? [];
  return (
    <>
      <OutputPick known={known} pick={add} />
      <span className={styles['ways']}>
        <Button look="primary" onClick={() => setMaking(true)}>
          <Bell aria-hidden="true" />
          {words.newAlarm}
        </Button>
        <ButtonLink
          to="/w/$workspaceId/outputs/new"
          params={{ workspaceId }}
          search={{ scope: 'RULE_ACTION' }}
        >
          {words.newOutput}
        </ButtonLink>
      </span>
      <MailInPlace workspaceId={workspaceId} templates={ruleMail} done={add} />
      {isMaking && (
        <NewAlarmDialog {...{ workspaceId, sampleOf }} close={() => setMaking(false)} done={add} />
      )}
    </>
  );
}
