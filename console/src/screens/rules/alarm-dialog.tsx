// Alarm dialog of the rule editor: makes or changes the alarm that the rule raises, in place.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { faultsOf } from '../../api/field-faults.ts';
import { ask, platform } from '../../api/platform.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { editingWords } from '../../parts/editing-words.ts';
import { Answered, Bone } from '../../parts/states.tsx';
import { toast } from '../../parts/toasts.tsx';
import { useWords } from '../../words/language.tsx';
import { bodyOf, changeOf, draftOf, newDraft, type OutputDraft } from '../outputs/output-draft.ts';
import { OutputForm, type SampleDevice } from '../outputs/output-form.tsx';
import { outputOf } from '../outputs/output-requests.ts';
import type { OutputConnector } from '../outputs/output-types.ts';
import { editorWords } from './editor-words.ts';
import type { RuleAction } from './rule-model.ts';
import { useAction } from '../../parts/use-action.ts';

interface DialogProps {
  readonly workspaceId: string;
  /** A device of the rule, for the previews. */
  readonly sampleOf: SampleDevice | undefined;
  readonly close: () => void;
  readonly done: (action: RuleAction) => void;
}

/** Makes an output of type ALARM, which the rule then has as an action. */
export function NewAlarmDialog({ workspaceId, sampleOf, close, done }: DialogProps) {
  const words = useWords(editorWords);
  const first = newDraft('ALARM', words.alarm, 'RULE_ACTION');
  return (
    <AlarmForm
      title={words.newAlarm}
      first={first}
      {...{ workspaceId, sampleOf, close, done }}
      send={(draft) =>
        ask(platform.POST('/v3/output-connectors', { body: bodyOf(draft, workspaceId) }))
      }
    />
  );
}

interface ChangeProps extends DialogProps {
  readonly outputId: string;
}

export function ChangeAlarmDialog(props: ChangeProps) {
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
          {...{ workspaceId, sampleOf, close, done }}
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
