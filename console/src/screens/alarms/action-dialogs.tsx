// Dialogs of alarms: the reason for clearing, and a comment.
import { useState } from 'react';
import { TextArea, TextField } from '../../ui/field.tsx';
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
