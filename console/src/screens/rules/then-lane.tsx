// Then lane: the outputs that the rule fires.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Bell, Database, Pencil, Send } from 'lucide-react';
import { useState } from 'react';
import type { AlarmSeverity } from '../../api/alarms.ts';
import { faultsOf } from '../../api/field-faults.ts';
import { ask, platform } from '../../api/platform.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { editingWords } from '../../ui/editing-words.ts';
import { AddForm, Lane, NodeCard } from '../../ui/lanes.tsx';
import { Severity } from '../../ui/severity.tsx';
import { Answered, Bone } from '../../ui/states.tsx';
import { toast } from '../../ui/toasts.tsx';
import { useAction } from '../../ui/use-action.ts';
import { secondsOfIso } from '../../words/formats.ts';
import { useFormats, useWords } from '../../words/language.tsx';
import { MailInPlace, OutputForm, ruleMail, type SampleDevice } from '../outputs/output-form.tsx';
import { bodyOf, changeOf, draftOf, newDraft, type OutputDraft } from '../outputs/output-draft.ts';
import { OutputPick } from '../outputs/output-pick.tsx';
import { outputOf } from '../outputs/output-requests.ts';
import type { OutputConnector } from '../outputs/output-types.ts';
import { typeNameOf, typeWords } from '../outputs/outputs-words.ts';
import { editorWords } from './editor-words.ts';
import {
  type LaneProps,
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
      {rule.actions.map(({ id, name, type, output }) => (
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
          {output === undefined ? (
            <ActionForm
              action={{ id, name, type }}
              workspaceId={workspaceId}
              rule={rule}
              change={change}
            />
          ) : (
            <>
              <AlarmLines alarm={output.alarmProperties as Alarm} />
              <p className="mute">{words.newWithRule}</p>
            </>
          )}
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
      <span className="flow wrap gap-8">
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
      <span className="flow wrap gap-8">
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
        <NewAlarmDialog
          workspaceId={workspaceId}
          sampleOf={sampleOf}
          close={() => setMaking(false)}
          done={add}
        />
      )}
    </>
  );
}

// Alarm summary: in the card of a rule, what its alarm is, when it ends, and who is notified.

type Alarm = {
  readonly name: string;
  readonly severity: AlarmSeverity;
  readonly clearWhen?: string;
  readonly clearAfter?: string;
  readonly escalateAfter?: string;
  readonly remindEvery?: string;
  readonly notify?: readonly unknown[];
};

function AlarmSummary({ outputId }: { readonly outputId: string }) {
  const { data, error } = useQuery(outputOf(outputId));
  if (error !== null) return <p className="mute">{error.message}</p>;
  if (data === undefined) return <Bone width="100%" />;
  return <AlarmLines alarm={data.alarmProperties as Alarm} />;
}

function AlarmLines({ alarm }: { readonly alarm: Alarm }) {
  const words = useWords(editorWords);
  const { duration } = useFormats();
  const { name, severity, clearWhen, clearAfter, escalateAfter, remindEvery, notify = [] } = alarm;
  const sentences = [
    clearWhen === 'NEVER' ? words.alarmStays : words.alarmClears,
    clearAfter && words.alarmClearsAfter(inWords(clearAfter, duration)),
    escalateAfter && words.alarmEscalates(inWords(escalateAfter, duration)),
    remindEvery && words.alarmReminds(inWords(remindEvery, duration)),
    words.alarmNotifies(notify.length),
  ];
  return (
    <div className={`stack gap-6 ${styles['alarm']}`}>
      <Severity of={severity} />
      <code>{name}</code>
      <p className="mute">{sentences.filter(Boolean).join(' ')}</p>
    </div>
  );
}

/** `PT90M` -> `1 h 30 min`; an unusual duration as it is. */
function inWords(iso: string, format: (seconds: number) => string): string {
  const seconds = secondsOfIso(iso);
  return seconds === undefined ? iso : format(seconds);
}

// Alarm dialog of the rule editor: makes or changes the alarm that the rule raises, in place.

interface DialogProps {
  readonly workspaceId: string;
  /** A device of the rule, for the previews. */
  readonly sampleOf: SampleDevice | undefined;
  readonly close: () => void;
  readonly done: (action: RuleAction) => void;
}

/** Makes an output of type ALARM, which the rule then has as an action. */
function NewAlarmDialog({ workspaceId, sampleOf, close, done }: DialogProps) {
  const words = useWords(editorWords);
  const first = newDraft('ALARM', words.alarm, 'RULE_ACTION');
  return (
    <AlarmForm
      title={words.newAlarm}
      first={first}
      workspaceId={workspaceId}
      sampleOf={sampleOf}
      close={close}
      done={done}
      send={(draft) =>
        ask(platform.POST('/v3/output-connectors', { body: bodyOf(draft, workspaceId) }))
      }
    />
  );
}

interface ChangeProps extends DialogProps {
  readonly outputId: string;
}

function ChangeAlarmDialog(props: ChangeProps) {
  const { workspaceId, outputId, sampleOf, close, done } = props;
  const words = useWords(editorWords);
  const output = useQuery(outputOf(outputId));
  const waiting = (
    <Dialog title={words.editAlarm} close={close}>
      <Bone width="100%" />
    </Dialog>
  );
  return (
    <Answered answer={output} skeleton={waiting}>
      {(connector) => (
        <AlarmForm
          title={words.editAlarm}
          first={draftOf(connector)}
          workspaceId={workspaceId}
          sampleOf={sampleOf}
          close={close}
          done={done}
          send={(draft) => {
            const params = { path: { id: outputId } };
            const body = { ...changeOf(draft), version: connector.version };
            return ask(platform.PUT('/v3/output-connectors/{id}', { params, body }));
          }}
        />
      )}
    </Answered>
  );
}

interface FormProps extends DialogProps {
  readonly title: string;
  readonly first: OutputDraft;
  readonly send: (draft: OutputDraft) => Promise<OutputConnector>;
}

function AlarmForm({ workspaceId, sampleOf, close, done, title, first, send }: FormProps) {
  const words = useWords(editorWords);
  const editing = useWords(editingWords);
  const known = useQueryClient();
  const [draft, change] = useState(first);
  const saving = useAction({
    mutationFn: () => send(draft),
    onSuccess: ({ id, name, type }) => {
      void known.invalidateQueries({ queryKey: ['outputs'] });
      void known.invalidateQueries({ queryKey: ['output', id] });
      void known.invalidateQueries({ queryKey: ['rule'] });
      toast(editing.saved);
      close();
      done({ id, name, type });
    },
  });
  return (
    <Dialog
      title={title}
      close={close}
      footer={
        <>
          <Button onClick={close}>{editing.cancel}</Button>
          <Button look="primary" disabled={saving.isPending} onClick={() => saving.mutate()}>
            {editing.save}
          </Button>
        </>
      }
    >
      <p className="mute">{words.alarmNote}</p>
      <OutputForm
        workspaceId={workspaceId}
        draft={draft}
        faults={faultsOf(saving.error)}
        change={change}
        sampleOf={sampleOf}
      />
    </Dialog>
  );
}
