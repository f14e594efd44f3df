// Dialogs of alarms: the reason for clearing, for how long to mute, and a comment.
import { useState } from 'react';
import type { AlarmMuteBody } from '../../api/alarm-changes.ts';
import { SelectField, TextArea, TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/dialog.tsx';
import { useWords } from '../../words/language.tsx';
import { alarmsWords } from './alarms-words.ts';

interface ActionDialogProps {
  /** Name of the alarm, or how many they are. */
  readonly what: string;
  readonly close: () => void;
  readonly act: (content: string) => void;
}

export function ClearDialog({ what, close, act }: ActionDialogProps) {
  const words = useWords(alarmsWords);
  const [reason, setReason] = useState('');
  return (
    <FormDialog
      title={words.clearTitle(what)}
      submitLabel={words.clear}
      submit={() => {
        close();
        act(reason.trim());
      }}
      close={close}
    >
      <p className="mute">{words.clearNote}</p>
      <TextField
        label={words.reason}
        hint={words.reasonHint}
        maxLength={500}
        autoComplete="off"
        autoFocus
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
      />
    </FormDialog>
  );
}

const muteChoices = ['PT1H', 'PT4H', 'PT24H', 'P7D', 'until'] as const;

interface MuteDialogProps {
  readonly what: string;
  readonly close: () => void;
  readonly mute: (body: AlarmMuteBody) => void;
}

/** For a duration, or until a time of the browser's clock. */
export function MuteDialog({ what, close, mute }: MuteDialogProps) {
  const words = useWords(alarmsWords);
  const [choice, setChoice] = useState<(typeof muteChoices)[number]>('PT1H');
  const [until, setUntil] = useState('');
  const [reason, setReason] = useState('');
  const end = new Date(until);
  const hasEnd = choice !== 'until' || !Number.isNaN(end.getTime());
  return (
    <FormDialog
      title={words.muteTitle(what)}
      submitLabel={words.mute}
      isIncomplete={!hasEnd}
      submit={() => {
        close();
        const said = reason.trim() === '' ? {} : { reason: reason.trim() };
        mute(choice === 'until' ? { until: end.toISOString(), ...said } : { for: choice, ...said });
      }}
      close={close}
    >
      <p className="mute">{words.muteNote}</p>
      <SelectField
        label={words.muteFor}
        value={choice}
        autoFocus
        onChange={({ currentTarget: { value } }) =>
          setChoice(muteChoices.find((one) => one === value) ?? 'PT1H')
        }
      >
        {muteChoices.map((one) => (
          <option key={one} value={one}>
            {words.muteChoices[one]}
          </option>
        ))}
      </SelectField>
      {choice === 'until' && (
        <TextField
          label={words.muteEnd}
          type="datetime-local"
          value={until}
          onChange={({ currentTarget }) => setUntil(currentTarget.value)}
        />
      )}
      <TextField
        label={words.reason}
        hint={words.muteReasonHint}
        maxLength={500}
        autoComplete="off"
        value={reason}
        onChange={({ currentTarget }) => setReason(currentTarget.value)}
      />
    </FormDialog>
  );
}

export function CommentDialog({ what, close, act }: ActionDialogProps) {
  const words = useWords(alarmsWords);
  const [content, setContent] = useState('');
  return (
    <FormDialog
      title={words.commentTitle(what)}
      submitLabel={words.addComment}
      isIncomplete={content.trim() === ''}
      submit={() => {
        close();
        act(content.trim());
      }}
      close={close}
    >
      <TextArea
        label={words.commentLabel}
        maxLength={2_000}
        rows={4}
        autoFocus
        value={content}
        onChange={(event) => setContent(event.currentTarget.value)}
      />
    </FormDialog>
  );
}
